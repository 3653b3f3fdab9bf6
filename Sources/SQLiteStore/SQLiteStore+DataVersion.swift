internal import GRDB

extension SQLiteStore {
    /// A number that is another one once any other connection has committed: a look at it costs no disk.
    ///
    /// - Throws: ``StoreError``.
    package func dataVersion() throws -> Int64 {
        try read("looking for changes") { db in try Int64.fetchOne(db, sql: "PRAGMA data_version") ?? 0 }
    }
}
