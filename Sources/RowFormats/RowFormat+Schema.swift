extension RowFormat {
    /// The names of the members that only CSV has.
    package static let csvNames = [
        "delimiter", "quote", "header", "empty_as_null", "null_values", "skip_rows", "comment", "lenient_quotes",
        "pad_rows",
    ]

    /// The members of a JSON Schema that determine a text's rows: an encoding, and the dialect of CSV.
    package static let schemaProperties = """
        "delimiter": {"type": "string", "default": ",",
          "description": "with csv: one ASCII character between fields, or the word tab"},
        "quote": {"type": "string", "default": "\\"",
          "description": "with csv: one ASCII character around fields, or the word none"},
        "encoding": {"type": "string",
          "description": "utf-8, windows-1252, or another that iconv knows; by default a byte order mark decides"},
        "header": {"type": ["boolean", "array"], "items": {"type": "string"}, "default": true,
          "description": "with csv: true (the first row has the names), or the names of a file without header"},
        "empty_as_null": {"type": "boolean", "default": false,
          "description": "with csv: an empty field is null instead of an empty text"},
        "null_values": {"type": ["string", "array"], "items": {"type": "string"},
          "description": "with csv: fields that are null, such as n/a, or NULL in quotes"},
        "skip_rows": {"type": "integer", "minimum": 0, "default": 0,
          "description": "with csv: rows above the header, or above the first row, to leave out"},
        "comment": {"type": "string", "description": "with csv: rows that begin with this character are left out"},
        "lenient_quotes": {"type": "boolean", "default": false,
          "description": "with csv: take quotes inside unquoted fields as they are"},
        "pad_rows": {"type": "boolean", "default": false,
          "description": "with csv: null for the fields that a short row lacks, and no error for surplus empty ones"}
        """
}
