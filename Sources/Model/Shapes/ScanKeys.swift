/// How an entity or a source is scanned.
enum ScanKeys {
    static let parent = Key<Part>.defined("parent", by: "parent")
    static let incremental = Key<Part>.defined("incremental", by: "incremental")
    static let fullEvery = Key<Duration>.span("full_every")
    static let retryFor = Key<Duration>.span("retry_for")

    static let all: [any DescribedKey] = [parent, incremental, fullEvery, retryFor]
}

/// The mappings `parent` and `each`.
enum ParentKeys {
    static let relationship = Key<String>.text(
        "relationship", "The relationship to the parent", missing: "add the name of a relationship to one")
    static let condition = Key<Names>.names("where", "Which objects have a scan: FIELD OPERATOR VALUE; all must hold")
    static let concurrency = Key<Int64>.integer("concurrency", "How many scans run at a time", in: 1...64, usual: 4)
    static let changed = Key<Bool>.flag(
        "changed",
        "Whether only the objects are scanned that were inserted or updated since their last complete scan; "
            + "all of them every full_every",
        usual: false)

    static let parent = Shape(nil, [relationship, condition, concurrency, changed])
    static let each = Shape(nil, [condition, concurrency, changed])

    /// The definition of `parent`.
    static let schema: ConfigValue = [
        "description": "One scan for each object that a relationship to one may lead to",
        "anyOf": [["type": "string", "minLength": 1], parent.schema],
    ]
}

/// The mapping `incremental`.
enum IncrementalKeys {
    /// The value in place of the mapping, for a remote with change tokens.
    static let token = "token"

    static let field = Key<String>.text(
        "field", "The attribute from whose newest value the next scan starts", missing: "add the name of an attribute")
    static let lookback = Key<Part>(
        "lookback",
        [
            "description": "How far it starts before that value",
            "anyOf": [["$ref": "#/$defs/span"], ["type": "integer", "minimum": 0]],
        ])

    static let order = Key<Incremental.Order>.choice(
        "order",
        "`newest_first` for a remote that cannot be asked for changes but lists the newest first: the scan ends at what "
            + "is known",
        usual: .any)

    static let shape = Shape(nil, [field, lookback, order])

    /// The definition of `incremental`.
    static let schema: ConfigValue = [
        "description": "Asks only for what changed since the previous scan",
        "anyOf": [["const": .string(token)], shape.schema],
    ]
}
