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
                cell = record.value(at: path).flatMap { try? mapping.converters[field].convert($0, arena) }
            case .paths: cell = nil
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
}
