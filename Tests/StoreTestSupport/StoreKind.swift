internal import MemoryStore
internal import PostgreSQLStore
internal import SQLiteStore
package import StoreContract
internal import TestSupport

/// The stores that the suites of the store's contract run over.
package enum StoreKind: String, CaseIterable, Sendable {
    case memory, sqlite, postgresql

    /// PostgreSQL is left out where its server is not installed; Scripts/install test installs it.
    package static var allCases: [StoreKind] {
        PostgreSQLServer.isInstalled ? [.memory, .sqlite, .postgresql] : [.memory, .sqlite]
    }

    /// Returns a provider; each provider of databases in memory has its own.
    package func provider() -> any StoreProvider {
        switch self {
        case .memory: MemoryStores()
        case .sqlite: SQLiteStores()
        case .postgresql: PostgreSQLStores()
        }
    }
}
