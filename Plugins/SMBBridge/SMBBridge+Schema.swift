import RowFormats

extension SMBBridge {
    static let optionsSchema = """
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "type": "object",
          "additionalProperties": false,
          "required": ["url"],
          "properties": {
            "url": {"type": "string",
              "description": "smb://HOST[:PORT]/SHARE[/FOLDER]; user and password are options of their own"},
            "user": {"type": "string", "description": "the user's name"},
            "password": {"type": "string", "writeOnly": true, "description": "the user's password"},
            "domain": {"type": "string", "description": "the user's domain or workgroup"},
            "guest": {"type": "boolean", "default": false, "description": "use the server's guest access"},
            "kerberos": {"type": "boolean", "default": false,
              "description": "sign in with a Kerberos ticket instead of a password"},
            "credentials_cache": {"type": "string",
              "description": "with kerberos: the cache that holds the ticket, in the form of KRB5CCNAME"},
            "timeout": {"type": "integer", "minimum": 1, "maximum": 3600, "default": 20,
              "description": "seconds to wait for an answer; a call that takes twice as long is ended"},
            "workers": {"type": "integer", "minimum": 1, "maximum": 16, "default": 4,
              "description": "how many processes list folders at a time"},
            "encryption": {"type": "string", "enum": ["default", "preferred", "required"], "default": "default",
              "description": "required: refuse a connection that is not encrypted"},
            "signing": {"type": "string", "enum": ["default", "preferred", "required"], "default": "default",
              "description": "required: refuse a connection whose messages are not signed"},
            "min_protocol": {"type": "string", "enum": \(protocols), "default": "SMB2_02",
              "description": "the oldest protocol version to accept"},
            "max_protocol": {"type": "string", "enum": \(protocols), "default": "SMB3_11",
              "description": "the newest protocol version to offer"},
            "max_record_bytes": {"type": "integer", "minimum": 65536, "default": 16777216,
              "description": "how large one row of a file may be: of CSV, a line or an element of JSON, an XML record"},
            "max_body_bytes": {"type": "integer", "minimum": 1,
              "description": "the maximum size of a packed file after unpacking (default: 100 times the packed size, and 256 MiB at least), and of a JSON document whose root is not a list (default: 64 MiB)"}
          }
        }
        """

    static let entitySchema = """
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "files": \(patterns("the files that are the records: countries/{country}/*.txt")),
            "folders": \(patterns("the folders that are the records: **")),
            "csv": \(patterns("the CSV files whose rows are the records")),
            "ndjson": \(patterns("the files of newline-delimited JSON whose lines are the records")),
            "json": \(patterns("the JSON files that hold the records")),
            "xml": \(patterns("the XML files that hold the records")),
            "exclude": \(patterns("files and folders to leave out: **/*.tmp")),
            "depth": {"type": "integer", "minimum": 0,
              "description": "how many folders deep to look, below the first that the patterns name"},
            "directories": {"type": "boolean", "default": false,
              "description": "with files: also give folders that match the pattern"},
            "content": {"type": "string", "enum": ["none", "text", "data", "bytes", "hash"], "default": "none",
              "description": "with files: also read each file into the field content, or its SHA-256 into sha256"},
            "max_content_bytes": {"type": "integer", "minimum": 0, "default": 1048576,
              "description": "with content: a larger file's content is null"},
            "owners": {"type": "boolean", "default": false,
              "description": "with files and folders: also ask for the SIDs of owner and group"},
            "max_files": {"type": "integer", "minimum": 1, "default": 10000000,
              "description": "stop with an error after this many files"},
            "case_sensitive": {"type": "boolean", "default": false,
              "description": "whether patterns are case-sensitive"},
            "records": {"type": "string",
              "description": "with json: the path of the list, $.data.items; with xml: the elements' name, items/item"},
            "members": \(patterns("of zip archives: the members to read")),
            \(RowFormat.schemaProperties),
            "write": {"type": "string", "enum": ["none", "append", "rewrite"], "default": "none",
              "description": "with csv and ndjson: whether new rows are appended, and others changed in their file"},
            "columns": {"type": "object", "additionalProperties": {"type": "string"},
              "description": "with write: key attributes whose columns have other names, ATTRIBUTE: COLUMN"}
          }
        }
        """

    private static let protocols = "[" + ShareOptions.protocols.map { "\"\($0)\"" }.joined(separator: ", ") + "]"

    private static func patterns(_ what: String) -> String {
        "{\"type\": [\"string\", \"array\"], \"items\": {\"type\": \"string\"}, "
            + "\"description\": \"a path pattern, or several: \(what)\"}"
    }
}
