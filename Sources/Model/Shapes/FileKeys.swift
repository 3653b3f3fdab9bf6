/// The top level of a configuration file.
enum FileKeys {
    static let usualDatabase = "bmo.sqlite"

    static let version = Key<Part>(
        "version", ["description": "The version of this format", "const": 1], missing: "add \"version: 1\"")
    static let database = Key<String>(
        "database",
        [
            "description": "The SQLite file, relative to this one, or postgresql://user@host/database",
            "type": "string", "minLength": 1,
            "default": .string(usualDatabase),
        ])
    static let history = Key<Part>("history", HistoryKeys.shape.schema)
    static let bridges = Key<Part>(
        "bridges",
        [
            "description": "Your name for each API, with a plugin and its options",
            "type": ["object", "null"],
            "propertyNames": ["pattern": "^[A-Za-z_][A-Za-z0-9_-]*$"],
            "additionalProperties": ["$ref": "#/$defs/bridge"],
        ], missing: "add \"bridges:\" with a name and its plugin")
    static let defaults = Key<Part>.defined("defaults", by: "defaults")
    static let entities = Key<Part>(
        "entities",
        [
            "description": "The kinds of objects; each becomes a table of its name",
            "type": ["object", "null"], "propertyNames": ["$ref": "#/$defs/name"],
            "additionalProperties": ["$ref": "#/$defs/entity"],
        ], missing: "add \"entities:\"; it may be empty")

    static let shape = Shape(
        "The configuration of bmo: which entity of a database comes from which API",
        [version, database, history, bridges, defaults, entities])
}

/// The mapping `history`.
enum HistoryKeys {
    static let keep = Key<Part>(
        "keep",
        [
            "description": "A time, a number of runs, or forever",
            "type": "string", "pattern": "^([0-9]+[smhdw]|[0-9]+ runs?|forever)$", "default": "90d",
        ])

    static let shape = Shape("What is kept of past runs, for diff, why and undo", [keep])
}
