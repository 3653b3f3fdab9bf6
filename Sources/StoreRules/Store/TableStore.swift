package import Mapping
package import StoreContract

/// A store whose transactions are ``DatabaseTables``.
///
/// The store implements its transactions and its subscriptions, and guards its state; the extensions of this protocol
/// implement the contract over them, so that all such stores behave alike. Any thread may call it.
package protocol TableStore: Store {
    /// The tables of a transaction.
    associatedtype Tables: DatabaseTables

    /// The model, whose tables the database has.
    var model: CompiledModel { get }

    /// Whether the store's writes are discarded when it is closed.
    var isRehearsal: Bool { get }

    /// Calls `body` with the store's state, which no other thread accesses meanwhile.
    func withState<Result>(_ body: (inout TableStoreState<Tables>) throws -> Result) rethrows -> Result

    /// Runs `body` over one snapshot of the committed state; in a dry run, over what this store has written too.
    ///
    /// - Throws: ``StoreError`` when the store is closed, and the errors of `body`.
    func read<Result>(_ body: (Tables) throws -> Result) throws -> Result

    /// Runs `body`, which makes one query and needs none of the numbers that the database counts.
    ///
    /// A store behind a network can do without a transaction then. By default as ``read(_:)``.
    func readOnce<Result>(_ body: (Tables) throws -> Result) throws -> Result

    /// Runs `body` as a transaction that may change rows; perhaps again if that failed for a transient reason.
    ///
    /// - Throws: ``StoreError``: `busy` if a page is open in this store, or another store is writing for too long; and the
    ///   errors of `body`, with which nothing is written.
    func transaction<Result>(_ body: (TableWriter, Tables) throws -> Result) throws -> Result

    /// Begins a page's transaction, which stays open over several calls.
    ///
    /// The store may wait with it until the page reads or writes something.
    ///
    /// - Throws: ``StoreError`` as for ``transaction(_:)``.
    func beginPageTransaction() throws -> Tables

    /// Commits a page's transaction with the positions of its scans; nil stands for a scan that is complete.
    ///
    /// - Throws: ``StoreError``; the transaction is rolled back then.
    func commit(_ tables: Tables, _ page: TablePageWriter, positions: [ScanScope: ScanProgress?]) throws

    /// Rolls the open transaction back.
    func rollBack()

    /// Returns the memory of a listing that is being scanned; nil by default, as for a store that remembers no batches.
    func memory(of scope: ScanScope) -> ListingMemory?

    /// Returns whether any process holds a lock of the database.
    func isLocked(for purpose: LockPurpose) throws -> Bool

    /// Returns a subscription to the changes of entities, which has ended if the store is closed.
    func subscribe(to entities: [Int], every interval: Duration) throws -> ChangeSubscription
}

extension TableStore {
    package func readOnce<Result>(_ body: (Tables) throws -> Result) throws -> Result { try read(body) }

    package func memory(of scope: ScanScope) -> ListingMemory? { nil }

    /// Runs `body` as a transaction that may change rows.
    package func write<Result>(_ body: (TableWriter) throws -> Result) throws -> Result {
        try transaction { writer, _ in try body(writer) }
    }

    /// Runs `body`, which changes bookkeeping only, in the open page if there is one, or else as a transaction.
    package func keepBooks<Result>(_ body: (Tables) throws -> Result) throws -> Result {
        if let page = withState({ $0.page }) { return try body(page) }
        return try transaction { _, tables in try body(tables) }
    }

    /// Returns the index of an entity.
    ///
    /// - Throws: ``StoreError`` of the code `request` for an unknown name.
    package func index(of entity: String) throws -> Int { try model.knownIndex(of: entity) }
}
