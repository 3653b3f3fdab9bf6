internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract

extension PushRequest {
    /// Returns the members that records of an entity have; nil if they are too many to be known.
    ///
    /// They are those that the mapping reads, those that scans have seen, and those in the row's column of extra members. Of
    /// an entity that keeps extra members, scans note none, and a new row has none yet.
    ///
    /// - Throws: ``StoreError``.
    static func recordMembers(
        _ operation: OutboxEntry.Operation, _ index: Int, _ row: [String: StoredValue], in model: CompiledModel,
        _ store: any Store
    ) throws -> [String]? {
        let root = model.model.root(of: model.model.entities[index])
        guard operation != .create || !root.keepsExtra else { return nil }
        let related = Set(model.family(of: index).map { model.entities[$0].name })
        var members = OutgoingPlan(of: index, in: model).mappedMembers
        for field in try store.unknownFields() where related.contains(field.entity) {
            // The store keeps the names of so many fields, and one that stands for all others.
            guard !field.path.hasPrefix("(") else { return nil }
            members.insert(String(field.path.prefix { $0 != "." && $0 != "[" }))
        }
        if root.keepsExtra, case .json(let extra)? = row[Entity.extraColumn], let batch = try? JSONParser.batch(extra) {
            members.formUnion(withExtendedLifetime(batch) { batch[0].members.map(\.key) })
        }
        return members.sorted()
    }
}
