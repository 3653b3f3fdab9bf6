internal import Mapping
internal import StoreContract

/// A to-many relationship of one object, in the form that `bmo get` shows and `bmo update --set` takes.
struct ShownLinks {
    let name: String
    /// The targets' keys in the relationship's order, as values, or as arrays for keys of several parts.
    let json: String

    /// Returns the object's to-many relationships, except those that are the inverse of a to-one relationship.
    static func of(
        _ entity: Int, key: [StoredValue], in model: CompiledModel, _ store: any Store
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
