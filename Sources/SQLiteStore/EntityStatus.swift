internal import GRDB
internal import Mapping

/// How it stands with one entity.
public struct EntityStatus: Sendable {
    /// Where an interrupted walk stopped.
    public struct Walk: Sendable {
        /// How many pages are in.
        public var page: Int
        /// When the last came, as ISO 8601.
        public var saved: String
        /// Whether the next sync goes on there; a place is good for an hour.
        public var isFresh: Bool
    }

    /// The entity.
    public var name: String
    /// Its rows, stubs and those of its sub-entities among them.
    public var rows: Int
    /// Rows that are only referred to; those of sub-entities count for the entity whose table it is.
    public var stubs: Int
    /// Records that could not be imported.
    public var quarantined: Int
    /// The newest run that changed its rows.
    public var lastRun: Int64?
    /// When that began, as ISO 8601.
    public var lastChanged: String?
    /// Where a walk stopped.
    public var interrupted: Walk?
    /// What the next walk begins with, by name: as the table has it.
    public var cursors: [String]
}

extension SQLiteStore {
    /// How it stands with each entity of the model.
    ///
    /// - Throws: ``StoreError``.
    public func status() throws -> [EntityStatus] {
        try read("reading the status") { db in
            try model.entities.map { layout in
                func count(_ sql: String) throws -> Int {
                    try Int.fetchOne(db, sql: sql, arguments: [layout.name]) ?? 0
                }
                let last = try Row.fetchOne(
                    db,
                    sql: """
                        SELECT id, started FROM bmo_runs
                        WHERE id = (SELECT max(run) FROM bmo_changes WHERE entity = ?)
                        """, arguments: [layout.name])
                let place = try Row.fetchOne(
                    db, sql: "SELECT page, saved, saved > ? AS fresh FROM bmo_progress WHERE entity = ?",
                    arguments: [Clock.text(secondsAgo: 3600), layout.name])
                return EntityStatus(
                    name: layout.name,
                    rows: try Int.fetchOne(
                        db,
                        sql: "SELECT count(*) FROM \(SchemaBuilder.quoted(layout.table)) "
                            + "WHERE \(Self.isOfKind(layout) ?? "true")") ?? 0,
                    stubs: try count("SELECT count(*) FROM bmo_stubs WHERE entity = ?"),
                    quarantined: try count("SELECT count(*) FROM bmo_quarantine WHERE entity = ?"),
                    lastRun: last?["id"], lastChanged: last?["started"],
                    interrupted: place.map {
                        EntityStatus.Walk(page: $0["page"], saved: $0["saved"], isFresh: $0["fresh"])
                    }, cursors: try cursors(of: layout.name, in: db))
            }
        }
    }

    private func cursors(of entity: String, in db: Database) throws -> [String] {
        guard try db.tableExists("bmo_cursors") else { return [] }
        return try Row.fetchAll(db, sql: "SELECT * FROM bmo_cursors WHERE entity = ?", arguments: [entity]).map { row in
            row.compactMap { name, value in
                name == "entity" || value.isNull
                    ? nil : "\(name) \(String.fromDatabaseValue(value) ?? value.description)"
            }.joined(separator: ", ")
        }
    }

    /// The keys of the stubs of an entity as JSON arrays, in their order.
    ///
    /// - Throws: ``StoreError``.
    public func stubs(of entity: String) throws -> [String] {
        try read("reading the stubs") { db in
            try String.fetchAll(db, sql: "SELECT key FROM bmo_stubs WHERE entity = ? ORDER BY key", arguments: [entity])
        }
    }
}
