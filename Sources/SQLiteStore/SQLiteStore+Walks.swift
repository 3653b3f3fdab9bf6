internal import GRDB
public import Importer
public import Mapping

extension SQLiteStore {
    /// Where a walk stands, if it is not over and the place is not older than an hour.
    ///
    /// After that the pages before it are no longer fresh, and the remote may have turned its pages. Nor is a place good
    /// for a file whose rows have new numbers: that was changed by VACUUM, or has other tables.
    ///
    /// - Throws: ``StoreError``.
    public func progress(of scope: WalkScope) throws -> WalkProgress? {
        try read("reading the walk's place") { db in
            let version = try Int64.fetchOne(db, sql: "PRAGMA schema_version")
            let select = try RawStatement(
                """
                SELECT cursor, page, request, newest, newest_remote, began FROM bmo_progress
                WHERE entity = ? AND source = ? AND parent = ? AND saved > ? AND schema_version = ?
                """, on: db.sqliteConnection)
            select.bind(scope)
            select.bind(Clock.text(secondsAgo: 3600), at: 4)
            select.bind(optional: version, at: 5)
            guard try select.step() else { return nil }
            return WalkProgress(
                cursor: select.text(0) ?? "", page: Int(select.int64(1)), request: select.text(2) ?? "",
                newest: Watermark(select, local: 3, remote: 4), began: select.text(5) ?? "")
        }
    }

