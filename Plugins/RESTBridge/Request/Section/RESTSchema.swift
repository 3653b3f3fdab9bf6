internal import BridgeHTTP
internal import RowFormats

/// The JSON Schemas of the bridge's options and of an entity's section.
enum RESTSchema {
    /// The schema of a parameter's value.
    ///
    /// Mappings are excluded because they would be left out silently.
    static let queryValue =
        #"{"type": ["string", "number", "boolean", "array"], "items": {"type": ["string", "number", "boolean"]}}"#

    /// The definition of a value in a form: texts keep the digits of their numbers, since the schema takes texts.
    private static let formValue = ##"""
        {"type": ["string", "number", "boolean", "null", "array", "object"], "items": {"$ref": "#/$defs/form"}, "additionalProperties": {"$ref": "#/$defs/form"}}
        """##

    /// Returns the keyword for members with the values of a form if another member names that format.
    static func asForm(_ bodies: [String], ifSaidBy format: String) -> String {
        let members = bodies.map { ##""\##($0)": {"$ref": "#/$defs/form"}"## }.joined(separator: ", ")
        return ##"""
            "anyOf": [{"required": ["\##(format)"], "properties": {"\##(format)": {"enum": ["form"]}, \##(members)}}, true]
            """##
    }

    static let options = #"""
        {
          "type": "object",
          "additionalProperties": false,
          "required": ["url"],
          "properties": {
            "url": {"type": "string", "description": "The API's base URL, such as https://api.example/v1."},
            "parameters": {"type": "object", "description": "Values of variables in paths, queries, headers and bodies: {name}.", "additionalProperties": {"type": ["string", "number", "boolean"]}},
            "check_path": {"type": "string", "description": "What `bmo check --remote` requests; default: url itself."},
            \#(HTTPOptions.schemaProperties)
          }
        }
        """#

    static let section = #"""
        {
          "type": "object",
          "additionalProperties": false,
          "$defs": {"form": \#(formValue)},
          \#(asForm(["body"], ifSaidBy: "body_format")),
          "properties": {
            "preset": {"type": "string", "enum": ["json_api", "hal", "odata", "graphql", "ndjson"], "description": "A common API convention: where records are, what they look like, how paging works."},
            "path": {"type": "string", "description": "The listing's path below url, with variables such as {parent.id} and optional parts in ( ); default: url itself."},
            "method": {"type": "string", "enum": ["GET", "POST"], "description": "The request's method; default: POST if there is a body, else GET."},
            "parameters": {"type": "object", "description": "Values of variables: {name}.", "additionalProperties": {"type": ["string", "number", "boolean"]}},
            "query": {"type": "object", "description": "Query parameters of each request; a list repeats the parameter; one whose variable has no value is left out.", "additionalProperties": \#(queryValue)},
            "fields": {"type": "string", "enum": ["names", "dots", "parentheses", "braces", "graphql"], "description": "How {fields} is written, which stands for the values that the mapping reads: id,owner or id,owner.id or id,owner(id) or id,owner{id} or id owner { id }."},
            "headers": {"type": "object", "description": "Header fields of each request.", "additionalProperties": {"type": "string"}},
            "write": \#(writeSchema),
            "body": {"description": "What is sent: any value as JSON, an object as a form, or a text."},
            \#(HTTPTiming.schemaProperties),
            "body_format": {"type": "string", "enum": ["json", "form", "text"], "description": "How the body is sent; default: json, and text for a text."},
            "graphql": {
              "type": "object",
              "description": "A GraphQL query; sets preset graphql.",
              "additionalProperties": false,
              "required": ["query"],
              "properties": {
                "query": {"type": "string", "description": "The query's text; give the page's cursor a variable such as $after."},
                "operation": {"type": "string", "description": "Which operation of the text to run."},
                "variables": {"type": "object", "description": "The query's variables."}
              }
            },
            "format": {"type": "string", "enum": ["auto", "json", "ndjson", "csv", "xml"], "default": "auto", "description": "json: one text; ndjson: one record per line; csv: one record per row; xml: one record per element; auto: json or ndjson, as the reply's media type says."},
            \#(RowFormat.schemaProperties),
            "records": {"type": "string", "description": "Where the records are in the reply: $, .name, ['name'], [*], [0] and [?@.name=='text'] of RFC 9535, where the text may have variables; an array stands for its elements. Default: found in the first reply. With xml: the elements' name, items/item."},
            "columns": {"type": ["string", "array"], "items": {"type": "string"}, "description": "Of records that are arrays: where the reply has the names of their values, such as $.columns, or the names."},
            "paging": {
              "anyOf": [
                {"type": "string", "enum": ["auto", "none"]},
                {
                  "type": "object",
                  "additionalProperties": false,
                  "properties": {
                    "style": {"type": "string", "enum": ["auto", "none", "page", "offset", "next_url", "link_header", "cursor", "continue", "keyset", "max_id", "since_id", "code"], "default": "auto", "description": "auto: decided by the first reply; none: one reply holds all; page, offset: numbered by bmo; next_url, cursor: the reply says how to continue; link_header: rel=next of RFC 8288; continue: an object in the reply holds the next request's parameters; keyset, max_id, since_id: after the last record's value; code: a paginator of the program that the bridge is linked into."},
                    "code": {"type": "string", "description": "code: the paginator's name."},
                    "in": {"type": "string", "enum": ["query", "body", "header", "path"], "description": "Where the paging parameters go; path: they are its variables, such as {page}; default: the body if it is JSON, else the query. Names of the body may have dots."},
                    "page_parameter": {"type": "string", "default": "page", "description": "page: the parameter of the page's number."},
                    "template": {"type": "string", "description": "page, offset, cursor, keyset: how the parameter's value is written around {value}, such as (page:{value},page_size:100)."},
                    "size_parameter": {"type": "string", "description": "page, cursor, keyset: the parameter of the page's size; default: not sent."},
                    "start": {"type": "integer", "description": "page: the first page's number, default 1; offset: the first record's, default 0."},
                    "offset_parameter": {"type": "string", "default": "offset", "description": "offset: the parameter of the first record's number."},
                    "limit_parameter": {"type": "string", "default": "limit", "description": "offset: the parameter of the page's size."},
                    "size": {"type": "integer", "minimum": 1, "description": "Records per page; a shorter page is the last one. Default: only an empty page is the last one."},
                    "path": {"type": "string", "description": "next_url (default $.next), cursor, code, continue (default $.continue): where the reply holds the next URL or cursor; a path, or a header's name."},
                    "header": {"type": "string", "description": "next_url, cursor: the header that holds it, instead of path."},
                    "parameter": {"type": "string", "description": "cursor, code (default cursor), keyset (default after): the parameter that takes it."},
                    "field": {"type": "string", "default": "id", "description": "keyset: the record's field that the next page begins after."},
                    "add": {"type": "integer", "default": 0, "description": "keyset: added to its value, such as -1 where the API's max_id is included."},
                    "total": {"type": "string", "description": "Where the reply says how many records there are: a path, or a header's name."},
                    "pages": {"type": "string", "description": "page: where the reply says how many pages there are."},
                    "has_more": {"type": "string", "description": "Where the reply says whether there is more."},
                    "done": {"type": "string", "description": "Where the reply says that this page is the last one: the opposite of has_more."},
                    "base": {"type": "string", "description": "next_url: where the reply has the base of a next URL that is only a path, such as $._links.base; default: the page's host."},
                    "next_path": {"type": "string", "description": "cursor: the path below url from which all pages but the first are requested, by their cursor alone."},
                    "next_body": {"type": "object", "description": "cursor: what is sent to next_path besides the cursor."},
                    "whole": {"type": "boolean", "default": false, "description": "none: the one reply is complete, even if it says that there is more."},
                    "repeats": {"type": "boolean", "default": false, "description": "page, offset, next_url, link_header: the API lists some records again on purpose, such as one on each page, so that repeats do not mean that others are lacking, and total does not end the listing."},
                    "keep_query": {"type": "boolean", "default": false, "description": "next_url, link_header: each page is requested with the section's query parameters, too, except for those that its link has with the same value."},
                    "end_below": {"type": "integer", "minimum": 1, "description": "next_url, link_header, cursor: a page with fewer records is the last one, whatever it names as the next page; 1: an empty page ends the listing."},
                    "max_pages": {"type": "integer", "minimum": 1, "description": "The scan ends after this many pages, and its listing counts as incomplete."}
                  }
                }
              ],
              "description": "How the listing continues; default: auto."
            },
            "filters": {"type": "object", "description": "Conditions that the API can apply: an attribute's query parameter, or one for each comparison."},
            "incremental": {
              "type": "object",
              "description": "A token of the API with which a later sync requests only what changed.",
              "additionalProperties": false,
              "required": ["token"],
              "properties": {
                "token": {"type": "string", "description": "Where the reply holds the token, or a delta URL."},
                "parameter": {"type": "string", "description": "The parameter that takes the token; without it the token is a URL."},
                "in": {"type": "string", "enum": ["query", "body"], "description": "Where the parameter goes; default: the body if it is JSON, else the query. Names of the body may have dots."},
                "deleted": {"type": "string", "description": "Where the reply lists the deleted objects."}
              }
            },
            "since": {
              "type": "object",
              "description": "The times that {since} and {until} stand for.",
              "additionalProperties": false,
              "properties": {
                "start": {"type": "string", "description": "{since} in a first or full scan: an ISO 8601 time, now, now-30d, or a {parameter}."},
                "until": {"type": "string", "default": "now", "description": "The value of {until}, in the same forms as start."},
                "format": {"type": "string", "description": "How the times are sent: a strftime pattern; %s for seconds since 1970, %ms for milliseconds, %_ms for three digits of a second. Default: %Y-%m-%dT%H:%M:%SZ."},
                "window": {"type": "string", "description": "The maximum time from {since} to {until}, such as 30d; a longer time is divided among several requests."},
                "gap": {"type": "string", "description": "What each window but the last ends before the start of the next, such as 1d for an API that includes both dates; default: they share their bound."}
              }
            },
            "each": {"type": "object", "description": "Lists of values: one listing for each value of {NAME}.", "additionalProperties": {"type": "array", "minItems": 1, "items": {"type": ["string", "number", "boolean"]}}},
            "split": {
              "type": "object",
              "description": "Ranges of ids, for an API that limits the results of a request: one listing for each; {from} and {to} are the first and the last id.",
              "additionalProperties": false,
              "required": ["end", "step"],
              "properties": {
                "start": {"type": "integer", "default": 1, "description": "The least id."},
                "end": {"type": "integer", "description": "The id up to which the listing is divided."},
                "step": {"type": "integer", "minimum": 1, "description": "How many ids a range has."},
                "open": {"type": "boolean", "default": true, "description": "Whether one more listing, without {to}, has what follows; without it nothing counts as deleted."}
              }
            },
            "export": {
              "type": "object",
              "description": "The listing is exported by a job: a request creates it, others ask for its state, and its files have the records.",
              "additionalProperties": false,
              "required": ["create", "status", "files"],
              "properties": {
                "create": {
                  "type": "object",
                  "description": "The request that creates the job.",
                  "additionalProperties": false,
                  \#(asForm(["body"], ifSaidBy: "body_format")),
                  "properties": {
                    "path": {"type": "string", "description": "The path below url, with variables."},
                    "method": {"type": "string", "enum": ["GET", "POST", "PUT"], "description": "The method; default: POST."},
                    "query": {"type": "object", "description": "Query parameters.", "additionalProperties": \#(queryValue)},
                    "headers": {"type": "object", "description": "Header fields.", "additionalProperties": {"type": "string"}},
                    "body": {"description": "What is sent, as in the section's body."},
                    "body_format": {"type": "string", "enum": ["json", "form", "text"], "description": "How the body is sent."},
                    "id": {"type": "string", "default": "$.id", "description": "Where the reply has the job's id: a path, or a header's name."},
                    "status_url": {"type": "string", "description": "Instead of id: where the reply has the URL of the job's status."}
                  }
                },
                "status": {
                  "type": "object",
                  "description": "The request for the job's state.",
                  "additionalProperties": false,
                  \#(asForm(["body"], ifSaidBy: "body_format")),
                  "properties": {
                    "path": {"type": "string", "description": "The path below url, with variables such as {id}."},
                    "method": {"type": "string", "enum": ["GET", "POST", "PUT"], "description": "The method; default: GET, or POST with a body."},
                    "query": {"type": "object", "description": "Query parameters.", "additionalProperties": \#(queryValue)},
                    "headers": {"type": "object", "description": "Header fields.", "additionalProperties": {"type": "string"}},
                    "body": {"description": "What is sent, as in the section's body."},
                    "body_format": {"type": "string", "enum": ["json", "form", "text"], "description": "How the body is sent."},
                    "state": {"type": "string", "description": "Where the reply has the state: a path, or a header's name."},
                    "done": {"type": ["string", "number", "boolean", "array"], "items": {"type": ["string", "number", "boolean"]}, "description": "The states of a job that is done."},
                    "failed": {"type": ["string", "number", "boolean", "array"], "items": {"type": ["string", "number", "boolean"]}, "description": "The states of a job that has failed; any other state is that of a running job."},
                    "message": {"type": "string", "description": "Where the reply says why a job has failed."},
                    "interval": {"type": "number", "default": 5, "description": "Seconds between two requests, 0.1 to 3600; a Retry-After is honoured."},
                    "accept": {"type": "array", "items": {"type": "string"}, "description": "Paths of signs of failure that do not matter, such as $.error: where a job that is done has one, its files may lack records, and nothing counts as deleted."},
                    "time_limit": {"type": "number", "default": 3600, "description": "Seconds within which the job has to be done, a week at most."}
                  }
                },
                "files": {
                  "type": "object",
                  "description": "Where the files are.",
                  "additionalProperties": false,
                  "properties": {
                    "urls": {"type": "string", "description": "Where the status has the files' URLs, such as $.files[*].url."},
                    "path": {"type": "string", "description": "Instead of urls: the path of the one file, such as /jobs/{id}/result."},
                    "credentials_for": {"type": "array", "items": {"type": "string"}, "description": "Origins besides that of url whose files are requested with the bridge's credentials, such as https://files.example.com."}
                  }
                }
              }
            },
            "conditional": {"type": "boolean", "default": true, "description": "Whether a listing of one page is requested with If-None-Match or If-Modified-Since."},
            "responses": {
              "type": "array",
              "description": "How replies are treated; the first rule that matches applies.",
              "items": {
                "type": "object",
                "additionalProperties": false,
                "required": ["action"],
                "properties": {
                  "status": {"anyOf": [{"type": ["integer", "string"]}, {"type": "array", "items": {"type": ["integer", "string"]}}], "description": "Such as 404, 5xx, or a list; default: any success."},
                  "when": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["path"],
                    "properties": {
                      "path": {"type": "string", "description": "A path that must exist in the body."},
                      "equals": {"type": ["string", "number", "boolean", "null"], "description": "The value at the path."},
                      "contains": {"type": "string", "minLength": 1, "description": "A part of the text at the path."},
                      "missing": {"type": "boolean", "default": false, "description": "true: the path must not exist."}
                    },
                    "description": "A condition on the body."
                  },
                  "action": {"type": "string", "enum": ["accept", "ignore", "empty", "retry", "refresh", "fail"], "description": "accept: a success; ignore: a page without records; empty: no records, and the end; retry: try again later; refresh: get new credentials, then retry once; fail: an error."},
                  "message": {"type": "string", "description": "retry, refresh, fail: the error's message."}
                }
              }
            },
            "metadata": {"type": "object", "description": "Further values of the reply to keep: a name, and a path or a header's name.", "additionalProperties": {"type": "string"}},
            "header_fields": {"type": "object", "description": "Members that each record gets from the reply's head, such as \"@etag\": ETag.", "additionalProperties": {"type": "string"}},
            "request_fields": {"type": "object", "description": "Members that each record gets from the request's variables unless it has one of that name, such as team_id: \"{parent.id}\".", "additionalProperties": {"type": "string"}}
          }
        }
        """#
}
