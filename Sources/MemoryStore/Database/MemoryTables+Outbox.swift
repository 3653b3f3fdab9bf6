internal import Mapping
internal import StoreContract
internal import StoreRules

/// The outbox and the accepted edits.
extension MemoryTables {
    func entries() -> [OutboxEntry] { state.outbox.map(\.entry) }

    func entries(_ root: Int, _ key: RowKey) -> [OutboxEntry] {
        guard !state.outbox.isEmpty else { return [] }
        let name = name(root)
        return state.outbox.filter { $0.root == name && $0.entry.key == key }.map(\.entry)
    }

    func entry(_ id: Int64) -> OutboxEntry? { state.outbox.first { $0.entry.id == id }?.entry }

    func dependants(of id: Int64) -> [OutboxEntry] { entries().filter { $0.dependsOn.contains(id) } }

    func entries(mentioning key: RowKey) -> [OutboxEntry] { entries() }

    func newestEntryID() -> Int64 { state.outbox.last?.entry.id ?? 0 }

    func nextEntryID() -> Int64 { state.lastEntry + 1 }

    func add(_ entry: OutboxEntry, root: Int, run: Int64?) -> Int64 {
        state.lastEntry += 1
        var entry = entry
        entry.id = state.lastEntry
        state.outbox.append(
            DatabaseState.StoredEntry(entry: entry, root: name(root), runs: [run].compactMap { $0 }))
        return entry.id
    }

    func update(_ entry: OutboxEntry, run: Int64?) {
        guard let index = state.outbox.firstIndex(where: { $0.entry.id == entry.id }) else { return }
        state.outbox[index].entry = entry
        if let run, !state.outbox[index].runs.contains(run) { state.outbox[index].runs.append(run) }
    }

    func removeEntry(_ entry: OutboxEntry) {
        state.outbox.removeAll { $0.entry.id == entry.id }
        guard entry.operation == .create else { return }
        for index in state.outbox.indices { state.outbox[index].entry.dependsOn.removeAll { $0 == entry.id } }
    }

    func waitingRuns(_ root: Int, _ key: RowKey) -> Set<Int64> {
        let name = name(root)
        return Set(
            state.outbox.filter { $0.root == name && $0.entry.key == key && $0.entry.isAtRest }.flatMap(\.runs))
    }

    func renameEntries(_ root: Int, from old: RowKey, to new: RowKey, isTemporary: Bool) {
        let name = name(root)
        for index in state.outbox.indices where state.outbox[index].root == name && state.outbox[index].entry.key == old
        {
            state.outbox[index].entry.key = new
            state.outbox[index].entry.hasTemporaryKey = isTemporary
        }
    }

    func acknowledged(_ root: Int, _ key: RowKey, after id: Int64) -> [OutboxEntry] {
        guard !state.acknowledged.isEmpty else { return [] }
        let name = name(root)
        return state.acknowledged.filter { $0.entry.id > id && $0.root == name && $0.key == key }.map(\.entry)
    }

    func newestAcknowledged() -> Int64 { state.acknowledged.last?.entry.id ?? 0 }

    func forgetAcknowledged() { state.acknowledged = [] }

    func addAcknowledged(_ entry: OutboxEntry, root: Int, key: RowKey) {
        state.lastAcknowledged += 1
        var entry = entry
        entry.id = state.lastAcknowledged
        // Nothing is compared for a deleted object.
        if entry.operation == .delete { (entry.changes, entry.links) = ([], []) }
        state.acknowledged.append(DatabaseState.AcceptedEdit(entry: entry, root: name(root), key: key))
    }
}
