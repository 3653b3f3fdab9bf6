internal import Mapping
internal import StoreContract
internal import StoreRules

/// The outbox and the accepted edits.
extension MemoryTables {
    func entries() -> [OutboxEntry] { state.outbox.map(\.entry) }

    func nextToSend(
        at instant: String, of entities: Set<String>?, among ids: Set<Int64>?, where fits: (OutboxEntry) -> Bool
    ) -> OutboxEntry? {
        OutboxEntry.next(among: entries(), at: instant, in: model, where: fits)
    }

    func entries(_ root: Int, _ key: RowKey) -> [OutboxEntry] {
        guard !state.outbox.isEmpty else { return [] }
        let name = name(root)
        return state.outbox.filter { $0.root == name && $0.entry.key == key }.map(\.entry)
    }

    func entry(_ id: Int64) -> OutboxEntry? { state.outbox.first { $0.entry.id == id }?.entry }

    func dependants(of id: Int64) -> [OutboxEntry] { entries().filter { $0.dependsOn.contains(id) } }

    func entries(of entities: [String], mentioning key: RowKey) -> [OutboxEntry] {
        entries().filter { entities.contains($0.entity) }
    }

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

    func contributingRuns(_ root: Int, _ key: RowKey) -> [Int64: Set<Int64>] {
        let name = name(root)
        let own = state.outbox.filter { $0.root == name && $0.entry.key == key }
        return Dictionary(own.map { ($0.entry.id, Set($0.runs)) }, uniquingKeysWith: { $1 })
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

    func acknowledgedCreates() -> [(id: Int64, root: Int, key: RowKey)] {
        state.acknowledged.compactMap { edit in
            guard edit.entry.operation == .create, let root = model.index(of: edit.root) else { return nil }
            return (id: edit.entry.id, root: root, key: edit.key)
        }
    }

    func forgetAcknowledged(except ids: Set<Int64>) { state.acknowledged.removeAll { !ids.contains($0.entry.id) } }

    func addAcknowledged(_ entry: OutboxEntry, root: Int, key: RowKey) {
        state.lastAcknowledged += 1
        var entry = entry
        entry.id = state.lastAcknowledged
        // Nothing is compared for a deleted object.
        if entry.operation == .delete { (entry.changes, entry.links) = ([], []) }
        state.acknowledged.append(DatabaseState.AcceptedEdit(entry: entry, root: name(root), key: key))
    }
}
