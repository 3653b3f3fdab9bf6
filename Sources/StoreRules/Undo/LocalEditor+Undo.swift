internal import Mapping
package import StoreContract

/// The undo of local edits that were not pushed yet.
extension LocalEditor {
    /// Reverts a run's changes, and updates the outbox accordingly.
    ///
    /// - Parameter earlier: The changes of the same objects by earlier runs of edits, by the runs' IDs.
    /// - Throws: ``UndoRefusal`` if the rows have changed since; ``StoreError`` if an edit was sent.
    package func undo(_ changes: [RowChange], of run: Int64, earlier: [Int64: [RowChange]]) throws {
        var conflicts: [UndoConflict] = []
        var creates: [Int64] = []
        let earlier = EarlierNames(earlier)
        for change in RowChange.inOrderOfReversal(changes) {
            if let reason = try takeBack(change, of: run, earlier, dropping: &creates) {
                conflicts.append(
                    UndoConflict(entity: change.entity, key: JSONText.key(change.key).string, reason: reason))
            }
        }
        guard conflicts.isEmpty else { throw UndoRefusal(run: run, conflicts: conflicts, count: conflicts.count) }
        // New objects may refer to each other, so that none of them can be dropped before the others.
        try drop(creates)
    }

    /// Makes the edit that reverts a run's change of a row; returns the reason if that is impossible.
    ///
    /// - Parameter creates: Gets the entries that are dropped with all others that created objects.
    private func takeBack(
        _ change: RowChange, of run: Int64, _ earlier: EarlierNames, dropping creates: inout [Int64]
    ) throws -> String? {
        guard let index = model.index(of: change.entity) else { return "the configuration has no such entity any more" }
        let root = model.entities[index].root
        let key = change.key
        let layout = model.entities[root]
        if let name = Self.unknownName(in: change, layout) {
            return "the configuration has no \(change.entity).\(name) any more"
        }
        let entries = try outbox.entries(root, key)
        let contributing = try outbox.contributingRuns(root, key)
        var own = entries.filter { contributing[$0.id]?.contains(run) == true }
        if own.contains(where: { !$0.takesEdits }) { own = [] }
        let runs = Set(entries.filter(\.isAtRest).flatMap { contributing[$0.id] ?? [] })
        let row = try objects.row(root, key)
        let found = try conflicts.conflicts(root, key)
        let edited = earlier.names(of: change, in: runs.filter { $0 < run })
        let reversal = try EditReversal(
            change, own, row: row, layout, isFirst: { !edited.contains($0) },
            remote: { name in
                guard let value = found.first(where: { $0.column == name })?.remote else { return nil }
                guard let toMany = layout.toMany.first(where: { $0.name == name }) else { return .value(value) }
                return .list(try keys(value, toMany))
            },
            list: { try objects.list(root, $0, of: key) })
        switch reversal {
        case .refused(let reason): return reason
        case .restore(let columns, let lists):
            guard let entry = own.last else { return nil }
            try drop(entry)
            try conflicts.removeConflicts(root, key)
            try restore(entry, root)
            try edit(entry.entity, key, columns, lists)
        case .dropCreate: creates += own.map(\.id)
        case .edit(let columns, let lists): try edit(own.last?.entity ?? change.entity, key, columns, lists)
        }
        return nil
    }

    /// Returns a column or list that a change has set, and that the configuration does not have any more; nil without one.
    private static func unknownName(in change: RowChange, _ layout: EntityLayout) -> String? {
        guard [.updated, .relinked].contains(change.kind) else { return nil }
        let lists = Set(layout.toMany.map(\.name))
        if let list = change.links.first(where: { !lists.contains($0.relationship) }) { return list.relationship }
        let fields = Set(layout.fields.map(\.name))
        return change.columns.first { !fields.contains($0.name) }?.name
    }

    private func edit(
        _ entity: String, _ key: [StoredValue], _ columns: [RowChange.Column],
        _ lists: [(relationship: String, keys: [[StoredValue]])]
    ) throws {
        _ = try make(
            LocalEdit(
                .update, entity: entity, key: key,
                values: Dictionary(columns.map { ($0.name, $0.old ?? .null) }, uniquingKeysWith: { $1 }),
                links: Dictionary(lists.map { ($0.relationship, $0.keys) }, uniquingKeysWith: { $1 })))
    }
}

/// The names of the columns and lists that earlier runs set, by object.
private struct EarlierNames {
    private struct Object: Hashable {
        let entity: String
        let key: [StoredValue]

        init(_ change: RowChange) { (entity, key) = (change.entity, change.key) }
    }

    private var names: [Object: [Int64: Set<String>]] = [:]

    init(_ changes: [Int64: [RowChange]]) {
        for (run, changes) in changes {
            for change in changes {
                names[Object(change), default: [:]][run, default: []]
                    .formUnion(change.columns.map(\.name) + change.links.map(\.relationship))
            }
        }
    }

    /// Returns what runs set in a change's object.
    func names(of change: RowChange, in runs: Set<Int64>) -> Set<String> {
        let byRun = names[Object(change)] ?? [:]
        return runs.reduce(into: []) { $0.formUnion(byRun[$1] ?? []) }
    }
}
