internal import RecordBatch

/// The confidence in a guess, with its reason.
struct Confidence: Sendable {
    enum Level: String, Sendable { case high, medium, low }

    var level: Level
    var reason: String

    static func high(_ reason: String) -> Confidence { Confidence(level: .high, reason: reason) }
    static func medium(_ reason: String) -> Confidence { Confidence(level: .medium, reason: reason) }
    static func low(_ reason: String) -> Confidence { Confidence(level: .low, reason: reason) }

    func write(to writer: RecordBatchWriter) {
        writer.member("confidence", level.rawValue)
        writer.member("reason", reason)
    }
}

/// An entity that an API offers, written as one record of `discover`.
struct EntityOffer: Sendable {
    struct Field: Sendable {
        /// The dot path in the record, with dots inside names escaped as `\.`.
        var path: [String]
        /// The attribute's type, as named in the config.
        var type: String
        /// The local name, if it does not follow from the path.
        var localName: String?
        /// The transformers, in the config's form.
        var transform: JSONTree?
        var confidence: Confidence
    }

    struct Relationship: Sendable {
        var name: String
        var target: String
        var isToMany: Bool
        var path: [String]
        var confidence: Confidence
    }

    /// A guessed member of the section or the entity that a person must enable.
    struct Proposal: Sendable {
        var name: String
        var value: JSONTree
        var isOfSection: Bool
        var confidence: Confidence
    }

    var name: String
    var fields: [Field] = []
    /// The paths of the fields that identify a record.
    var key: [[String]] = []
    var keyConfidence = Confidence.low("")
    var relationships: [Relationship] = []
    /// The relationship to the parent entity, if each parent object has its own listing.
    var parent: String?
    var section: JSONTree = .object([])
    var confidence = Confidence.low("")
    /// The reason for each guessed part of the section, by the part's name.
    var reasons: [(name: String, confidence: Confidence)] = []
    var proposals: [Proposal] = []
    var notes: [String] = []
    /// The reason why a person has to complete the entity before use.
    var obstacle: String?

    static func path(_ names: [String]) -> String {
        names.map { $0.replacing("\\", with: "\\\\").replacing(".", with: "\\.") }.joined(separator: ".")
    }

    func write(to writer: RecordBatchWriter) {
        writer.object {
            writer.member("name", name)
            writer.key("fields")
            writer.array { for field in fields { write(field, to: writer) } }
            writer.key("section")
            section.write(to: writer)
            confidence.write(to: writer)
            writer.key("key")
            writer.object { keyConfidence.write(to: writer) }
            if let parent { writer.member("parent", parent) }
            if let obstacle { writer.member("obstacle", obstacle) }
            writer.key("relationships")
            writer.array {
                for relationship in relationships {
                    writer.object {
                        writer.member("name", relationship.name)
                        writer.member(relationship.isToMany ? "many" : "to", relationship.target)
                        writer.member("from", Self.path(relationship.path))
                        relationship.confidence.write(to: writer)
                    }
                }
            }
            writer.key("reasons")
            writer.object {
                for (name, confidence) in reasons {
                    writer.key(name)
                    writer.object { confidence.write(to: writer) }
                }
            }
            writer.key("proposals")
            writer.array {
                for proposal in proposals {
                    writer.object {
                        writer.member("name", proposal.name)
                        writer.member("of_section", proposal.isOfSection)
                        writer.key("value")
                        proposal.value.write(to: writer)
                        proposal.confidence.write(to: writer)
                    }
                }
            }
            writer.key("notes")
            writer.array { for note in notes { writer.text(note) } }
        }
    }

    private func write(_ field: Field, to writer: RecordBatchWriter) {
        writer.object {
            writer.member("name", Self.path(field.path))
            writer.member("type", field.type)
            writer.member("key", key.contains(field.path))
            writer.member("as", field.localName.map { LocalName.make([$0]) } ?? LocalName.make(field.path))
            if let transform = field.transform {
                writer.key("transform")
                transform.write(to: writer)
            }
            field.confidence.write(to: writer)
        }
    }
}
