internal import StoreContract

extension PostgreSQLStore: LimitedStore {
    /// The engine and what tables lack on it; empty for PostgreSQL itself.
    var limitations: [String] {
        sql.engine.name == .postgresql ? [] : ["the server is \(sql.engine.name.rawValue)"] + sql.engine.notes
    }
}
