internal import StoreContract
internal import GRDB

extension SQLiteStore {
    /// Returns a number that changes when another connection commits; it takes no disk access.
    ///
    /// - Throws: `StoreError`.
    public func dataVersion() throws -> Int64 {
        try read("looking for changes") { db in try Int64.fetchOne(db, sql: "PRAGMA data_version") ?? 0 }
    }
}
