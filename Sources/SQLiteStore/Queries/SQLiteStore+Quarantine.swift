internal import GRDB
public import StoreContract

extension SQLiteStore {
    /// Returns the quarantined records, oldest first.
    ///
    /// - Throws: `StoreError`.
    public func quarantined(entity: String? = nil) throws -> [QuarantineEntry] {
        try read("reading the quarantine") { db in
            let statement = RawStatement(
                """
                SELECT id, entity, bridge, page, record, reason, representation, location, first_seen, last_seen,
                    cut_from, source, parent, key
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
                            cutFrom: statement.optionalInt64(10).map { Int($0) }, source: text(11), parent: text(12),
                            key: text(13)),
                        firstSeen: text(8) ?? "", lastSeen: text(9) ?? ""))
            }
            return all
        }
    }

    /// Returns the number of an entity's records quarantined since `instant`; 0 if that is empty.
    ///
    /// - Throws: `StoreError`.
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
    /// - Throws: `StoreError`.
    public func removeQuarantined(_ id: Int64) throws {
        try SQLiteStore.translating("clearing the quarantine") {
            try writer.writeWithoutTransaction { db in
                try db.execute(sql: "DELETE FROM bmo_quarantine WHERE id = ?", arguments: [id])
            }
        }
    }

    /// Removes the quarantined records of an entity that a complete scan, begun at `instant`, did not list again.
    ///
    /// - Parameters:
    ///   - entity: The entity.
    ///   - instant: The time at which the scan began.
    ///   - isListed: Returns whether the scan covered a record that it did not list.
    /// - Throws: `StoreError`.
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
    /// - Throws: `StoreError`.
    public func stubCount(of entity: String) throws -> Int {
        try read("counting stubs") { db in
            try Int.fetchOne(db, sql: "SELECT count(*) FROM bmo_stubs WHERE entity = ?", arguments: [entity]) ?? 0
        }
    }
}
