internal import GRDB
public import StoreContract
internal import StoreRules
public import Mapping
public import Model

extension SQLiteStore {
    /// Returns the position of an interrupted scan if it is at most an hour old.
    ///
    /// After an hour, the earlier pages are no longer fresh, and the remote may have shifted its pages. A position is
    /// also invalid if the file's rows have new rowids after VACUUM, or if its tables have changed.
    ///
    /// - Throws: `StoreError`.
    public func progress(of scope: ScanScope) throws -> ScanProgress? {
        try readPrepared("reading the scan's place") { _, statements in try Self.progress(of: scope, statements) }
    }

    private static func progress(of scope: ScanScope, _ statements: StatementCache) throws -> ScanProgress? {
        let version = try statements.value("PRAGMA schema_version") ?? .null
        let select = statements(
            """
            SELECT cursor, page, request, newest, newest_remote, began FROM bmo_progress
            WHERE entity = ? AND source = ? AND parent = ? AND saved BETWEEN ? AND ? AND schema_version = ?
            """)
        defer { select.reset() }
        select.bind(scope)
        let times = ScanProgress.currentTimes
        select.bind(times.lowerBound, at: 4)
        select.bind(times.upperBound, at: 5)
        select.bind(version, at: 6)
        guard try select.step() else { return nil }
        return ScanProgress(
            cursor: select.text(0) ?? "", page: Int(select.int64(1)), request: select.text(2) ?? "",
            newest: Watermark(select, local: 3, remote: 4), began: select.text(5) ?? "")
    }

    /// Returns all that scans have to know before they ask the remote, in one snapshot.
    ///
    /// - Throws: `StoreError`.
    public func starts(of scopes: [ScanScope], _ listing: MemberListing) throws -> [ScanStart] {
        try readPrepared("reading the places of scans") { _, statements in
            let acknowledged = try Self.newestAcknowledged(statements)
            let members = try members(of: listing, statements)
            let cursors = CursorReader(statements(CursorReader.sql))
            return try scopes.map { scope in
                ScanStart(
                    progress: try Self.progress(of: scope, statements), cursor: try cursors.cursor(of: scope),
                    acknowledged: acknowledged, members: members)
            }
        }
    }

