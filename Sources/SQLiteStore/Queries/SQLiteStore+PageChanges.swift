internal import GRDB
public import StoreContract
internal import StoreRules

extension SQLiteStore {
    /// Returns the ID of the newest recorded change, before a page begins.
    ///
    /// - Throws: `StoreError`.
    public func newestChange() throws -> Int64 {
        try read("reading the changes") { db in
            try Int64.fetchOne(db, sql: "SELECT max(id) FROM bmo_changes") ?? 0
        }
    }

    /// Returns what this store's run changed after a recorded change, row by row; call it between two pages.
    ///
    /// - Parameters:
    ///   - number: The result of ``newestChange()`` before the page.
    ///   - limit: The maximum number of change records to read.
    /// - Throws: `StoreError`.
    public func changes(after number: Int64, limit: Int) throws -> [RowChange] {
        guard
            let run = try SQLiteStore.translating(
                "reading the run", { try writer.writeWithoutTransaction { _ in try writers.changes.currentID } })
        else { return [] }
        return try read("reading the changes") { db in
            let select = RawStatement(
                """
                SELECT \(ChangeRecord.columns) FROM
                    (SELECT * FROM bmo_changes WHERE id > ?1 AND run = ?2 ORDER BY id LIMIT ?3)
                ORDER BY entity, key, id
                """, on: db.sqliteConnection)
            select.bind(number, at: 1)
            select.bind(run, at: 2)
            select.bind(Int64(limit), at: 3)
            var changes: [RowChange] = []
            var group: [ChangeRecord] = []
            func flush() {
                if group.first?.change != .loaded, let change = RowChange(group, model) { changes.append(change) }
                group = []
            }
            while try select.step() {
                let record = try ChangeRecord(select)
                if let last = group.last, !last.isSameRow(as: record) { flush() }
                group.append(record)
            }
            flush()
            return changes
        }
    }
}
