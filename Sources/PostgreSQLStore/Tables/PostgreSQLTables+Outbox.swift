internal import Mapping
internal import StoreContract
internal import StoreRules

/// The outbox and the accepted edits: few, so that they are read as a whole.
extension PostgreSQLTables {
    private func read(_ table: String) throws -> [StoredEntry] {
        let result = try connection.query(
            "SELECT \(StoredEntry.columns) FROM \(sql.own(table)) ORDER BY id", for: "reading the outbox")
        return try (0..<result.count).map { row in
            guard table == "bmo_outbox" else { return try StoredEntry(result, row, model) }
            return try OutboxEntry.reading(result.bigint(row, 0) ?? 0) { try StoredEntry(result, row, model) }
        }
    }

    private func stored() throws -> [StoredEntry] {
        if let outbox { return outbox }
        let read = counters.hasOutbox ? try read("bmo_outbox") : []
        outbox = read
        return read
    }

    private func change(_ id: Int64, _ body: (inout StoredEntry) -> Void) throws {
        guard let index = try stored().firstIndex(where: { $0.entry.id == id }) else { return }
        if var entry = outbox?[index] {
            body(&entry)
            outbox?[index] = entry
        }
        dirtyEntries.insert(id)
    }

    func entries() throws -> [OutboxEntry] { try stored().map(\.entry) }

    func entries(_ root: Int, _ key: RowKey) throws -> [OutboxEntry] {
        let all = try stored()
        guard !all.isEmpty else { return [] }
        let name = name(root)
        return all.filter { $0.root == name && $0.entry.key == key }.map(\.entry)
    }

    func entry(_ id: Int64) throws -> OutboxEntry? { try stored().first { $0.entry.id == id }?.entry }

    func dependants(of id: Int64) throws -> [OutboxEntry] { try entries().filter { $0.dependsOn.contains(id) } }

    func entries(mentioning key: RowKey) throws -> [OutboxEntry] { try entries() }

    func newestEntryID() throws -> Int64 { try stored().last?.entry.id ?? 0 }

    func nextEntryID() -> Int64 { counters.lastEntry + 1 }

    func add(_ entry: OutboxEntry, root: Int, run: Int64?) throws -> Int64 {
        _ = try stored()
        counters.lastEntry += 1
        var entry = entry
        entry.id = counters.lastEntry
        outbox?.append(StoredEntry(entry: entry, root: name(root), runs: [run].compactMap { $0 }))
        dirtyEntries.insert(entry.id)
        return entry.id
    }

    func update(_ entry: OutboxEntry, run: Int64?) throws {
        try change(entry.id) { stored in
            stored.entry = entry
            if let run, !stored.runs.contains(run) { stored.runs.append(run) }
        }
    }

    func removeEntry(_ entry: OutboxEntry) throws {
        guard try stored().contains(where: { $0.entry.id == entry.id }) else { return }
        outbox?.removeAll { $0.entry.id == entry.id }
        dirtyEntries.insert(entry.id)
        guard entry.operation == .create else { return }
        for other in try dependants(of: entry.id) {
            try change(other.id) { $0.entry.dependsOn.removeAll { $0 == entry.id } }
        }
    }

    func removeDamaged(_ id: Int64) throws -> Bool {
        // If the outbox has been read, no entry is damaged.
        guard outbox == nil, counters.hasOutbox else { return false }
        let table = sql.own("bmo_outbox")
        let found = try connection.query(
            "SELECT \(StoredEntry.columns) FROM \(table) WHERE id = $1::bigint", [.bigint(id)],
            for: "reading the outbox")
        guard found.count > 0, (try? StoredEntry(found, 0, model)) == nil else { return false }
        noteWritten()
        let deleted = try connection.query(
            """
            DELETE FROM \(table) WHERE id = $1::bigint AND operation <> 'create' AND state <> 'sending' RETURNING id
            """, [.bigint(id)], for: "writing the outbox")
        return deleted.count > 0
    }

