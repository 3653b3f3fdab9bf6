internal import RecordBatch

/// An entity that a service offers, as a record of `discover`.
struct ServiceOffer {
    struct Field {
        var path: [String]
        var type: String
        var confidence = ("high", "in the schema")
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
        var confidence: (String, String)
    }

    var name: String
    let type: TypeID
    var operation = ""
    var records: [String] = []
    var paging: [(String, OperationPaging.Rule)]?
    var pagingReason = ("", "")
    var fields: [Field] = []
    /// Elements that contain elements; the second value describes them if they contain only plain values.
    var nested: [(SchemaElement, ComplexType?, (String, String))] = []
    var confidence = ("high", "")
    var key: String?
    var keyConfidence = ("low", "")
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

    private func confidence(_ confidence: (String, String), to writer: RecordBatchWriter) {
        writer.member("confidence", confidence.0)
        writer.member("reason", confidence.1)
    }

    func write(to writer: RecordBatchWriter) {
        func path(_ names: [String]) -> String { names.map { $0.replacing(".", with: "\\.") }.joined(separator: ".") }
        writer.object {
            writer.member("name", name)
            writer.key("fields")
            writer.array {
                for field in fields {
                    writer.object {
                        writer.member("name", path(field.path))
                        writer.member("type", field.type)
                        if let name = field.localName { writer.member("as", name) }
                        writer.member("key", field.path == [key ?? ""])
                        confidence(field.confidence, to: writer)
                    }
                }
            }
            writer.key("section")
            writer.object {
                writer.member("operation", operation)
                writer.member("records", records.joined(separator: "/"))
                if let parent {
                    writer.key("input")
                    writer.object { writer.member(parent.element, "{parent.\(parent.attribute)}") }
                }
                if let paging {
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
            }
            confidence(self.confidence, to: writer)
            writer.key("key")
            writer.object { confidence(keyConfidence, to: writer) }
            writer.key("reasons")
            writer.object {
                writer.key("paging")
                writer.object { confidence(pagingReason, to: writer) }
            }
            writer.key("relationships")
            writer.array {
                for relationship in relationships {
                    writer.object {
                        writer.member("name", relationship.name)
                        writer.member(relationship.isToMany ? "many" : "to", relationship.target)
                        if !relationship.path.isEmpty { writer.member("from", path(relationship.path)) }
                        confidence(relationship.confidence, to: writer)
                    }
                }
            }
            writer.key("proposals")
            writer.array {
                if let readOne { write(readOne, to: writer) }
                if !write.isEmpty { writeRoles(to: writer) }
            }
            if let parent { writer.member("parent", parent.relationship) }
            // An element that the schema declares and a record lacks is empty.
            writer.member("absent", "null")
            let needs =
                missing.isEmpty
                ? [] : ["the request needs \(missing.prefix(8).joined(separator: ", ")): set them under input"]
            let obstacles = needs + obstacles
            if !obstacles.isEmpty { writer.member("obstacle", obstacles.joined(separator: "; ")) }
            writer.key("notes")
            writer.array { for note in notes { writer.text(note) } }
        }
    }

    private func write(_ readOne: ReadOne, to writer: RecordBatchWriter) {
        writer.object {
            writer.member("name", "read_one")
            writer.member("of_section", false)
            writer.key("value")
            writer.object {
                writer.member("operation", readOne.operation)
                writer.member("records", readOne.records.joined(separator: "/"))
                writer.key("input")
                writer.object { writer.member(readOne.element, "{parent.\(readOne.attribute)}") }
            }
            confidence(("medium", "\(readOne.operation) replies with one of it"), to: writer)
        }
    }

    private func writeRoles(to writer: RecordBatchWriter) {
        writer.object {
            writer.member("name", "write")
            writer.member("of_section", true)
            writer.key("value")
            writer.object {
                for role in write {
                    writer.key(role.name)
                    writer.object { for (member, text) in role.members { writer.member(member, text) } }
                }
            }
            let names = write.map(\.operation).joined(separator: ", ")
            confidence(
                ("medium", "\(names) by their names and what they take; writes are off until you uncomment them"),
                to: writer)
        }
    }
}