    /// Forgets where a walk stands: the next one begins at the beginning.
    ///
    /// - Throws: ``StoreError``.
    public func forgetProgress(of scope: WalkScope) throws {
        try SQLiteStore.translating("forgetting the walk's place") {
            try writer.writeWithoutTransaction { db in
                for table in ["bmo_progress", "bmo_seen"] {
                    let values: StatementArguments = [scope.entity, scope.source, scope.parent]
                    let found = "FROM \(table) WHERE entity = ? AND source = ? AND parent = ?"
                    // A delete that finds nothing still takes the write lock: look first.
                    guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 \(found))", arguments: values) == true
                    else { continue }
                    try db.execute(sql: "DELETE \(found)", arguments: values)
                }
            }
        }
    }

    /// Deletes what a walk brought that was interrupted and is not gone on with, of an entity without a key: the next walk
    /// brings it again, as other rows.
    ///
    /// A file whose rows have new numbers since keeps them.
    ///
    /// - Returns: How many rows were deleted.
    /// - Throws: ``StoreError``.
    public func takeBackAbandoned(_ scope: WalkScope, of entity: Int, as source: PageSource) throws -> Int {
        // Looked for first: who begins a page takes the write lock.
        let isThere = try read("looking for an interrupted walk") { db in
            try Bool.fetchOne(
                db,
                sql: """
                    SELECT EXISTS (
                        SELECT 1 FROM bmo_progress JOIN bmo_seen USING (entity, source, parent)
                        WHERE entity = ? AND source = ? AND parent = ?
                            AND schema_version = (SELECT schema_version FROM pragma_schema_version()))
                    """, arguments: [scope.entity, scope.source, scope.parent])
        }
        guard isThere == true else { return 0 }
        let page = try beginOwnPage()
        do {
            var count = 0
            try page.access {
                try page.setSource(source)
                count = try page.takeBack(scope, of: entity)
            }
            try page.commit()
            return count
        } catch {
            page.rollback()
            throw error
        }
    }

    /// What an earlier walk left for the next one.
    ///
    /// - Throws: ``StoreError``.
    public func cursor(of scope: WalkScope) throws -> WalkCursor? {
        try read("reading the walk's cursor") { db in
            try CursorTable(on: db.sqliteConnection).cursor(of: scope)
        }
    }

    /// The number of the newest edit that the remote took while walks were on their way, for
    /// ``WalkTarget/acknowledged``; read it before the remote is asked.
    ///
    /// - Throws: ``StoreError``.
    public func newestAcknowledged() throws -> Int64 {
        try read("reading what the remote took") { db in
            try Int64.fetchOne(db, sql: "SELECT max(id) FROM bmo_acknowledged") ?? 0
        }
    }

    /// Forgets the edits that the remote took during walks that are over; who begins to walk has the file's lock.
    func forgetAcknowledged(_ db: Database) throws {
        // Looked for first: a run that has nothing to write takes no lock of SQLite's.
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM bmo_acknowledged)") == true else { return }
        try inTransaction(db) {
            try writers.refresh()
            try writers.acknowledged.forget()
        }
    }

    /// Begins to note which rows a walk lists, so that what it lacks can be told when it has finished.
    ///
    /// - Parameters:
    ///   - scope: What is walked.
    ///   - page: The page after which an earlier walk is taken up again: what it listed counts.
    /// - Throws: ``StoreError``.
    public func beginWalk(_ scope: WalkScope, afterPage page: Int?) throws {
        try SQLiteStore.translating("beginning a walk") {
            try writer.writeWithoutTransaction { _ in try writers.walks.begin(scope, afterPage: page) }
        }
    }

    /// Ends what ``beginWalk(_:afterPage:)`` began.
    public func endWalk(_ scope: WalkScope) {
        try? writer.writeWithoutTransaction { _ in try writers.walks.end(scope) }
    }

    /// Begins the walks of an entity's parents: what they lack waits for the last of them.
    ///
    /// - Throws: ``StoreError``.
    public func beginParents(of entity: Int) throws {
        try SQLiteStore.translating("beginning the walks of parents") {
            try writer.writeWithoutTransaction { _ in try writers.sweep.beginParents(of: entity) }
        }
    }

    /// An object that a walk goes by.
    public struct ParentRow: Sendable {
        /// SQLite's number of its row.
        public var row: Int64
        /// A value per field of the entity's layout.
        public var values: [StoredValue]
    }

    /// SQLite's number of the last row of an entity's table.
    ///
    /// - Throws: ``StoreError``.
    public func lastRow(of entity: Int) throws -> Int64 {
        let layout = model.entities[entity]
        return try read("reading \(layout.name)") { db in
            let select = try RawStatement(
                "SELECT coalesce(max(\(layout.rowIDName)), 0) FROM \(SchemaBuilder.quoted(layout.table))",
                on: db.sqliteConnection)
            return try select.step() ? select.int64(0) : 0
        }
    }

    /// Objects of an entity in the order of their rows: not those that are only referred to, are marked as gone, or
    /// were made here and not sent yet.
    ///
    /// - Parameters:
    ///   - entity: The entity's index in the model.
    ///   - conditions: On fields of the entity's layout; all must hold.
    ///   - row: Only those after this row.
    ///   - limit: At most so many.
    /// - Throws: ``StoreError``.
    public func parents(
        of entity: Int, where conditions: [Condition], after row: Int64, limit: Int
    ) throws -> [ParentRow] {
        let layout = model.entities[entity]
        let compiled = try conditions.map { try CompiledCondition($0, on: layout) }
        let columns = layout.fields.map { SchemaBuilder.quoted($0.name) }
        var filters = compiled.map(\.sql)
        if let kind = Self.isOfKind(layout) { filters.append(kind) }
        if let field = layout.deletion { filters.append("\(columns[field]) IS NULL") }
        filters.append("\(layout.rowIDName) > ?")
        let sql =
            "SELECT \(layout.rowIDName), \(columns.joined(separator: ", ")) FROM \(SchemaBuilder.quoted(layout.table)) "
            + "WHERE \(filters.joined(separator: " AND ")) ORDER BY \(layout.rowIDName) LIMIT \(limit)"
        return try read("reading \(layout.name)") { db in
            let isStub = try RawStatement(
                "SELECT 1 FROM bmo_stubs WHERE entity = ? AND key = ?", on: db.sqliteConnection)
            // The remote cannot be asked by a key that it does not know.
            let isNew = try RawStatement(
                "SELECT 1 FROM bmo_outbox WHERE root = ? AND key = ? AND operation = 'create'",
                on: db.sqliteConnection)
            let select = try RawStatement(sql, on: db.sqliteConnection)
            let arguments = compiled.compactMap(\.argument)
            for (index, value) in arguments.enumerated() { select.bind(value, at: Int32(index + 1)) }
            select.bind(row, at: Int32(arguments.count + 1))
            var rows: [ParentRow] = []
            while try select.step() {
                let values = layout.fields.indices.map { select.value(Int32($0 + 1)) }
                let key = JSONText.key(layout.key.map { values[$0] })
                let isUnknown = try [isStub, isNew].contains { statement in
                    statement.bind(model.entities[layout.root].name, at: 1)
                    statement.bind(utf8: key.bytes, at: 2)
                    defer { statement.reset() }
                    return try statement.step()
                }
                // The caller goes on after the last row: such a one is handed out without its values.
                rows.append(ParentRow(row: select.int64(0), values: isUnknown ? [] : values))
            }
            return rows
        }
    }

    /// A key as the scopes of walks have it.
    public static func text(ofKey key: [StoredValue]) -> String { JSONText.key(key).string }
}
