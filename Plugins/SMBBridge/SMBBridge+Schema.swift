extension SMBBridge {
    static let optionsSchema = """
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "type": "object",
          "additionalProperties": false,
          "required": ["url"],
          "properties": {
            "url": {"type": "string",
              "description": "smb://HOST[:PORT]/SHARE[/FOLDER]; user and password have options of their own"},
            "user": {"type": "string", "description": "who signs in; without one, the server's guest access is used"},
            "password": {"type": "string", "writeOnly": true, "description": "the user's password"},
            "domain": {"type": "string", "description": "the user's domain or workgroup"},
            "timeout": {"type": "integer", "minimum": 1, "maximum": 3600, "default": 20,
              "description": "seconds to wait for an answer"},
            "encryption": {"type": "string", "enum": ["default", "required"], "default": "default",
              "description": "required: refuse a connection that is not encrypted"},
            "min_protocol": {"type": "string", "enum": \(protocols), "default": "SMB2_02",
              "description": "the oldest protocol version to accept"},
            "max_protocol": {"type": "string", "enum": \(protocols), "default": "SMB3_11",
              "description": "the newest protocol version to offer"}
          }
        }
        """

    static let entitySchema = """
        {
          "$schema": "https://json-schema.org/draft/2020-12/schema",
          "type": "object",
          "additionalProperties": false,
          "properties": {
            "files": {"type": "string",
              "description": "path pattern of the files to list, one record each: countries/{country}/*.txt"},
            "csv": {"type": "string",
              "description": "path or pattern of the CSV files whose rows are the records"},
            "directories": {"type": "boolean", "default": false,
              "description": "with files: also give folders that match the pattern"},
            "content": {"type": "string", "enum": ["none", "text", "bytes"], "default": "none",
              "description": "with files: also read each file into the field content"},
            "max_content_bytes": {"type": "integer", "minimum": 0, "default": 1048576,
              "description": "with content: a larger file's content is null"},
            "max_files": {"type": "integer", "minimum": 1, "default": 10000000,
              "description": "stop with an error after so many files"},
            "case_sensitive": {"type": "boolean", "default": false,
              "description": "whether the pattern tells upper case from lower case"},
            "delimiter": {"type": "string", "default": ",",
              "description": "with csv: one ASCII character between fields, or the word tab"},
            "quote": {"type": "string", "default": "\\"", "description": "with csv: one ASCII character around fields"},
            "encoding": {"type": "string", "default": "utf-8",
              "description": "of CSV files and of text content: utf-8, windows-1252, or another that iconv knows"},
            "header": {"type": ["boolean", "array"], "items": {"type": "string"}, "default": true,
              "description": "with csv: true (the first row has the names), or the names of a file without header"},
            "empty_as_null": {"type": "boolean", "default": false,
              "description": "with csv: an empty field is null instead of an empty text"}
          }
        }
        """

    private static let protocols = "[" + ShareOptions.protocols.map { "\"\($0)\"" }.joined(separator: ", ") + "]"
}
