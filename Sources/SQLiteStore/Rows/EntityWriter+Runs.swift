internal import Mapping
internal import StoreContract

/// The insertion of runs of new rows, as a listing brings them that is loaded for the first time.
extension EntityWriter {
    /// Inserts the rows from `start`, if as many before them were new, so that these probably are.
    ///
    /// Only rows whose key is SQLite's rowid, which come in the order of the table or against it.
    ///
    /// - Returns: How many rows it inserted, each as ``merge(_:as:over:)`` would have; 0 if they are to be merged one by
    ///   one.
    func insertRun(of rows: [PageRow], from start: Int) throws -> Int {
        guard let insertion = runInsertion, newRows >= insertion.length, rows.count - start >= insertion.length else {
            return 0
        }
        // Those before it were new, so that what this says of the table was asked for already.
        guard try !changes.recordsInsert(layout, isEmpty: beginsLoad), try !triggers.isAny() else { return 0 }
        let all = rows[start..<start + insertion.length]
        guard isRun(all) else { return 0 }
        let run = all.prefix(try insertion.insert(all))
        // The next row is one that a constraint forbids.
        if run.count < all.count { newRows = 0 }
        guard let last = run.last else { return 0 }
        guard newRowID(of: last.cells) == insertion.lastInsertedRow else {
            throw StoreError(
                .schema, "the key of \(layout.name) is not its rowid any more",
                remedy: "`bmo migrate` shows how the tables differ")
        }
        if try provenance.concernsNewRows(layout) {
            for row in run { try provenance.noteInsert(layout, row.cells, as: .listed) }
        }
        if run.count == all.count { newRows += run.count }
        noteInserted(insertion.lastInsertedRow)
        return run.count
    }

    /// Returns the rowid that a new row with these cells gets; nil if SQLite chooses one.
    func newRowID(of cells: UnsafeBufferPointer<Cell>) -> Int64? {
        guard layout.key.count == 1, case let key = cells[layout.key[0]], key.kind == .integer else { return nil }
        return key.integer
    }

    /// Returns whether nothing speaks against one statement for all of these rows.
    private func isRun(_ rows: ArraySlice<PageRow>) -> Bool {
        guard !editCounts.isAny, let first = rows.first, var last = lastRow, let second = newRowID(of: first.cells)
        else {
            return false
        }
        let isUpwards = second > last
        for row in rows {
            guard row.entity == first.entity, row.role == .listed, row.listing == nil,
                let next = newRowID(of: row.cells), isUpwards ? next > last : next < last,
                layout.extra.map({ !row.cells[$0].isPatch }) ?? true
            else { return false }
            last = next
        }
        return true
    }
}
