internal import BridgeHTTP

/// The JSON Schemas of the bridge's options and of an entity's section.
enum RESTSchema {
    static let options = #"""
        {
          "type": "object",
          "additionalProperties": false,
          "required": ["url"],
          "properties": {
            "url": {"type": "string", "description": "Where the API begins, such as https://api.example/v1."},
            "check_path": {"type": "string", "description": "What `bmo check --remote` asks for; default: url itself."},
            \#(HTTPOptions.schemaProperties)
          }
        }
        """#

    static let section = #"""
        {
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "path": {"type": "string", "description": "The listing's path below url; default: url itself."},
            "method": {"type": "string", "enum": ["GET", "POST"], "default": "GET", "description": "The request's method."},
            "query": {"type": "object", "description": "Query parameters of each request; a list repeats the parameter."},
            "headers": {"type": "object", "description": "Header fields of each request.", "additionalProperties": {"type": "string"}},
            "write": \#(writeSchema),
            "records": {"type": "string", "description": "Where the records are in the reply: $, .name, ['name'] and [*] of RFC 9535; an array stands for its elements. Default: the root."},
            "paging": {
              "type": "object",
              "description": "How the listing goes on.",
              "additionalProperties": false,
              "required": ["style"],
              "properties": {
                "style": {"type": "string", "enum": ["none", "page", "offset", "next_url", "link_header", "cursor"], "description": "none: one reply holds all; page, offset: numbered by us; next_url, cursor: the reply says how to go on; link_header: rel=next of RFC 8288."},
                "page_parameter": {"type": "string", "default": "page", "description": "page: the query parameter of the page's number."},
                "size_parameter": {"type": "string", "description": "page: the query parameter of the page's size; default: not sent."},
                "start": {"type": "integer", "default": 1, "description": "page: the first page's number."},
                "offset_parameter": {"type": "string", "default": "offset", "description": "offset: the query parameter of the first record's number, from 0."},
                "limit_parameter": {"type": "string", "default": "limit", "description": "offset: the query parameter of the page's size."},
                "size": {"type": "integer", "minimum": 1, "description": "page, offset: records per page; a shorter page is the last one. Default: only an empty page is the last one."},
                "path": {"type": "string", "description": "next_url (default $.next), cursor: where the reply holds the next URL or cursor."},
                "parameter": {"type": "string", "default": "cursor", "description": "cursor: the query parameter that takes it."},
                "total": {"type": "string", "description": "Where the reply says how many records there are."},
                "pages": {"type": "string", "description": "page: where the reply says how many pages there are."},
                "max_pages": {"type": "integer", "minimum": 1, "description": "The walk ends after so many pages, and its listing counts as incomplete."}
              }
            }
          }
        }
        """#
}
