internal import GRDB
public import StoreContract
public import Mapping
public import Model
internal import RecordBatch
internal import TextFormats

extension SQLiteStore {
    /// Calls `body` with the objects of an entity and its sub-entities that meet all conditions, in key order.
    ///
    /// Reads one snapshot of the file while imports continue.
    ///
    /// - Parameters:
    ///   - entity: The entity's index in the model.
    ///   - conditions: Conditions on fields of the entity's layout.
    ///   - limit: The maximum number of rows.
    ///   - includesStubs: Whether stubs are included.
    ///   - body: Called for each row, with one value per field of ``EntityLayout/columns``.
    /// - Throws: ``StoreError``.
    public func rows(
        of entity: Int, where conditions: [LocalCondition] = [], limit: Int? = nil, includesStubs: Bool = true,
        _ body: ([StoredValue]) throws -> Void
    ) throws {
        let layout = model.entities[entity]
        let compiled = try CompiledPredicate(conditions, on: layout)
        let columns = layout.columns.map { SchemaBuilder.quoted($0.name) }
        let key = layout.key.map { SchemaBuilder.quoted(layout.fields[$0].name) }
        var sql = "SELECT \(columns.joined(separator: ", "))"
        sql += " FROM \(SchemaBuilder.quoted(layout.table))"
        let filters = [compiled.sql] + [Self.isOfKind(layout)].compactMap { $0 }
        sql += " WHERE " + filters.joined(separator: " AND ")
        // Without a key, rows are in insertion order.
        if !key.isEmpty { sql += " ORDER BY \(key.joined(separator: ", "))" }
        let root = model.entities[layout.root]
        try read("reading \(layout.name)") { db in
            let isStub = try includesStubs ? nil : StubFilter(layout, root, in: db)
            // Stubs are filtered by key after the query, and the limit applies to the remaining rows.
            if let limit, isStub == nil { sql += " LIMIT \(limit)" }
            var left = limit ?? .max
            // Not GRDB's rows, which truncate text at the first NUL.
            let statement = try RawStatement(sql, on: db.sqliteConnection)
            for (index, value) in compiled.arguments.enumerated() {
                statement.bind(value, at: Int32(index + 1))
            }
            while left > 0, try statement.step() {
                let row = statement.values(of: layout.columns)
                if let isStub, try isStub.holds(row) { continue }
                left -= 1
                try body(row)
            }
        }
    }

    /// Returns the SQL condition for a sub-entity's objects in its table; nil for a root, which has all of them.
    static func isOfKind(_ layout: EntityLayout) -> String? {
        guard let field = layout.discriminator, layout.index != layout.root else { return nil }
        let names = layout.kinds.map { "'\($0)'" }.joined(separator: ", ")
        return "\(SchemaBuilder.quoted(layout.fields[field].name)) IN (\(names))"
    }

    /// Returns the quarantined records, oldest first.
    ///
    /// - Throws: ``StoreError``.
    public func quarantined(entity: String? = nil) throws -> [QuarantineEntry] {
        try read("reading the quarantine") { db in
            let statement = try RawStatement(
                """
                SELECT id, entity, bridge, page, record, reason, representation, location, first_seen, last_seen,
                    cut_from
                FROM bmo_quarantine WHERE ?1 IS NULL OR entity = ?1 ORDER BY id
                """, on: db.sqliteConnection)
            statement.bind(entity, at: 1)
            var all: [QuarantineEntry] = []
            while try statement.step() {
                func text(_ column: Int32) -> String? { statement.text(column) }
                all.append(
                    QuarantineEntry(
                        id: statement.int64(0),
                        record: QuarantinedRecord(
                            entity: text(1) ?? "", bridge: text(2) ?? "", page: Int(statement.int64(3)),
                            record: statement.optionalInt64(4).map { Int($0) }, reason: text(5) ?? "",
                            representation: text(6) ?? "", location: text(7),
                            cutFrom: statement.optionalInt64(10).map { Int($0) }),
                        firstSeen: text(8) ?? "", lastSeen: text(9) ?? ""))
            }
            return all
        }
    }

    /// Returns the number of an entity's records quarantined since `instant`; 0 if that is empty.
    ///
    /// - Throws: ``StoreError``.
    public func quarantinedCount(of entity: String, since instant: String) throws -> Int {
        guard !instant.isEmpty else { return 0 }
        return try read("counting the quarantine") { db in
            try Int.fetchOne(
                db, sql: "SELECT count(*) FROM bmo_quarantine WHERE entity = ? AND last_seen >= ?",
                arguments: [entity, instant]) ?? 0
        }
    }

    /// Removes a record from quarantine, as part of the open page.
    ///
    /// - Throws: ``StoreError``.
    public func removeQuarantined(_ id: Int64) throws {
        try SQLiteStore.translating("clearing the quarantine") {
            try writer.writeWithoutTransaction { db in
                try db.execute(sql: "DELETE FROM bmo_quarantine WHERE id = ?", arguments: [id])
            }
        }
    }

    /// Parses the values of an object's key.
    ///
    /// - Parameters:
    ///   - entity: The entity's index in the model.
    ///   - texts: One text per attribute of the key, in order; bytes as base64.
    /// - Throws: ``StoreError`` of code `request` for text that does not fit the attribute's type.
    public func key(of entity: Int, from texts: [String]) throws -> [StoredValue] {
        let layout = model.entities[entity]
        return try zip(layout.key, texts).map { field, text in
            let field = layout.fields[field]
            if field.type == .data { return Base64.decode(text).map { .bytes($0) } ?? .null }
            return try LocalCondition(field: field.name, comparison: .equal, value: text).operand(
                for: field, of: layout)
        }
    }

    /// Removes the quarantined records of an entity that a complete scan, begun at `instant`, did not list again.
    ///
    /// - Parameter isListed: Returns whether the scan covered a record that it did not list.
    /// - Throws: ``StoreError``.
    public func releaseQuarantine(
        of entity: String, notSeenSince instant: String,
        where isListed: (_ record: (representation: String, cutFrom: Int?)) -> Bool = { _ in true }
    ) throws {
        try SQLiteStore.translating("clearing the quarantine") {
            try writer.writeWithoutTransaction { db in
                // Checks first, as a delete takes the write lock even if it finds nothing.
                let stale = try Row.fetchCursor(
                    db,
                    sql: "SELECT id, representation, cut_from FROM bmo_quarantine WHERE entity = ? AND last_seen < ?",
                    arguments: [entity, instant])
                var released: [Int64] = []
                while let row = try stale.next() {
                    if isListed((row["representation"], row["cut_from"])) { released.append(row["id"]) }
                }
                guard !released.isEmpty else { return }
                try db.inTransaction {
                    let deletion = try db.makeStatement(sql: "DELETE FROM bmo_quarantine WHERE id = ?")
                    for id in released { try deletion.execute(arguments: [id]) }
                    return .commit
                }
            }
        }
    }

    /// Returns the number of stubs of an entity.
    ///
    /// - Throws: ``StoreError``.
    public func stubCount(of entity: String) throws -> Int {
        try read("counting stubs") { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM bmo_stubs WHERE entity = ?", arguments: [entity]) ?? 0
        }
    }
}
