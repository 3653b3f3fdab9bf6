internal import GRDB
public import StoreContract

extension SQLiteStore {
    /// Returns the fields of remote records that nothing reads, by entity and path.
    ///
    /// - Parameter instant: Restricts the result to fields that first occurred since this time, as ISO 8601.
    /// - Throws: `StoreError`.
    public func unknownFields(since instant: String = "") throws -> [UnknownFieldRecord] {
        try read("reading the unknown fields") { db in
            // Not `tableExists`, which would cache that the table does not exist.
            let table = "SELECT 1 FROM sqlite_schema WHERE name = 'bmo_unknown_fields'"
            guard try Int.fetchOne(db, sql: table) != nil else { return [] }
            return try Row.fetchAll(
                db, sql: "SELECT entity, path FROM bmo_unknown_fields WHERE first_seen >= ? ORDER BY entity, path",
                arguments: [instant]
            ).map { UnknownFieldRecord(entity: $0["entity"], path: $0["path"]) }
        }
    }
}
