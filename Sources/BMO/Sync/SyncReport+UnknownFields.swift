internal import StoreContract

extension Workspace {
    /// Warns of fields that are new in the records and that no attribute reads.
    func noteUnknownFields(
        _ unknown: [UnknownFieldRecord], _ results: inout [String: SyncReport.Entity],
        _ report: @Sendable (SyncEvent) -> Void
    ) {
        let fields = Dictionary(grouping: unknown, by: \.entity)
        for (entity, fields) in fields.sorted(by: { $0.key < $1.key }) {
            let shown = fields.prefix(20).map(\.path).joined(separator: ", ")
            let more = fields.count > 20 ? ", and \(fields.count - 20) more" : ""
            let isOne = fields.count == 1
            let message =
                "records have \(isOne ? "a field" : "\(fields.count) fields") that no attribute reads: \(shown)\(more); "
                + "`extra: true` would keep \(isOne ? "it" : "them")"
            results[entity]?.warnings.append(message)
            report(.warning(entity: entity, message: message))
        }
    }
}
