extension RESTSchema {
    /// The JSON Schema of the section's member `write`.
    static let writeSchema = #"""
        {
              "type": "object",
              "description": "How objects are created, updated and deleted; operations that are not named here are not supported.",
              "additionalProperties": false,
              "properties": {
                "create": \#(operation("How objects are created", "POST, or PUT or PATCH for keys that are generated locally", "the listing's path; with PUT and PATCH the key is appended", #"["POST", "PUT", "PATCH"]"#)),
                "update": \#(operation("How objects are changed", "PATCH, PUT or POST", "the listing's path and the key", #"["PATCH", "PUT", "POST"]"#)),
                "delete": \#(operation("How objects are deleted", "DELETE, POST or PATCH", "the listing's path and the key", #"["DELETE", "POST", "PATCH"]"#)),
                "type": {"type": "string", "description": "preset json_api: the type of the entity's resources; default: as they are read."},
                "types": {"type": "object", "description": "preset json_api: the types of the targets of relationships, by the remote's names; default: as they are read.", "additionalProperties": {"type": "string"}},
                "if_match": {"type": "string", "description": "The attribute that holds an object's ETag: updates and deletes send it as If-Match, and fail as conflicts if the remote's object has changed."},
                "etag_field": {"type": "string", "description": "The record's member (a dot path) that takes the ETag of a reply to a write."},
                "idempotency_header": {"type": "string", "default": "Idempotency-Key", "description": "The header that carries the write's idempotency key; empty for none."}
              }
            }
        """#

    private static func operation(_ what: String, _ methods: String, _ path: String, _ valid: String) -> String {
        #"""
        {
                  "type": "object",
                  "description": "\#(what).",
                  "additionalProperties": false,
                  \#(asForm(["forced", "envelope"], ifSaidBy: "format")),
                  "properties": {
                    "method": {"type": "string", "enum": \#(valid), "description": "\#(methods); default: the first."},
                    "path": {"type": "string", "description": "Template of the path below url, with {key}, {key.NAME}, {object.NAME}, {parent.NAME}; default: \#(path)."},
                    "query": {"type": "object", "description": "Query parameters.", "additionalProperties": \#(queryValue)},
                    "headers": {"type": "object", "description": "Header fields.", "additionalProperties": {"type": "string"}},
                    "format": {"type": "string", "enum": ["json", "merge_patch", "json_patch", "full", "form"], "description": "json: the values; merge_patch: RFC 7386; json_patch: RFC 6902; full: the remote's object is read and sent back with the changes; form: URL-encoded. Default: json, for an update by PUT full."},
                    "nested": {"type": "string", "enum": ["whole", "part"], "default": "whole", "description": "update: what is sent of a nested object if a part of it changed. whole: all of it, as it is read first, since many remotes replace it; part: only what changed, for remotes that merge it."},
                    "wrap": {"type": "string", "description": "The member (a dot path) of the body that holds the values, such as records[0].fields where [0] makes a list; default: the body itself."},
                    "forced": {"type": "object", "description": "Values that each body has, by dot paths, within wrap."},
                    "envelope": {"type": "object", "description": "What each body has around wrap, such as {data: {type: books, id: \"{key}\"}}."},
                    "graphql": {
                      "type": "object",
                      "description": "A mutation: the values go where wrap says, such as variables.input; sent by POST to the listing's path.",
                      "additionalProperties": false,
                      "required": ["query"],
                      "properties": {
                        "query": {"type": "string", "description": "The mutation's text."},
                        "operation": {"type": "string", "description": "Which operation of the text to run."},
                        "variables": {"type": "object", "description": "Variables besides the values, such as {id: \"{key}\"}."}
                      }
                    },
                    "records": {"type": "string", "description": "Where the reply has the object; default: the listing's records, else wrap, else the reply itself."},
                    "reply_key": {"type": "string", "description": "create: the path to the new object's key, if the reply has nothing else of it; key_field says what takes it."},
                    "key_field": {"type": "string", "description": "create: the record's member that takes the value at reply_key, or the last part of Location if the reply has no body; default: Location is read."}
                  }
                }
        """#
    }
}