    /// Forgets the position of a scan, so that the next one starts from the beginning.
    ///
    /// - Throws: `StoreError`.
    public func forgetProgress(of scope: ScanScope) throws {
        try SQLiteStore.translating("forgetting the scan's place") {
            try writer.writeWithoutTransaction { db in
                for table in ["bmo_progress", "bmo_seen", "bmo_list_owners", "bmo_waiting_lists"] {
                    let values: StatementArguments = [scope.entity, scope.source, scope.parent]
                    let found = "FROM \(table) WHERE entity = ? AND source = ? AND parent = ?"
                    // A delete takes the write lock even if it finds nothing, so check first.
                    guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 \(found))", arguments: values) == true
                    else { continue }
                    try db.execute(sql: "DELETE \(found)", arguments: values)
                }
            }
        }
    }

    /// Deletes the rows of an interrupted scan that will not resume, for an entity without a key.
    ///
    /// The next scan lists them again, as other rows. If rows have new rowids since, they are kept.
    ///
    /// - Returns: The number of deleted rows.
    /// - Throws: `StoreError`.
    public func removeAbandoned(_ scope: ScanScope, of entity: Int, as source: PageSource) throws -> Int {
        // Checks first, as beginning a page takes the write lock.
        let isThere = try read("looking for an interrupted scan") { db in
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

    /// Returns the cursor that an earlier scan left.
    ///
    /// - Throws: `StoreError`.
    public func cursor(of scope: ScanScope) throws -> ScanCursor? {
        try readPrepared("reading the scan's cursor") { _, statements in
            try CursorReader(statements(CursorReader.sql)).cursor(of: scope)
        }
    }

    /// Returns the cursors of several scopes, in one snapshot.
    ///
    /// - Throws: `StoreError`.
    public func cursors(of scopes: [ScanScope]) throws -> [ScanCursor?] {
        try readPrepared("reading the scans' cursors") { _, statements in
            let reader = CursorReader(statements(CursorReader.sql))
            return try scopes.map { try reader.cursor(of: $0) }
        }
    }

    /// Returns the ID of the newest edit that the remote accepted during a scan, for `ScanTarget.acknowledged`.
    ///
    /// Read it before querying the remote.
    ///
    /// - Throws: `StoreError`.
    public func newestAcknowledged() throws -> Int64 {
        try readPrepared("reading what the remote took") { _, statements in try Self.newestAcknowledged(statements) }
    }

    private static func newestAcknowledged(_ statements: StatementCache) throws -> Int64 {
        let select = statements("SELECT coalesce(max(id), 0) FROM bmo_acknowledged")
        defer { select.reset() }
        return try select.step() ? select.int64(0) : 0
    }

    /// Forgets the edits that the remote accepted during earlier scans; a process that begins a scan holds the file's
    /// lock.
    func forgetAcknowledged(_ db: Database) throws {
        // Checks first, so that a run without changes does not take SQLite's write lock.
        guard try Bool.fetchOne(db, sql: "SELECT EXISTS (SELECT 1 FROM bmo_acknowledged)") == true else { return }
        try inTransaction(db) {
            let writers = try writers
            try writers.refresh()
            try writers.acknowledged.forgetAcknowledged { root in
                try Self.mayResume(model.entities[root].kinds, db)
            } noteListed: { root, keys in
                for key in keys { try writers.provenance.noteListed(model.entities[root], .key(key)) }
            }
        }
    }

    /// Returns whether an interrupted scan of one of the entities' own listings may resume.
    private static func mayResume(_ entities: [String], _ db: Database) throws -> Bool {
        let times = ScanProgress.currentTimes
        let saved = try Row.fetchAll(
            db, sql: "SELECT entity FROM bmo_progress WHERE source = '' AND saved BETWEEN ? AND ?",
            arguments: [times.lowerBound, times.upperBound])
        return saved.contains { entities.contains($0["entity"] as String) }
    }

    /// Begins to log the rows that a scan lists, so that the missing ones are known at its end.
    ///
    /// - Parameters:
    ///   - scope: The scope of the scan.
    ///   - page: The page after which an earlier scan resumes; the rows that it listed count.
    /// - Throws: `StoreError`.
    public func beginScan(_ scope: ScanScope, afterPage page: Int?) throws {
        try SQLiteStore.translating("beginning a scan") {
            try writer.writeWithoutTransaction { db in
                // Before the first page, which gives the database another content.
                try memories?.read(db)
                try writers.scans.begin(scope, afterPage: page)
                try writers.joins.begin(scope, afterPage: page)
            }
        }
    }

    /// Returns the memory of a listing's batches, if it lists the rows of a table without a parent.
    ///
    /// - Throws: `StoreError`.
    public func batchMemory(of scan: ScanTarget, mapping: String) throws -> (any BatchMemory)? {
        guard let memories, scan.isListing, scan.parent == nil, !model.entities[scan.entity].key.isEmpty else {
            return nil
        }
        return try SQLiteStore.translating("beginning a scan") {
            try writer.writeWithoutTransaction { db in try memories.begin(scan, mapping: mapping, db) }
        }
    }

    /// Ends the log begun by ``beginScan(_:afterPage:)``.
    public func endScan(_ scope: ScanScope) {
        try? writer.writeWithoutTransaction { _ in
            memories?.end(scope)
            try writers.scans.end(scope)
            try writers.joins.end(scope)
        }
    }

    /// Begins the scans of an entity's parents; missing rows are settled after the last of them.
    ///
    /// - Throws: `StoreError`.
    public func beginParents(of entity: Int) throws {
        try SQLiteStore.translating("beginning the scans of parents") {
            try writer.writeWithoutTransaction { _ in try writers.sweep.beginParents(of: entity) }
        }
    }

    /// Returns the greatest rowid of an entity's table.
    ///
    /// - Throws: `StoreError`.
    public func lastRow(of entity: Int) throws -> Int64 {
        let layout = model.entities[entity]
        return try read("reading \(layout.name)") { db in
            let select = RawStatement(
                "SELECT coalesce(max(\(layout.rowIDName)), 0) FROM \(SchemaBuilder.quoted(layout.table))",
                on: db.sqliteConnection)
            return try select.step() ? select.int64(0) : 0
        }
    }

    /// Returns objects of an entity in rowid order, for scans of their children.
    ///
    /// Stubs and objects that were created locally and not pushed yet are returned without values; objects marked as
    /// deleted are left out.
    ///
    /// - Parameters:
    ///   - entity: The entity's index in the model.
    ///   - conditions: Conditions on fields of the entity's layout, which must all hold.
    ///   - row: Returns only objects after this row.
    ///   - limit: The maximum number of objects.
    /// - Throws: `StoreError`.
    public func parents(
        of entity: Int, where conditions: [LocalCondition], after row: Int64, limit: Int
    ) throws -> [ParentRow] {
        let layout = model.entities[entity]
        let compiled = try CompiledPredicate(conditions, on: layout)
        let columns = layout.fields.map { SchemaBuilder.quoted($0.name) }
        var filters = [compiled.sql]
        if let kind = CompiledQuery.isOfKind(layout) { filters.append(kind) }
        if let field = layout.deletion { filters.append("\(columns[field]) IS NULL") }
        filters.append("\(layout.rowIDName) > ?")
        let sql =
            "SELECT \(layout.rowIDName), \(columns.joined(separator: ", ")) FROM \(SchemaBuilder.quoted(layout.table)) "
            + "WHERE \(filters.joined(separator: " AND ")) ORDER BY \(layout.rowIDName) LIMIT \(limit)"
        return try read("reading \(layout.name)") { db in
            let isStub = RawStatement(
                "SELECT 1 FROM bmo_stubs WHERE entity = ? AND key = ?", on: db.sqliteConnection)
            // The remote cannot be queried with a key that it does not know.
            let isNew = RawStatement(
                "SELECT 1 FROM bmo_outbox WHERE root = ? AND key = ? AND operation = 'create'",
                on: db.sqliteConnection)
            let select = RawStatement(sql, on: db.sqliteConnection)
            let arguments = compiled.arguments
            for (index, value) in arguments.enumerated() { select.bind(value, at: Int32(index + 1)) }
            select.bind(row, at: Int32(arguments.count + 1))
            var rows: [ParentRow] = []
            while try select.step() {
                let values = select.values(of: layout.fields, at: 1)
                let key = JSONText.key(layout.key.map { values[$0] })
                let isUnknown = try [isStub, isNew].contains { statement in
                    statement.bind(model.entities[layout.root].name, at: 1)
                    statement.bind(utf8: key.bytes, at: 2)
                    defer { statement.reset() }
                    return try statement.step()
                }
                // Included without values, because the caller continues after the last row.
                rows.append(ParentRow(row: select.int64(0), values: isUnknown ? [] : values))
            }
            return rows
        }
    }

    /// Returns a key in the form used in the scopes of scans.
    public static func text(ofKey key: [StoredValue]) -> String { JSONText.key(key).string }
}
