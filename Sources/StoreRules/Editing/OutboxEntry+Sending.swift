package import Mapping
package import StoreContract

extension OutboxEntry {
    /// Returns the first entry that may be sent: pending, due, the first of its object, and with all objects that it
    /// refers to on the remote.
    ///
    /// - Parameters:
    ///   - all: All entries, in order of creation.
    ///   - instant: The time as ISO 8601.
    ///   - fits: Returns whether to consider an entry.
    package static func next(
        among all: [OutboxEntry], at instant: String, in model: CompiledModel, where fits: (OutboxEntry) -> Bool
    ) -> OutboxEntry? {
        let ids = Set(all.map(\.id))
        return all.first { entry in
            guard entry.state == .pending, entry.notBefore.map({ $0 <= instant }) ?? true,
                !entry.dependsOn.contains(where: ids.contains), fits(entry)
            else { return false }
            if let root = model.root(of: entry) {
                let first = all.first { model.root(of: $0) == root && $0.key == entry.key }
                if first?.id != entry.id { return false }
            }
            return !entry.waitsForReferences(among: all, in: model)
        }
    }

    /// Returns whether this is a delete, and an earlier undelivered edit adds or removes a reference to the object.
    package func waitsForReferences(among entries: [OutboxEntry], in model: CompiledModel) -> Bool {
        guard operation == .delete, let root = model.root(of: self) else { return false }
        let undelivered: [State] = [.pending, .sending, .unknown]
        return entries.contains { entry in
            // An entry that itself waits for a later one would wait forever.
            guard entry.id < id, undelivered.contains(entry.state), entry.dependsOn.allSatisfy({ $0 < id }),
                let layout = model.index(of: entry.entity).map({ model.entities[$0] })
            else { return false }
            let isReference = layout.toOne.contains { toOne in
                guard model.entities[toOne.target].root == root else { return false }
                let names = layout.fields[toOne.firstField..<toOne.firstField + toOne.fieldCount].map(\.name)
                let changes = names.map { name in entry.changes.first { $0.name == name } }
                return [changes.map { $0?.new }, changes.map { $0?.old }].contains { $0 == key }
            }
            return isReference
                || entry.links.contains { link in
                    let target = layout.toMany.first { $0.name == link.relationship }?.target
                    return target.map { model.entities[$0].root } == root
                        && (link.new.contains(key) || link.old.contains(key))
                }
        }
    }
}