    func contributingRuns(_ root: Int, _ key: RowKey) throws -> [Int64: Set<Int64>] {
        let name = name(root)
        let own = try stored().filter { $0.root == name && $0.entry.key == key }
        return Dictionary(own.map { ($0.entry.id, Set($0.runs)) }, uniquingKeysWith: { $1 })
    }

    func renameEntries(_ root: Int, from old: RowKey, to new: RowKey, isTemporary: Bool) throws {
        let name = name(root)
        for stored in try stored() where stored.root == name && stored.entry.key == old {
            try change(stored.entry.id) {
                $0.entry.key = new
                $0.entry.hasTemporaryKey = isTemporary
            }
        }
    }

    // MARK: - Accepted edits

    private func accepted() throws -> [StoredEntry] {
        if let acceptedEdits { return acceptedEdits }
        let read = counters.hasAcknowledged ? try read("bmo_acknowledged") : []
        let all = read + newAcceptedEdits
        acceptedEdits = all
        return all
    }

    func acknowledged(_ root: Int, _ key: RowKey, after id: Int64) throws -> [OutboxEntry] {
        let all = try accepted()
        guard !all.isEmpty else { return [] }
        let name = name(root)
        return all.filter { $0.entry.id > id && $0.root == name && $0.entry.key == key }.map(\.entry)
    }

    func addAcknowledged(_ entry: OutboxEntry, root: Int, key: RowKey) throws {
        counters.lastAcknowledged += 1
        var entry = entry
        entry.id = counters.lastAcknowledged
        entry.key = key
        // Nothing is compared for a deleted object.
        if entry.operation == .delete { (entry.changes, entry.links) = ([], []) }
        let stored = StoredEntry(entry: entry, root: name(root))
        acceptedEdits?.append(stored)
        newAcceptedEdits.append(stored)
    }

    func newestAcknowledged() throws -> Int64 {
        guard isForOneQuery else { return try accepted().last?.entry.id ?? 0 }
        return try connection.query(
            "SELECT max(id) FROM \(sql.own("bmo_acknowledged"))", for: "reading accepted edits"
        ).bigint(0, 0) ?? 0
    }

    func acknowledgedCreates() throws -> [(id: Int64, root: Int, key: RowKey)] {
        try accepted().compactMap { stored in
            guard stored.entry.operation == .create, let root = model.index(of: stored.root) else { return nil }
            return (id: stored.entry.id, root: root, key: stored.entry.key)
        }
    }

    func forgetAcknowledged(except ids: Set<Int64>) throws {
        guard try accepted().contains(where: { !ids.contains($0.entry.id) }) else { return }
        noteWritten()
        try connection.query(
            "DELETE FROM \(sql.own("bmo_acknowledged")) WHERE id <> ALL($1::bigint[])", [.bigints(Array(ids))],
            for: "forgetting accepted edits")
        acceptedEdits?.removeAll { !ids.contains($0.entry.id) }
    }

    // MARK: - Writing

    /// Writes the changed entries.
    func flushOutbox() throws {
        for id in dirtyEntries.sorted() {
            noteWritten()
            try connection.query(
                "DELETE FROM \(sql.own("bmo_outbox")) WHERE id = $1::bigint", [.bigint(id)], for: "writing the outbox")
            guard let stored = outbox?.first(where: { $0.entry.id == id }) else { continue }
            counters.hasOutbox = true
            try insert(stored, into: "bmo_outbox")
        }
        dirtyEntries = []
        for stored in newAcceptedEdits {
            noteWritten()
            counters.hasAcknowledged = true
            try insert(stored, into: "bmo_acknowledged")
        }
        newAcceptedEdits = []
    }

    private func insert(_ stored: StoredEntry, into table: String) throws {
        try connection.query(
            "INSERT INTO \(sql.own(table)) (\(StoredEntry.columns)) VALUES (\(StoredEntry.parameters))",
            stored.values, for: "writing the outbox")
    }
}
