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
            let numbers = batch.lazy.map { $0.cells[fields[0]] }.filter { $0.storage == .integer }.map(\.integer)
            try fetch(table, Set(numbers))
        } else {
            try prefetch(root, keys)
        }
        try prefetchState(root, keys)
    }

    func numberOfSameRow(_ root: Int, as cells: UnsafeBufferPointer<Cell>) -> Int64? {
        guard !hasEdits, let number = fetched[root]?.numberOfSameRow(as: cells), isBare(root, number) else {
            return nil
        }
        return number
    }

    // MARK: - New rows

    func insertNewRow(_ root: Int, _ cells: UnsafeBufferPointer<Cell>) throws -> Int64? {
        guard let table = sql.rows[root], table.isNumbered, referrers.isEmpty, !hasEdits else { return nil }
        let number = cells[table.layout.key[0]].integer
        guard fetched[root]?.isMissing(number) == true, isBare(root, number), sql.canInsertFirst(root) else {
            return nil
        }
        let new = newRows[root] ?? NewRows(table)
        guard new.add(cells) else { return nil }
        newRows[root] = new
        if new.count == Self.rowsPerStatement || new.size > sql.engine.longestStatement / 2 { try flush(root) }
        return number
    }

    /// Inserts the new rows of a table.
    func insertNewRows(_ root: Int) throws {
        guard let new = newRows.removeValue(forKey: root) else { return }
        noteWritten()
        try connection.query(try table(root).upsert, new.parameters, for: "writing rows of \(name(root))")
        // A question about one of them is answered by the database.
        fetched[root]?.forget(new.numbers)
    }

    /// Gives the new rows of a table their values, as one of them is asked for.
    func keepValues(ofNewRowsOf root: Int) throws {
        guard let new = newRows.removeValue(forKey: root) else { return }
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

    /// Whether there may be edits of any object.
    private var hasEdits: Bool {
        (outbox.map { !$0.isEmpty } ?? counters.hasOutbox)
            || (acceptedEdits.map { !$0.isEmpty } ?? counters.hasAcknowledged) || !newAcceptedEdits.isEmpty
    }

    /// Returns whether a row is as it was read, and nothing else is known about its object.
    private func isBare(_ root: Int, _ number: Int64) -> Bool {
        let isUsed = rows[root]?.isEmpty == false
        let mayBeStub = hasStubs.contains(root) || stubs[root]?.isEmpty == false
        let mayHaveSources = hasSources.contains(root) || !sources.isEmpty
        guard isUsed || mayBeStub || mayHaveSources else { return true }
        let key: RowKey = [.integer(number)]
        if isUsed, rows[root]?[key] != nil { return false }
        // What is not known yet counts as there.
        if mayBeStub, stubs[root]?[key] ?? hasStubs.contains(root) { return false }
        guard mayHaveSources else { return true }
        return sources[RowReference(root: root, key: key)]?.isEmpty ?? !hasSources.contains(root)
    }
}
