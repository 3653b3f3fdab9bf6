internal import Mapping
internal import StoreContract

/// The insertion of runs of new rows, as a listing brings them that is loaded for the first time.
extension EntityWriter {
    /// Inserts the rows from `start`, if as many before them were new, so that these probably are.
    ///
    /// Only rows whose key is SQLite's rowid, which come in the order of the table or against it: the statement changes
    /// few pages of the file then. SQLite copies each of them, in case that it has to undo the statement.
    ///
    /// - Returns: How many rows it inserted, each as ``merge(_:as:over:)`` would have; 0 if they are to be merged one by
    ///   one.
    func insertRun(of rows: [PageRow], from start: Int) throws -> Int {
        guard let insertion = runInsertion, newRows >= insertion.length, rows.count - start >= insertion.length else {
            return 0
        }
        let run = rows[start..<start + insertion.length]
        guard isRun(run), try !triggers.isAny(), try !changes.recordsInsert(layout, isEmpty: beginsLoad) else {
            return 0
        }
        guard try insertion.insert(run) else {
            newRows = 0
            return 0
        }
        if try provenance.concernsNewRows(layout) {
            for row in run { try provenance.noteInsert(layout, row.cells, as: .listed) }
        }
        newRows += run.count
        noteInserted(run.last.flatMap { newRowID(of: $0.cells) })
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
