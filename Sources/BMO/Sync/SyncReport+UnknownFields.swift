internal import Model
internal import StoreContract

extension SyncReport {
    /// Adds a warning of fields that are new in the records of an entity and that no attribute reads.
    ///
    /// The entity may be one whose objects came in the listing of another, as those of a sub-entity do. If none of them was
    /// imported, the other one has the warning.
    mutating func noteUnknownFields(
        _ unknown: [UnknownFieldRecord], of model: Model, _ report: @Sendable (SyncEvent) -> Void
    ) {
        let fields = Dictionary(grouping: unknown, by: \.entity)
        for (entity, fields) in fields.sorted(by: { $0.key < $1.key }) {
            let shown = fields.prefix(20).map(\.path).joined(separator: ", ")
            let more = fields.count > 20 ? ", and \(fields.count - 20) more" : ""
            let isOne = fields.count == 1
            let message =
                "records have \(isOne ? "a field" : "\(fields.count) fields") that no attribute reads: \(shown)\(more); "
                + "`extra: true` would keep \(isOne ? "it" : "them")"
            if let index = entities.firstIndex(where: { $0.name == entity }) {
                entities[index].warnings.append(message)
            } else if let listed = model.entity(named: entity).map(model.scanned),
                let index = entities.firstIndex(where: { $0.name == listed.name })
            {
                entities[index].warnings.append("\(entity): \(message)")
            }
            report(.warning(entity: entity, message: message))
        }
    }
}
