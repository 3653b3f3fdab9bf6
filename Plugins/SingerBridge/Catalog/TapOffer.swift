internal import BridgeKit
internal import RecordBatch

/// A stream of a catalog, offered as an entity for a configuration.
struct TapOffer {
    private let stream: TapCatalog.Stream

    init(_ stream: TapCatalog.Stream) { self.stream = stream }

    func write(to writer: RecordBatchWriter) {
        writer.object {
            writer.member("name", stream.name)
            writer.key("fields")
            writer.array {
                for (name, type) in fields() {
                    writer.object {
                        writer.member("name", name)
                        writer.member("type", type)
                        writer.member("key", stream.keys.contains(name))
                    }
                }
            }
            if !stream.keys.isEmpty {
                writer.key("key")
                writer.object {
                    writer.member("confidence", "high")
                    writer.member("reason", "key_properties of the stream")
                }
            }
            writer.key("section")
            writer.object { writer.member("stream", stream.name) }
            if let replication = stream.replication, replication != .fullTable {
                writer.key("proposals")
                writer.array {
                    writer.object {
                        writer.member("name", "incremental")
                        writer.member("value", "token")
                        writer.member("of_section", false)
                        writer.member("confidence", "high")
                        writer.member("reason", "the stream is \(replication.rawValue)")
                    }
                }
            }
        }
    }

    private func fields() -> [(name: String, type: String)] {
        guard let properties = stream.schema.object("properties") else { return [] }
        return properties.names.map { name in (name, Self.type(of: properties.object(name) ?? .empty)) }
    }

    /// Returns the type of a column for a property's JSON Schema.
    private static func type(of schema: BridgeOptions) -> String {
        var schemas = [schema] + schema.objects("anyOf") + schema.objects("oneOf")
        schemas.removeAll { $0.strings("type") == ["null"] }
        let types = Set(schemas.flatMap { $0.strings("type") }).subtracting(["null"])
        let formats = Set(schemas.compactMap { $0.string("format") })
        switch types {
        case ["integer"]: return "integer"
        case ["boolean"]: return "boolean"
        case ["number"], ["number", "integer"]: return "decimal"
        case ["string"] where formats == ["date-time"]: return "timestamp"
        case ["string"] where formats == ["date"]: return "date"
        case ["string"] where formats == ["singer.decimal"]: return "decimal"
        case ["string"]: return "text"
        default: return types.isDisjoint(with: ["object", "array"]) && !types.isEmpty ? "text" : "json"
        }
    }
}
