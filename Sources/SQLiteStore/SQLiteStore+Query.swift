internal import GRDB
public import Importer
public import Mapping
internal import Model
internal import RecordBatch

extension SQLiteStore {
    /// A condition on a column.
    public struct Condition: Sendable, Equatable {
        /// How a column is compared.
        public enum Comparison: String, Sendable, CaseIterable {
            case notEqual = "!="
            case atMost = "<="
            case atLeast = ">="
            case equal = "="
            case less = "<"
            case greater = ">"
            /// SQL's LIKE: `%` any text, `_` one character.
            case like = "~"
        }

        /// The field's name.
        public var field: String
        /// How it is compared.
        public var comparison: Comparison
        /// What it is compared with; nil is null.
        public var value: String?

        /// A condition.
        public init(field: String, comparison: Comparison, value: String?) {
            self.field = field
            self.comparison = comparison
            self.value = value
        }
    }

    /// Hands the objects of an entity, those of its sub-entities among them, that meet all conditions to `body`, in the
    /// order of the key.
    ///
    /// Reads one snapshot of the file; imports go on meanwhile.
    ///
    /// - Parameters:
    ///   - entity: The entity's index in the model.
    ///   - conditions: On fields of the entity's layout.
    ///   - limit: At most so many rows.
    ///   - body: Called per row with a value per field of ``EntityLayout/columns``.
    /// - Throws: ``StoreError``.
    public func rows(
        of entity: Int, where conditions: [Condition] = [], limit: Int? = nil, _ body: ([StoredValue]) throws -> Void
    ) throws {
        let layout = model.entities[entity]
        let compiled = try conditions.map { try CompiledCondition($0, on: layout) }
        let columns = layout.columns.map { SchemaBuilder.quoted($0.name) }
        let key = layout.key.map { SchemaBuilder.quoted(layout.fields[$0].name) }
        var sql = "SELECT \(columns.joined(separator: ", "))"
        sql += " FROM \(SchemaBuilder.quoted(layout.table))"
        let filters = compiled.map(\.sql) + [Self.isOfKind(layout)].compactMap { $0 }
        if !filters.isEmpty { sql += " WHERE " + filters.joined(separator: " AND ") }
        // Where there is no key, the rows are in the order in which they came.
        if !key.isEmpty { sql += " ORDER BY \(key.joined(separator: ", "))" }
        if let limit { sql += " LIMIT \(limit)" }
        try read("reading \(layout.name)") { db in
            // Not GRDB's rows: those end a text at its first NUL.
            let statement = try RawStatement(sql, on: db.sqliteConnection)
            for (index, value) in compiled.compactMap(\.argument).enumerated() {
                statement.bind(value, at: Int32(index + 1))
            }
            while try statement.step() { try body(columns.indices.map { statement.value(Int32($0)) }) }
        }
    }

    /// What tells a sub-entity's objects from the others of its table; nil for a root, which has them all.
    static func isOfKind(_ layout: EntityLayout) -> String? {
        guard let field = layout.discriminator, layout.index != layout.root else { return nil }
        let names = layout.kinds.map { "'\($0)'" }.joined(separator: ", ")
        return "\(SchemaBuilder.quoted(layout.fields[field].name)) IN (\(names))"
    }

    /// A record in quarantine, with its number and times.
    public struct Quarantined: Sendable {
        /// Its number in the file.
        public var id: Int64
        /// The record.
        public var record: QuarantinedRecord
        /// When it came first, as ISO 8601.
        public var firstSeen: String
        /// When it came last, as ISO 8601.
        public var lastSeen: String
    }

    /// The records in quarantine, oldest first.
    ///
    /// - Throws: ``StoreError``.
    public func quarantined(entity: String? = nil) throws -> [Quarantined] {
        try read("reading the quarantine") { db in
            let statement = try RawStatement(
                """
                SELECT id, entity, bridge, page, record, reason, representation, location, first_seen, last_seen,
                    cut_from
                FROM bmo_quarantine WHERE ?1 IS NULL OR entity = ?1 ORDER BY id
                """, on: db.sqliteConnection)
            statement.bind(entity, at: 1)
            var all: [Quarantined] = []
            while try statement.step() {
                func text(_ column: Int32) -> String? { statement.text(column) }
                all.append(
                    Quarantined(
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

    /// Forgets a record in quarantine, as part of the page that is open.
    ///
    /// - Throws: ``StoreError``.
    package func removeQuarantined(_ id: Int64) throws {
        try SQLiteStore.translating("clearing the quarantine") {
            try writer.writeWithoutTransaction { db in
                try db.execute(sql: "DELETE FROM bmo_quarantine WHERE id = ?", arguments: [id])
            }
        }
    }

    /// The values of an object's key as they were typed.
    ///
    /// - Parameters:
    ///   - entity: The entity's index in the model.
    ///   - texts: A text per attribute of the key, in its order; bytes as base64.
    /// - Throws: ``StoreError`` of the code `request` for a text that is none of the attribute's type.
    public func key(of entity: Int, from texts: [String]) throws -> [StoredValue] {
        let layout = model.entities[entity]
        return try zip(layout.key, texts).map { field, text in
            let field = layout.fields[field]
            let condition = try CompiledCondition(
                Condition(field: field.name, comparison: .equal, value: text), on: layout)
            if field.type == .data { return Base64.decode(text).map { .bytes($0) } ?? .null }
            return condition.argument ?? .text(text)
        }
    }

    /// Forgets the records of an entity that a whole walk, begun at `instant`, did not bring again.
    ///
    /// - Parameter isListed: Whether the walk looked at one that did not come.
    /// - Throws: ``StoreError``.
    public func releaseQuarantine(
        of entity: String, notSeenSince instant: String,
        where isListed: (_ record: (representation: String, cutFrom: Int?)) -> Bool = { _ in true }
    ) throws {
        try SQLiteStore.translating("clearing the quarantine") {
            try writer.writeWithoutTransaction { db in
                // Look first: a delete that finds nothing still takes the write lock.
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

    /// How many objects of an entity are only referred to so far.
    ///
    /// - Throws: ``StoreError``.
    public func stubCount(of entity: String) throws -> Int {
        try read("counting stubs") { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM bmo_stubs WHERE entity = ?", arguments: [entity]) ?? 0
        }
    }
}
