internal import GRDB
public import StoreContract
internal import Mapping
internal import StoreRules

extension SQLiteStore {
    /// Calls `body` with a run's change of each row, by entity and key.
    ///
    /// - Parameters:
    ///   - run: The run's ID.
    ///   - entity: Returns only this entity's changes; nil for all.
    ///   - body: Called for each row.
    /// - Throws: `StoreError`.
    public func changes(of run: Int64, entity: String? = nil, _ body: (RowChange) throws -> Void) throws {
        try read("reading the changes") { db in
            // With `+`, SQLite reads in the order of the index by key, and need not find and sort the run's changes first.
            let sign = try isLargePart(run, in: db) ? "+" : ""
            let select = RawStatement(
                """
                SELECT \(ChangeRecord.columns) FROM bmo_changes WHERE \(sign)run = ?1 AND (?2 IS NULL OR entity = ?2)
                ORDER BY entity, key, id
                """, on: db.sqliteConnection)
            select.bind(run, at: 1)
            select.bind(entity, at: 2)
            var lists = WholeLists(model, in: db)
            var group: [ChangeRecord] = []
            func flush() throws {
                guard let first = group.first else { return }
                if first.change == .loaded {
                    try body(try load(first, in: db))
                } else if var change = RowChange(group, model) {
                    if !change.links.isEmpty, let last = group.last { try lists.complete(&change, after: last) }
                    try body(change)
                }
                group = []
            }
            while try select.step() {
                let record = try ChangeRecord(select)
                if let last = group.last, !last.isSameRow(as: record) { try flush() }
                group.append(record)
            }
            try flush()
        }
    }

    /// Returns whether a run has about a quarter of all recorded changes or more, judged by the range of their IDs.
    private func isLargePart(_ run: Int64, in db: Database) throws -> Bool {
        try Bool.fetchOne(
            db,
            sql: """
                SELECT 4 * ((SELECT max(id) FROM bmo_changes WHERE run = ?1) - (SELECT min(id) FROM bmo_changes WHERE run = ?1))
                    >= (SELECT max(id) FROM bmo_changes) - (SELECT min(id) FROM bmo_changes)
                """, arguments: [run]) ?? false
    }

    private func load(_ record: ChangeRecord, in db: Database) throws -> RowChange {
        var change = RowChange(load: record)
        if model.index(of: record.entity) != nil {
            change.count = try Int.fetchOne(db, sql: "SELECT count(*) FROM \(SchemaBuilder.quoted(record.entity))")
        }
        return change
    }
}
