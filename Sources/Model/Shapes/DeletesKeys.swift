/// The mapping `deletes`.
enum DeletesKeys {
    private static let description = "What happens to objects that the remote no longer has"

    static let mode = Key<DeletePolicy.Mode>.choice("mode", description, usual: .hard)
    static let deletionLimit = Key<Part>("brake", BrakeKeys.shape.schema)
    static let when = Key<Matcher>.defined("when", by: "matcher")
    static let view = Key<String>(
        "view",
        [
            "description": "With mode soft: a view of this name has the rows that are not deleted",
            "$ref": "#/$defs/name",
        ])

    static let shape = Shape(description, [mode, deletionLimit, when, view])

    static let schema: ConfigValue = ["description": .string(description), "anyOf": [mode.schema, shape.schema]]
}

/// The mapping `brake` of `deletes`.
enum BrakeKeys {
    static let share = Key<Part>(
        "share",
        [
            "description": "The share of the rows, such as 20%",
            "anyOf": [
                ["type": "string", "pattern": "^[0-9.]+%$"], ["type": "number", "minimum": 0, "maximum": 1],
            ],
        ])
    static let rows = Key<Int64>.integer("rows", "This number may always be deleted", in: 0...Int64.max)

    static let shape = Shape("The most that one scan may delete", [share, rows])
}

/// The mapping `conflicts`.
enum ConflictsKeys {
    private static let description = "Whose value wins if a column was changed here and on the remote"

    static let newest = Key<String>.text(
        "newest", "The attribute with the time of the last change, a timestamp",
        missing: "add the name of an attribute")

    static let shape = Shape("The newer one wins", [newest])

    static let schema: ConfigValue = [
        "description": .string(description),
        "anyOf": [
            [
                "description": .string(description), "enum": .array(policies.map { .string($0.name) }),
                "default": "manual",
            ],
            shape.schema,
        ],
    ]

    /// The values in place of the mapping.
    static let policies: [(name: String, policy: ConflictPolicy)] = [
        ("manual", .manual), ("remote", .remote), ("local", .local),
    ]
}
