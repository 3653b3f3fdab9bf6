internal import Model
internal import RecordBatch

/// A bridge's `discover` offer: its options, and entities with a confidence for each guess.
struct IntrospectionOffer {
    /// A guess's confidence and reason, as the bridge reports them.
    struct Guess {
        var confidence: String?
        var reason: String?

        init(_ value: BatchValue?) {
            confidence = value?["confidence"]?.text
            reason = value?["reason"]?.text
        }

        /// A comment such as `high: named id`; nil without confidence and reason.
        var comment: String? {
            let parts = [confidence, reason].compactMap(\.self).filter { !$0.isEmpty }
            return parts.isEmpty ? nil : parts.joined(separator: ": ")
        }
    }

    struct Field {
        var path: String
        var type: String
        var isKey: Bool
        var localName: String
        var transform: ConfigValue?
        var guess: Guess
    }

    struct Relationship {
        var name: String
        var target: String
        var isToMany: Bool
        var path: String?
        var inverse: String?
        var guess: Guess
    }

    struct Proposal {
        var name: String
        var value: ConfigValue
        var isOfSection: Bool
        var guess: Guess
    }

    struct Entity {
        var name: String
        var fields: [Field] = []
        var keyGuess = Guess(nil)
        var relationships: [Relationship] = []
        var parent: String?
        var section: [(key: String, value: ConfigValue)] = []
        var reasons: [String: Guess] = [:]
        var guess = Guess(nil)
        var proposals: [Proposal] = []
        var notes: [String] = []
        var obstacle: String?
        /// The meaning of a missing member, where the bridge knows it.
        var absent: AbsentRule?
    }

    var title: String?
    var options: [(key: String, value: ConfigValue)] = []
    var notes: [String] = []
    var entities: [Entity] = []
    /// Whether the bridge understood its input and found no entity in it.
    var isKnownEmpty = false

    init(_ batch: RecordBatch) {
        for index in 0..<batch.count {
            let record = batch[index]
            if let name = record["name"]?.text {
                entities.append(Self.entity(name, record))
            } else {
                title = record["title"]?.text ?? title
                isKnownEmpty = isKnownEmpty || record["is_empty"]?.boolean == true
                options += ConfigValue(record["options"]).members ?? []
                notes += Self.texts(record["notes"])
            }
        }
    }

    private static func texts(_ value: BatchValue?) -> [String] { (value?.elements ?? []).compactMap(\.text) }

    private static func entity(_ name: String, _ record: BatchValue) -> Entity {
        var entity = Entity(name: name)
        for field in record["fields"]?.elements ?? [] {
            guard let path = field["name"]?.text else { continue }
            entity.fields.append(
                Field(
                    path: path, type: field["type"]?.text ?? "text", isKey: field["key"]?.boolean ?? false,
                    localName: field["as"]?.text ?? LocalNames.local(path),
                    transform: field["transform"].map { ConfigValue($0) }, guess: Guess(field)))
        }
        for relationship in record["relationships"]?.elements ?? [] {
            guard let name = relationship["name"]?.text,
                let target = (relationship["to"] ?? relationship["many"])?.text
            else { continue }
            entity.relationships.append(
                Relationship(
                    name: name, target: target, isToMany: relationship["to"] == nil, path: relationship["from"]?.text,
                    inverse: relationship["inverse"]?.text, guess: Guess(relationship)))
        }
        entity.keyGuess = Guess(record["key"])
        entity.parent = record["parent"]?.text
        entity.section = ConfigValue(record["section"]).members ?? []
        for (name, guess) in record["reasons"]?.members ?? [] { entity.reasons[name] = Guess(guess) }
        entity.guess = Guess(record)
        entity.proposals = (record["proposals"]?.elements ?? []).compactMap { proposal in
            proposal["name"]?.text.map {
                Proposal(
                    name: $0, value: ConfigValue(proposal["value"]),
                    isOfSection: proposal["of_section"]?.boolean ?? true, guess: Guess(proposal))
            }
        }
        entity.notes = texts(record["notes"])
        entity.obstacle = record["obstacle"]?.text
        entity.absent = record["absent"]?.text.flatMap(AbsentRule.init)
        return entity
    }
}

extension ConfigValue {
    /// Converts a batch value; null for a missing value, and for bytes and timestamps, which configurations lack.
    init(_ value: BatchValue?) {
        guard let value else {
            self = .null
            return
        }
        switch value.tag {
        case .null, .bytes, .timestamp: self = .null
        case .bool: self = .bool(value.bool)
        case .int64: self = .int(value.int64)
        case .double: self = .double(value.double)
        case .decimal: self = Double(value.string).map { .double($0) } ?? .string(value.string)
        case .text: self = .string(value.string)
        case .array: self = .array(value.elements.map { ConfigValue($0) })
        case .object: self = .object(value.members.map { ($0.key, ConfigValue($0.value)) })
        }
    }
}
