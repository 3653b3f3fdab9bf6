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
        var references = WaitingReferences(model)
        var added = 0
        return all.enumerated().first { place, entry in
            guard entry.state == .pending, entry.notBefore.map({ $0 <= instant }) ?? true,
                !entry.dependsOn.contains(where: ids.contains), fits(entry)
            else { return false }
            if let root = model.root(of: entry) {
                let first = all.first { $0.key == entry.key && model.root(of: $0) == root }
                if first?.id != entry.id { return false }
            }
            guard entry.operation == .delete else { return true }
            for earlier in all[added..<place] { references.add(earlier) }
            added = place
            return !references.hold(entry)
        }?.element
    }
}

/// The references that undelivered edits add or remove: a later delete of the object that they refer to waits for them.
package struct WaitingReferences {
    private let model: CompiledModel
    /// By object, the newest entry for which an edit with such a reference itself waits: the least of several edits.
    private var awaited: [RowReference: Int64] = [:]

    package init(_ model: CompiledModel) { self.model = model }

    /// Adds the references of an entry; entries are added in order of creation.
    package mutating func add(_ entry: OutboxEntry) {
        guard [.pending, .sending, .unknown].contains(entry.state),
            let layout = model.index(of: entry.entity).map({ model.entities[$0] })
        else { return }
        let newest = entry.dependsOn.max() ?? .min
        func note(_ target: Int, _ key: RowKey) {
            let object = RowReference(root: model.entities[target].root, key: key)
            awaited[object] = min(awaited[object] ?? newest, newest)
        }
        for toOne in layout.toOne {
            let names = layout.fields[toOne.firstField..<toOne.firstField + toOne.fieldCount].map(\.name)
            let changes = names.compactMap { name in entry.changes.first { $0.name == name } }
            for key in [changes.compactMap(\.new), changes.compactMap(\.old)] where key.count == names.count {
                note(toOne.target, key)
            }
        }
        for link in entry.links {
            guard let target = layout.toMany.first(where: { $0.name == link.relationship })?.target else { continue }
            for key in link.new + link.old { note(target, key) }
        }
    }

    /// Returns whether a delete waits for one of the added edits.
    package func hold(_ entry: OutboxEntry) -> Bool {
        guard entry.operation == .delete, let root = model.root(of: entry) else { return false }
        // An edit that itself waits for a later one would wait forever.
        return awaited[RowReference(root: root, key: entry.key)].map { $0 < entry.id } ?? false
    }
}
