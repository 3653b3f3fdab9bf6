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

    /// Whether a text may contain U+0000; PostgreSQL cannot store it, and the record goes to quarantine.
    package var holdsNUL: Bool { self != .postgresql }

    /// Whether a database is made and changed without a round trip to a server, so that a test may use hundreds.
    package var isLocal: Bool { self != .postgresql }

    /// Returns a provider; each provider of databases in memory has its own.
    package func provider() -> any StoreProvider {
        switch self {
        case .memory: MemoryStores()
        case .sqlite: SQLiteStores()
        case .postgresql: PostgreSQLStores()
        }
    }
}
