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
    /// What the next walks will ask for, in words.
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
                    db,
                    sql: """
                        SELECT page, saved, saved > ? AS fresh FROM bmo_progress WHERE entity = ?
                        ORDER BY saved DESC LIMIT 1
                        """,
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

    /// What the next walks ask from: a line for the entity's own, and one for each further source; a token and what was
    /// asked for are the bridge's affair.
    private func cursors(of entity: String, in db: Database) throws -> [String] {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT source, count(*) AS count, max(newest) AS newest, max(full_at) AS full_at, max(saved) AS saved,
                    max(token IS NOT NULL) AS has_token
                FROM bmo_cursors WHERE entity = ? GROUP BY source ORDER BY source
                """, arguments: [entity])
        return rows.map { row in
            let source: String = row["source"]
            let count: Int = row["count"]
            let newest = (row["newest"] as DatabaseValue).isNull ? nil : String.fromDatabaseValue(row["newest"])
            let from =
                newest.map { "what is newer than \($0)" }
                ?? (row["has_token"] ? "what changed since \(row["saved"] as String)" : "all")
            let parts = [
                "the next walk" + (source.isEmpty ? "" : " of \(source)") + " asks for \(from)",
                count > 1 ? "by \(count) parents" : nil, "all of it came last at \(row["full_at"] as String)",
            ]
            return parts.compactMap { $0 }.joined(separator: "; ")
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
