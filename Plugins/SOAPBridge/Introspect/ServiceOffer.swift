internal import BridgeKit
internal import RecordBatch

/// An entity that a service offers, while the introspection gathers what it knows of it.
struct ServiceOffer {
    struct Field {
        var path: [String]
        var type: String
        var confidence = EntityDescription.Confidence.high("in the schema")
        /// The attribute's name; nil for the name derived from its path.
        var localName: String?
    }

    /// An operation that creates, updates or deletes.
    struct Role {
        let name: String
        let members: [(String, String)]
        let operation: String
    }

    /// The operation that reads one object by its key.
    struct ReadOne {
        let operation: String
        let records: [String]
        let element: String
        /// The attribute that holds the key.
        let attribute: String
    }

    struct Relationship {
        var name: String
        var target: String
        var isToMany: Bool
        var path: [String]
        var confidence: EntityDescription.Confidence
    }

    /// An element that contains elements.
    struct Nested {
        /// The name of the record's member.
        let name: String
        let element: SchemaElement
        /// The type if all its elements are plain values.
        let inner: ComplexType?
        let confidence: EntityDescription.Confidence
    }

    var name: String
    let type: TypeID
    var operation = ""
    var records: [String] = []
    var paging: [(String, OperationPaging.Rule)]?
    var pagingReason = EntityDescription.Confidence(nil, nil)
    var fields: [Field] = []
    var nested: [Nested] = []
    var confidence = EntityDescription.Confidence.high("")
    var key: String?
    var keyConfidence = EntityDescription.Confidence.low("")
    var relationships: [Relationship] = []
    var write: [Role] = []
    var readOne: ReadOne?
    /// The paths of required inputs that have no source.
    var missing: [String] = []
    /// For a listing per object of another entity: the relationship to that entity and the input that identifies the
    /// object.
    var parent: (relationship: String, element: String, attribute: String)?
    var notes: [String] = []
    /// What the user has to add or verify, besides the missing inputs.
    var obstacles: [String] = []
    var isReady: Bool { obstacles.isEmpty && missing.isEmpty }

    init(name: String, type: TypeID) {
        self.name = name
        self.type = type
    }

    /// The offer as `discover` writes it.
    var description: EntityDescription {
        var description = EntityDescription(
            name,
            fields: fields.map { field in
                EntityDescription.Field(
                    EntityDescription.path(field.path), field.type, isKey: field.path == [key ?? ""],
                    localName: field.localName,
                    confidence: field.confidence)
            }, section: BridgeOptions(writeSection))
        description.confidence = confidence
        description.key = keyConfidence
        description.reasons = [("paging", pagingReason)]
        description.relationships = relationships.map { relationship in
            EntityDescription.Relationship(
                relationship.name, to: relationship.target, isToMany: relationship.isToMany,
                path: relationship.path.isEmpty ? nil : EntityDescription.path(relationship.path),
                confidence: relationship.confidence)
        }
        description.proposals = [readOne.map(propose), write.isEmpty ? nil : roles].compactMap(\.self)
        description.parent = parent?.relationship
        // An element that the schema declares and a record lacks is empty.
        description.absent = "null"
        let needs =
            missing.isEmpty
            ? [] : ["the request needs \(missing.prefix(8).joined(separator: ", ")): set them under input"]
        let obstacles = needs + obstacles
        if !obstacles.isEmpty { description.obstacle = obstacles.joined(separator: "; ") }
        description.notes = notes
        return description
    }

    private func writeSection(to writer: RecordBatchWriter) {
        writer.member("operation", operation)
        writer.member("records", records.joined(separator: "/"))
        if let parent {
            writer.member("input", object: { writer.member(parent.element, "{parent.\(parent.attribute)}") })
        }
        guard let paging else { return }
        writer.key("paging")
        writer.object {
            for (name, rule) in paging {
                switch rule {
                case .text(let text): writer.member(name, text)
                case .number(let number): writer.member(name, number)
                }
            }
        }
    }

    private func propose(_ readOne: ReadOne) -> EntityDescription.Proposal {
        let value = EntityDescription.Value { writer in
            writer.object {
                writer.member("operation", readOne.operation)
                writer.member("records", readOne.records.joined(separator: "/"))
                writer.member(
                    "input", object: { writer.member(readOne.element, "{parent.\(readOne.attribute)}") })
            }
        }
        return EntityDescription.Proposal(
            "read_one", value, isOfSection: false, confidence: .medium("\(readOne.operation) returns a single one"))
    }

    private var roles: EntityDescription.Proposal {
        let value = EntityDescription.Value { writer in
            writer.object {
                for role in write {
                    writer.key(role.name)
                    writer.object { for (member, text) in role.members { writer.member(member, text) } }
                }
            }
        }
        let names = write.map(\.operation).joined(separator: ", ")
        return EntityDescription.Proposal(
            "write", value, isOfSection: true,
            confidence: .medium("\(names) by their names and inputs; writes are off until you uncomment them"))
    }
}
