internal import Model
public import RecordBatch

extension Mapper {
    /// Returns the key of a record without mapping the rest, to identify the object of a record that cannot be mapped.
    ///
    /// - Parameters:
    ///   - record: An object of a batch.
    ///   - plan: The index of the plan in ``CompiledModel/plans``.
    ///   - parent: The parent's key, in a scan per parent.
    /// - Returns: Nil when the record lacks its key.
    public func key(of record: BatchValue, as plan: Int, parent: [StoredValue]? = nil) -> [StoredValue]? {
        let mapping = model.plans[plan]
        let layout = model.entities[mapping.entity]
        guard record.tag == .object, !layout.key.isEmpty else { return nil }
        let attributes = model.model.key(of: model.model.entities[mapping.entity])
        let arena = Arena()
        var key: [StoredValue] = []
        for (field, attribute) in zip(layout.key, attributes) {
            let cell: Cell?
            switch mapping.sourceOfKey(attribute) {
            case .path(let path):
                if let value = record.value(at: path) {
                    cell = try? mapping.converters[field].convert(value, arena)
                } else {
                    cell = Self.key(from: record.values(across: path), by: mapping.converters[field], arena)
                }
            case .paths(let paths):
                let parts = paths.enumerated().compactMap { part, path in
                    Pending(.part(field, part), at: path, of: record)
                }
                cell = try? mapping.converters[field].convert(parts, arena)
            case .constant(let value): cell = try? mapping.converters[field].convert(value, arena)
            }
            guard let value = cell?.value, value != .null else {
                if case .key = mapping.inherited { return parent }
                guard let parent, let part = mapping.parentKey.first(where: { $0.field == field })?.part else {
                    return nil
                }
                key.append(parent[part])
                continue
            }
            key.append(value)
        }
        return withExtendedLifetime(arena) { key }
    }

    /// Returns the part of a key that a transformer takes from the values of an array's elements.
    private static func key(from values: [BatchValue]?, by converter: ValueConverter, _ arena: Arena) -> Cell? {
        guard let values, converter.joinsLists else { return nil }
        let json = "[" + values.map(\.json).joined(separator: ",") + "]"
        return try? converter.convert(RemoteScalar.composite(json), arena)
    }
}

extension Mapper.Pending {
    /// Creates the value of one of several paths; nil if the record has none there.
    fileprivate init?(_ binding: PathNode.Binding, at path: RemotePath, of record: BatchValue) {
        if let value = record.value(at: path) {
            let isList = value.tag == .array
            self.init(binding: binding, values: isList ? value.elements : [value], isList: isList)
        } else if let found = record.values(across: path) {
            let values = found.flatMap { $0.tag == .array ? $0.elements : [$0] }
            self.init(binding: binding, values: values, isList: true)
        } else {
            return nil
        }
    }
}
