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

    let connection: Connection
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
    var outbox: [StoredEntry]?
    var dirtyEntries: Set<Int64> = []
    var acceptedEdits: [StoredEntry]?
    var newAcceptedEdits: [StoredEntry] = []
    var knownConflicts: [StoredConflict]?

    /// Creates the tables of the connection's open transaction.
    init(_ connection: Connection, _ sql: DatabaseSQL) throws {
        self.connection = connection
        self.sql = sql
        let state = try Self.state(connection, sql)
        (counters, hasStubs, hasSources) = (state.counters, state.hasStubs, state.hasSources)
        isForOneQuery = false
    }

    /// Creates the tables for a query without a transaction; what the database counts is not read.
    init(forOneQuery connection: Connection, _ sql: DatabaseSQL) {
        self.connection = connection
        self.sql = sql
        isForOneQuery = true
        counters = .unknown
        hasStubs = Set(sql.order)
        hasSources = Set(sql.order)
    }

    var model: CompiledModel { sql.model }
    var isBroken: Bool { connection.isInFailedTransaction }

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

    // MARK: - State

    /// The numbers that a database counts, and what need not be looked up because it is empty.
    struct Counters: Equatable {
        var version: Int64
        var schemaVersion: Int64
        var lastRun: Int64
        var lastChange: Int64
        var lastEntry: Int64
        var lastAcknowledged: Int64
        var lastQuarantined: Int64
        var hasOutbox: Bool
        var hasAcknowledged: Bool
        var hasConflicts: Bool
        var hasQuarantined: Bool

        static let unknown = Counters(
            version: 0, schemaVersion: 0, lastRun: 0, lastChange: 0, lastEntry: 0, lastAcknowledged: 0,
            lastQuarantined: 0, hasOutbox: true, hasAcknowledged: true, hasConflicts: true,
            hasQuarantined: true)
    }

    private static func state(
        _ connection: Connection, _ sql: DatabaseSQL
    ) throws -> (counters: Counters, hasStubs: Set<Int>, hasSources: Set<Int>) {
        let roots = sql.order
        let result = try connection.query(sql.state, for: "reading the database's state")
        guard result.count == 1 else {
            throw StoreError(
                .schema, "\(connection.place): the table bmo_database has \(result.count) rows instead of one",
                remedy: "restore the database from a backup")
        }
        func number(_ column: Int) -> Int64 { result.bigint(0, column) ?? 0 }
        func marked(_ column: Int) -> Set<Int> {
            Set(zip(roots, result.text(0, column) ?? "").filter { $1 == "1" }.map(\.0))
        }
        let counters = Counters(
            version: number(0), schemaVersion: number(1), lastRun: number(2), lastChange: number(3),
            lastEntry: number(4), lastAcknowledged: number(5), lastQuarantined: number(6),
            hasOutbox: result.boolean(0, 7), hasAcknowledged: result.boolean(0, 8),
            hasConflicts: result.boolean(0, 9), hasQuarantined: result.boolean(0, 12))
        return (counters, marked(10), marked(11))
    }
}
