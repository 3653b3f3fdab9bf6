internal import Mapping
internal import StoreContract
internal import StoreRules

/// The stored rows that a batch of a page is merged into.
extension PostgreSQLTables {
    func prefetch(_ root: Int, mergedWith batch: [PageRow]) throws {
        let table = try table(root)
        let fields = table.layout.key
        let keys = batch.lazy.map { row in fields.map { row.cells[$0].value ?? .null } }
        if table.isNumbered {
            try fetch(table, batch.map { $0.cells[fields[0]] }.filter { $0.storage == .integer }.map(\.integer))
        } else {
            try prefetch(root, keys)
        }
        try prefetchState(root, keys)
        try prefetchEntries(name(root), keys)
    }

    func numberOfSameRow(_ root: Int, as cells: UnsafeBufferPointer<Cell>) -> Int64? {
        guard !mayHaveEdits, let number = fetched(root)?.numberOfSameRow(as: cells), isBare(root, number) else {
            return nil
        }
        return number
    }

    /// Returns what was read of a table whose key is one integer.
    private func fetched(_ root: Int) -> FetchedRows? {
        if let last = lastFetched, last.root == root { return last }
        lastFetched = fetched[root]
        return lastFetched
    }

    // MARK: - New rows

    func insertNewRow(_ root: Int, _ cells: UnsafeBufferPointer<Cell>) throws -> Int64? {
        guard let fetched = fetched(root), referrers.isEmpty, !mayHaveEdits else { return nil }
        let key = cells[fetched.keyColumn]
        guard key.kind == .integer, fetched.isMissing(key.integer), isBare(root, key.integer), sql.canInsertFirst(root)
        else { return nil }
        let new = try fetched.newRows ?? NewRows(table(root))
        guard new.add(cells) else { return nil }
        if fetched.newRows == nil {
            fetched.newRows = new
            newRows[root] = new
        }
        fetched.noteNew(key.integer)
        if scopeRows[root] != nil {
            let values = cells.map { $0.value ?? .null }
            scopeRows[root]?.note(key.integer, [.integer(key.integer)], from: nil, to: values)
        }
        if sql.engine.foreignKeys != .immediate {
            if new.count == Self.newRowsPerStatement || new.size > Self.newBytesPerStatement { try insertNewRows(root) }
        } else if new.count == Self.rowsPerStatement || new.size > sql.engine.longestStatement / 2 {
            try flush(root)
        }
        return key.integer
    }

    /// The number of new rows, and of their bytes, that are sent at once: the server inserts them while the page goes on.
    private static let newRowsPerStatement = 500
    private static let newBytesPerStatement = 1 << 20

    /// Inserts the new rows of a table.
    func insertNewRows(_ root: Int) throws {
        guard let new = newRows.removeValue(forKey: root) else { return }
        noteWritten()
        try connection.send(try table(root).insert, new.parameters, for: "writing rows of \(name(root))")
        // A question about one of them is answered by the database.
        fetched[root]?.forgetNewRows(areWritten: true)
    }

    /// Gives the new rows of a table their values, as one of them is asked for.
    func keepValues(ofNewRowsOf root: Int) throws {
        guard let new = newRows.removeValue(forKey: root) else { return }
        fetched[root]?.forgetNewRows(areWritten: false)
        let table = try table(root)
        for encoded in new.rows() {
            let values = zip(table.codecs, encoded).map { codec, bytes in
                bytes?.withUnsafeBytes { codec.decode($0) } ?? .null
            }
            let key = table.key(0, values)
            guard case .integer(let number)? = key.first else { continue }
            rows[root, default: [:]][key] = CachedRow(
                number: number, values: values, encoded: encoded, isStored: false, isDirty: true)
            dirtyRows[root, default: []].insert(key)
        }
    }

    var mayHaveEdits: Bool {
        (outbox.isComplete ? !outbox.isEmpty : counters.hasOutbox)
            || (acceptedEdits.map { !$0.isEmpty } ?? counters.hasAcknowledged) || !newAcceptedEdits.isEmpty
    }

    /// Returns whether a row is as it was read, and nothing else is known about its object.
    private func isBare(_ root: Int, _ number: Int64) -> Bool {
        // Mostly all are empty, and need no look-up.
        let isUsed = !rows.isEmpty && rows[root]?.isEmpty == false
        let mayBeStub =
            !hasStubs.isEmpty && hasStubs.contains(root) || !stubs.isEmpty && stubs[root]?.isEmpty == false
        let mayHaveSources = !hasSources.isEmpty && hasSources.contains(root) || !sources.isEmpty
        guard isUsed || mayBeStub || mayHaveSources else { return true }
        let key: RowKey = [.integer(number)]
        if isUsed, rows[root]?[key] != nil { return false }
        // What is not known yet counts as there.
        if mayBeStub, stubs[root]?[key] ?? hasStubs.contains(root) { return false }
        guard mayHaveSources else { return true }
        return sources[RowReference(root: root, key: key)]?.isEmpty ?? !hasSources.contains(root)
    }
}
