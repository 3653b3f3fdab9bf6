internal import Mapping
internal import SQLiteStore

/// A relationship to many of one object, as `bmo get` shows it and `bmo update --set` takes it.
struct ShownLinks {
    let name: String
    /// The keys of the targets, in the relationship's order: values, or arrays where a key has several.
    let json: String

    /// All that the object has, but those that are the other side of a relationship to one.
    static func of(
        _ entity: Int, key: [StoredValue], in model: CompiledModel, _ store: SQLiteStore
    ) throws -> [ShownLinks] {
        try model.entities[entity].toMany.enumerated().compactMap { index, many in
            if case .inverse = many.storage { return nil }
            let target = model.entities[many.target]
            let types = target.key.map { target.fields[$0].type }
            let keys = try store.links(of: entity, index, owners: [key])[key] ?? []
            let texts = keys.map { key in
                let values = zip(key, types).map { RowPrinter.json($0, $1) }
                return values.count == 1 ? values[0] : "[\(values.joined(separator: ","))]"
            }
            return ShownLinks(name: many.name, json: "[\(texts.joined(separator: ","))]")
        }
    }
}
