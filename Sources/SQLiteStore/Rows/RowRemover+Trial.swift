internal import Mapping
internal import Model
internal import StoreContract

/// The trial of deletions, which finds the rows that the database does not let go.
extension RowRemover {
    /// Returns why rows, and those that go with them, cannot be deleted.
    ///
    /// SQLite says so only when a row is deleted. So all are deleted as ``remove(_:of:evenIfIgnored:refusals:)`` does
    /// it, and that is taken back, until those that are left can be deleted without the others.
    func refusals(of rows: [Int64], _ root: Int, evenIfIgnored: Bool = false) throws -> [RowName: StoreError] {
        guard !rows.isEmpty, try canRefuse(root) else { return [:] }
        var refused: [RowName: StoreError] = [:]
        while true {
            let found = try attempt(rows, root, without: refused, evenIfIgnored: evenIfIgnored)
            guard !found.isEmpty else { return refused }
            refused.merge(found) { first, _ in first }
        }
    }

    /// Returns whether anything can refuse the deletion of a root's rows, or of those that go with them.
    func canRefuse(_ root: Int) throws -> Bool {
        var roots = [root]
        var place = 0
        while place < roots.count {
            if try rowEditors.deletionGuard.canRefuse(roots[place]) { return true }
            for child in children[roots[place]] ?? [] where !roots.contains(child.root) { roots.append(child.root) }
            place += 1
        }
        return false
    }

    private func attempt(
        _ rows: [Int64], _ root: Int, without refused: [RowName: StoreError], evenIfIgnored: Bool
    ) throws -> [RowName: StoreError] {
        try emptyPendingDeletions()
        try execute("SAVEPOINT bmo_trial")
        let pending = try doomAll(rows, root, without: refused, evenIfIgnored: evenIfIgnored)
        for row in pending {
            for index in try takenLists(row.root) { try linkWriters(row.root, index).removeUnrecorded(of: row.key) }
        }
        try markStaying(pending)
        var found: [RowName: StoreError] = [:]
        for row in pending where try !staysReferred(row) {
            try rowEditors.unused.remove(to: model.entities[row.root], row.key)
            if let refusal = try rowEditors.deletionGuard.refusal(row.root, row.row) {
                found[RowName(root: row.root, row: row.row)] = refusal
            }
        }
        try execute("ROLLBACK TO bmo_trial")
        try execute("RELEASE bmo_trial")
        return found
    }

    /// Notes the rows to delete, and those that go with them, in the order of their deletion.
    private func doomAll(
        _ rows: [Int64], _ root: Int, without refused: [RowName: StoreError], evenIfIgnored: Bool
    ) throws -> [PendingDeletion] {
        var pending: [PendingDeletion] = []
        var visited: Set<RowName> = []
        try visit(rows, root, evenIfIgnored: evenIfIgnored) { name, key, mode in
            guard refused[name] == nil, mode != .ignore, visited.insert(name).inserted else { return false }
            if mode == .hard {
                try doom(name.root, name.row)
                pending.append(PendingDeletion(root: name.root, row: name.row, key: key))
            }
            return true
        }
        return pending
    }

    /// Marks the rows that stay as stubs, as the columns that another program has added to them still refer to others.
    func markStaying(_ pending: [PendingDeletion]) throws {
        let roots = Set(pending.map(\.root))
        guard try roots.contains(where: { try rowEditors.deletionGuard.isReferredByOurs($0) }) else { return }
        let mark = statement("UPDATE temp.bmo_doomed SET stays = 1 WHERE entity = ? AND row = ? AND stays = 0")
        var hasMarked = true
        while hasMarked {
            hasMarked = false
            for row in pending where try staysReferred(row) {
                mark.bind(Int64(row.root), at: 1)
                mark.bind(row.row, at: 2)
                if try mark.run() > 0 { hasMarked = true }
            }
        }
    }
}
