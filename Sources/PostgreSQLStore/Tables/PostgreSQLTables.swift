internal import Mapping
internal import StoreContract
internal import StoreRules

/// The tables of an open transaction as a unit of work: rows are read in batches and compared in memory, and what
/// differs is written by ``flush()``, one statement per table.
///
/// One thread uses it at a time.
final class PostgreSQLTables: DatabaseTables {
    /// A row as this transaction sees it.
    struct CachedRow {
        var number: Int64
        /// The values; nil if the row does not exist.
        var values: [StoredValue]?
        /// The values' bytes, of a row that is written with the next flush.
        var encoded: [[UInt8]?]?
        /// Whether the database has the row.
        var isStored: Bool
        /// Whether the database has another state than this one.
        var isDirty = false

        /// Notes that the database has the row as it is here.
        mutating func noteStored() {
            (isStored, isDirty, encoded) = (true, false, nil)
        }
    }

    /// The links of one list.
    struct CachedList {
        var targets: [Int64: RowKey]
        /// The positions whose links the database has.
        var stored: Set<Int64>
        /// The positions that are written with the next flush.
        var dirty: Set<Int64> = []
    }

    /// The key of a list, or of what refers to a row.
    struct ListName: Hashable {
        var table: String
        var key: RowKey
    }

    /// The rows that refer to a key.
    struct ReferrerName: Hashable {
        var root: Int
        var toOne: Int
        var key: RowKey
    }

    /// The beginning of a transaction.
    private enum Beginning {
        case done
        case due(() throws -> Void)
        case failed(any Error)
    }

    /// The connection, in the transaction of these tables, which begins now if it is due.
    var connection: Connection {
        get throws {
            try begin()
            return plainConnection
        }
    }
    private let plainConnection: Connection
    private var beginning = Beginning.done
    /// Whether the transaction begins only when the tables are used, which they were not.
    var isDue: Bool { if case .due = beginning { true } else { false } }
    let sql: DatabaseSQL
    var counters: Counters
    /// Whether ``counters`` were not read.
    let isForOneQuery: Bool
    /// Whether the transaction has written anything.
    private(set) var hasWritten = false
    /// The entities whose stubs, or sources, are not empty at the beginning of the transaction.
    var hasStubs: Set<Int>
    var hasSources: Set<Int>

    var rows: [Int: [RowKey: CachedRow]] = [:]
    /// The rows that were read for a batch; ``rows`` has those that were asked for since.
    var fetched: [Int: FetchedRows] = [:]
    /// That of the last row: most rows of a page are in one table.
    var lastFetched: FetchedRows?
    var dirtyRows: [Int: Set<RowKey>] = [:]
    /// The new rows of a page that need no more than to be inserted; none is in ``rows``.
    var newRows: [Int: NewRows] = [:]
    var referrers: [ReferrerName: [(number: Int64, key: RowKey)]] = [:]
    /// The rows of parents whose scans were announced, by entity.
    var scopeRows: [Int: ScopeRows] = [:]
    /// The cursors that were announced.
    var knownCursors: [ScanScope: ScanCursor?] = [:]
    /// The last number in use, by entity.
    var lastNumbers: [Int: Int64] = [:]
    var lists: [ListName: CachedList] = [:]
    var dirtyLists: Set<ListName> = []
    var reversedLists: [ListName: [(position: Int64, key: RowKey)]] = [:]
    var stubs: [Int: [RowKey: Bool]] = [:]
    /// The entities whose stubs are all in ``stubs``.
    var completeStubs: Set<Int> = []
    var dirtyStubs: Set<RowReference> = []
    var sources: [RowReference: [ProvenanceRecord]] = [:]
    var dirtySources: Set<RowReference> = []
    var newSourceScans: Set<[String]> = []
    var newChanges: [ChangeRecord] = []
    var outbox = KnownEntries()
    /// The number of questions about the outbox that were answered without reading all of it.
    var outboxQuestions = 0
    var dirtyEntries: Set<Int64> = []
    var acceptedEdits: KnownEntries?
    var newAcceptedEdits: [StoredEntry] = []
    var knownConflicts: [RowReference: [StoredConflict]] = [:]
    /// Whether an object that is not in ``knownConflicts`` has none.
    var knowsAllConflicts = false
    var conflictQuestions = 0
    /// The last number of a conflict; nil until one is added.
    var lastConflict: Int64?

    /// Creates the tables of the connection's open transaction.
    convenience init(_ connection: Connection, _ sql: DatabaseSQL) throws {
        self.init(connection, sql, try State(over: connection, sql))
    }

    /// Creates the tables of a transaction in which the database has a state.
    init(_ connection: Connection, _ sql: DatabaseSQL, _ state: State) {
        plainConnection = connection
        self.sql = sql
        (counters, hasStubs, hasSources) = (state.counters, state.hasStubs, state.hasSources)
        isForOneQuery = false
    }

    /// Creates the tables of a transaction that begins when they are used: until then, they know only the database's state.
    ///
    /// - Parameter begin: Begins the transaction, and checks that the database still has a state.
    convenience init(
        _ connection: Connection, _ sql: DatabaseSQL, beginningLater begin: @escaping (State) throws -> Void
    ) throws {
        let state = try State(over: connection, sql)
        self.init(connection, sql, state)
        beginning = .due { try begin(state) }
    }

    private func begin() throws {
        switch beginning {
        case .done: return
        case .failed(let error): throw error
        case .due(let begin):
            do {
                try begin()
                beginning = .done
            } catch {
                beginning = .failed(error)
                throw error
            }
        }
    }

    /// Creates the tables for a query without a transaction; what the database counts is not read.
    init(forOneQuery connection: Connection, _ sql: DatabaseSQL) {
        plainConnection = connection
        self.sql = sql
        isForOneQuery = true
        counters = .unknown
        hasStubs = Set(sql.order)
        hasSources = Set(sql.order)
    }

    var model: CompiledModel { sql.model }
    /// Where the database is, for messages.
    var place: String { plainConnection.place }
    var isBroken: Bool { plainConnection.isInFailedTransaction }

    func name(_ root: Int) -> String { model.entities[root].name }

    /// Notes that the transaction writes.
    func noteWritten() { hasWritten = true }

    /// Returns the statements of a table.
    func table(_ root: Int) throws -> RowTableSQL {
        guard let table = sql.rows[root] else {
            throw StoreError(.internal, "\(name(root)) has no table of its own")
        }
        return table
    }

    func linkTable(_ name: String) throws -> LinkTableSQL {
        guard let table = sql.links[name] else { throw StoreError(.internal, "the model has no link table \(name)") }
        return table
    }
}
