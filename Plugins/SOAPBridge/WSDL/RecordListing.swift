internal import RecordBatch

/// An operation that gives a list: its reply has an element that repeats.
struct RecordListing {
    private static let depth = 5

    let operation: String
    let path: [String]
    private let record: SchemaElement
    private let fields: [(name: String, type: String)]

    /// Looks for the nearest repeated element of a complex type; nil when there is none.
    init?(_ operation: WSDLOperation, _ schemas: SchemaSet) {
        var level = operation.output.elements.map { ([$0.name.local], $0) }
        var seen: Set<TypeID> = []
        for _ in 0..<Self.depth {
            var next: [([String], SchemaElement)] = []
            for (path, element) in level {
                guard case .complex(let type) = schemas[element.type] else { continue }
                if element.isRepeated {
                    self.operation = operation.name
                    self.path = path
                    record = element
                    fields = Self.fields(type, schemas)
                    return
                }
                guard seen.insert(element.type).inserted else { continue }
                next += type.children.map { (path + [$0.name.local], $0) }
            }
            level = next
        }
        return nil
    }

    private static func fields(_ type: ComplexType, _ schemas: SchemaSet) -> [(name: String, type: String)] {
        type.attributes.map { ("@" + $0.name, name(of: $0.kind)) }
            + type.children.map { child in
                guard !child.isRepeated, case .simple(let kind) = schemas[child.type] else {
                    return (child.name.local, "json")
                }
                return (child.name.local, name(of: kind))
            }
    }

    /// The config's name for what a kind of text becomes.
    private static func name(of kind: SimpleKind) -> String {
        switch kind {
        case .text: "text"
        case .integer: "integer"
        case .decimal: "decimal"
        case .double: "real"
        case .boolean: "boolean"
        case .base64, .hex: "data"
        }
    }

    /// Writes the entity on offer, as ``Bridge/discover(into:)`` says.
    func write(to writer: RecordBatchWriter) {
        func member(_ name: String, _ value: String) {
            writer.key(name)
            writer.text(value)
        }
        writer.object {
            let name = record.name.local
            member("name", name.prefix(1).uppercased() + name.dropFirst())
            writer.key("fields")
            writer.array {
                for field in fields {
                    writer.object {
                        member("name", field.name)
                        member("type", field.type)
                        writer.key("key")
                        writer.bool(false)
                    }
                }
            }
            writer.key("section")
            writer.object {
                member("operation", operation)
                member("records", path.joined(separator: "/"))
            }
        }
    }
}
