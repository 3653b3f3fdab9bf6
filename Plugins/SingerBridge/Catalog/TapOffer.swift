internal import BridgeKit

/// A stream of a catalog, offered as an entity for a configuration.
struct TapOffer {
    private let stream: TapCatalog.Stream
    /// The name by which a section refers to the stream.
    private let name: String

    init(_ stream: TapCatalog.Stream, named name: String) {
        self.stream = stream
        self.name = name
    }

    /// The stream as `discover` writes it.
    var description: EntityDescription {
        var description = EntityDescription(
            name, fields: fields(), section: BridgeOptions { $0.member("stream", name) })
        if stream.keys.isEmpty {
            description.obstacle =
                "the stream has no key_properties: name the attributes that identify a record under key, or write "
                + "unique: none in its place"
        } else {
            description.key = .high("key_properties of the stream")
        }
        if let replication = stream.replication, replication != .fullTable {
            description.proposals = [
                EntityDescription.Proposal(
                    "incremental", "token", isOfSection: false,
                    confidence: .high("the stream is \(replication.rawValue)"))
            ]
        }
        return description
    }

    private func fields() -> [EntityDescription.Field] {
        guard let properties = stream.schema.object("properties") else { return [] }
        return properties.names.map { name in
            EntityDescription.Field(
                EntityDescription.path([name]), Self.type(of: properties.object(name) ?? .empty),
                isKey: stream.keys.contains(name))
        }
    }

    /// Returns the type of a column for a property's JSON Schema.
    private static func type(of schema: BridgeOptions) -> String {
        var schemas = [schema] + schema.objects("anyOf") + schema.objects("oneOf")
        schemas.removeAll { $0.strings("type") == ["null"] }
        let types = Set(schemas.flatMap { $0.strings("type") }).subtracting(["null"])
        // Of alternatives, such as a time or any other text, one without a format accepts every text.
        let texts = schemas.filter { $0.strings("type").contains("string") }
        let formats = Set(texts.map { $0.string("format") ?? "" })
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
