/// An entity.
enum EntityKeys {
    static let bridge = Key<String>.text("bridge", "The name of a bridge of this file")
    static let key = Key<Names>.names("key", "The attribute, or attributes, that identify an object")
    static let unique = Key<String>(
        "unique",
        [
            "description": "In place of a key: none (every record is an object) or singleton (there is one)",
            "enum": .array(uniqueValues.map { .string($0) }),
        ])
    static let extends = Key<String>(
        "extends", ["description": "The super-entity, whose table holds the objects", "type": "string"])
    static let when = Key<Matcher>.defined("when", by: "matcher")
    static let attributes = Key<Part>(
        "attributes",
        [
            "description": "The columns; auto: those that the records have, as the first sync finds them",
            "anyOf": [
                ["const": .string(LearnedAttributes.word)],
                [
                    "type": ["object", "null"], "propertyNames": ["$ref": "#/$defs/name"],
                    "additionalProperties": ["$ref": "#/$defs/attribute"],
                ],
            ],
        ])
    static let relationships = Key<Part>(
        "relationships",
        [
            "description": "The references to other entities", "type": ["object", "null"],
            "propertyNames": ["$ref": "#/$defs/name"],
            "additionalProperties": ["$ref": "#/$defs/relationship"],
        ])
    static let listing = Key<String>(
        "listing",
        [
            "description": "none: its objects are nested in those of other entities only, and it needs no bridge",
            "enum": [.string(noListing)],
        ])
    static let quarantineLimit = Key<Int64>.integer(
        "quarantine_limit",
        "How many records of one sync may go to quarantine; with more its scan is abandoned", in: 1...Int64.max,
        usual: Int64(Entity.usualQuarantineLimit))
    static let deletes = Key<Part>("deletes", DeletesKeys.schema)
    static let conflicts = Key<Part>("conflicts", ConflictsKeys.schema)
    static let sources = Key<Part>(
        "sources",
        [
            "description": "Further bridges of the entity; each writes only its own attributes",
            "type": ["object", "null"], "additionalProperties": ["$ref": "#/$defs/source"],
        ])
    static let precedence = Key<Names>.names(
        "precedence", "The sources; the first one that provides an attribute wins; main is the entity's own bridge")
    static let extra = Key<Bool>.flag("extra", "Keeps unknown fields in the column extra, as JSON")
    static let absent = Key<AbsentRule>.absent
    static let renamedFrom = Key<String>.renamedFrom
    static let writable = Key<Bool>.flag("writable", "Whether objects may be created, updated and deleted")
    static let match = Key<Names>.names(
        "match", "The attributes and relationships to one by which an object is found whose creation got no answer")
    static let idempotency = Key<Bool>.flag(
        "idempotency",
        "Whether the remote executes a request only once, however often it is sent with the same idempotency key",
        usual: false)
    static let readOne = Key<Part>(
        "read_one",
        [
            "description": "The bridge's section for reading one object, whose values are {parent.NAME}",
            "type": "object",
        ])

    static let shape = Shape(
        "A kind of object",
        [
            bridge, key, unique, extends, when, attributes, relationships, listing, quarantineLimit, deletes, conflicts,
            sources, precedence, extra, absent, renamedFrom, writable, match, idempotency, readOne,
        ] + ScanKeys.all)

    /// The values of ``unique``.
    static let uniqueValues = [Entity.Uniquing.none, .singleton].map(\.rawValue)
    /// The value of ``listing``.
    static let noListing = "none"

    /// The keys that a sub-entity cannot have, because it shares its root's table; with the remedy.
    static let ofRoots: [(key: any DescribedKey, remedy: String)] = [
        (key, "remove it: a sub-entity has its root's key"), (unique, "remove it: a sub-entity has its root's key"),
        (deletes, "set it at the root of its super-entities, whose table it is in"),
        (extra, "set it at the root of its super-entities, whose table it is in"),
        (sources, "set it at the root of its super-entities"),
        (conflicts, "set it at the root of its super-entities, whose table it is in"),
    ]

    /// The keys that an entity without a listing cannot have, besides ``ScanKeys``.
    static let ofListings: [any DescribedKey] = [bridge, sources, writable, readOne, quarantineLimit]

    /// The keys that are specific to one entity, and so not in `defaults`.
    static let withoutDefault: [any DescribedKey] = [extends, when, renamedFrom, sources, unique, precedence]
}

/// One of an entity's sources.
enum SourceKeys {
    static let bridge = Key<String>.text(
        "bridge", "The name of a bridge of this file", missing: "add \"bridge:\"")
    static let attributes = Key<Part>(
        "attributes",
        part("attribute", "The entity's attributes that it provides, or attributes with their own mapping"))
    static let relationships = Key<Part>(
        "relationships",
        part("relationship", "The entity's relationships that it provides, or relationships with their own mapping"))
    static let each = Key<Part>(
        "each",
        [
            "description": "One scan for each object of the entity itself",
            "anyOf": [["type": "boolean"], ParentKeys.each.schema],
        ])
    static let absent = Key<AbsentRule>.absent

    static let shape = Shape(
        "A further bridge of an entity", [bridge, attributes, relationships, each, absent] + ScanKeys.all)

    private static func part(_ definition: String, _ description: String) -> ConfigValue {
        [
            "description": .string(description),
            "anyOf": [
                ["type": "string"], ["type": "array", "items": ["type": "string"]],
                ["type": "object", "additionalProperties": ["$ref": .string("#/$defs/" + definition)]],
            ],
        ]
    }
}
