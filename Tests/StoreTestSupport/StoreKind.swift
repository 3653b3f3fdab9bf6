internal import MemoryStore
internal import SQLiteStore
package import StoreContract

/// The stores that the suites of the store's contract run over.
package enum StoreKind: String, CaseIterable, Sendable {
    case memory, sqlite

    /// Returns a provider; each provider of databases in memory has its own.
    package func provider() -> any StoreProvider {
        switch self {
        case .memory: MemoryStores()
        case .sqlite: SQLiteStores()
        }
    }
}
