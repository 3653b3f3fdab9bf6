internal import RecordBatch

/// An entity that a service offers, as a record of `discover`.
struct ServiceOffer {
    struct Field {
        var path: [String]
        var type: String
        var isRepeated: Bool
        var element: TypeID?
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
    /// Elements that hold elements; the second says what they are where all of those are plain values.
    var nested: [(SchemaElement, ComplexType?)] = []
    var key: String?
    var keyConfidence = ("low", "")
    var relationships: [Relationship] = []
    var write: [(name: String, members: [(String, String)], reason: String)] = []
    var notes: [String] = []
    var obstacle: String?

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
                        writer.member("key", field.path == [key ?? ""])
                        confidence(
                            ("high", field.type == "json" ? "elements in the schema" : "in the schema"), to: writer)
                    }
                }
            }
            writer.key("section")
            writer.object {
                writer.member("operation", operation)
                writer.member("records", records.joined(separator: "/"))
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
            confidence(("high", "\(operation) replies with a list of it"), to: writer)
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
                        writer.member("from", path(relationship.path))
                        confidence(relationship.confidence, to: writer)
                    }
                }
            }
            writer.key("proposals")
            writer.array { if !write.isEmpty { writeRoles(to: writer) } }
            if let obstacle { writer.member("obstacle", obstacle) }
            writer.key("notes")
            writer.array { for note in notes { writer.text(note) } }
        }
    }

    private func writeRoles(to writer: RecordBatchWriter) {
        writer.object {
            writer.member("name", "write")
            writer.member("of_section", true)
            writer.key("value")
            writer.object {
                for (name, members, _) in write {
                    writer.key(name)
                    writer.object { for (member, text) in members { writer.member(member, text) } }
                }
            }
            let names = write.map(\.reason).joined(separator: ", ")
            confidence(
                ("medium", "\(names) by their names and what they take; writes are off until you uncomment them"),
                to: writer)
        }
    }
}
