package import Mapping
package import StoreContract

/// What a ``TableStore`` keeps between its calls; see ``TableStore/withState(_:)``.
package struct TableStoreState<Tables> {
    /// The open run.
    package var run = RunState()
    /// The scans that have begun.
    package var scans = OpenScans()
    /// The tables of the open page; nil if none is open.
    package var page: Tables?
    /// Whether a transaction is open, of a page or of another call.
    package private(set) var isWriting = false
    /// The members that listings are known to have, so that their next pages need not ask the database.
    package var notedMembers: [MemberListing: Set<ListedMember>] = [:]
    /// The number of this store's commits.
    package var ownCommits: Int64 = 0
    /// The number of commits that other stores have made, as far as this store knows.
    private var foreignCommits: Int64?
    /// Whether the store was closed.
    package private(set) var isClosed = false
    /// The database's lock, if the store holds it.
    package var lock: (any StoreLock)?

    /// Creates the state of a new store.
    package init() {}

    /// Checks that the store was not closed.
    ///
    /// - Throws: ``StoreError``.
    package func checkOpen() throws {
        if isClosed { throw StoreError(.internal, "the database is closed") }
    }

    /// Begins a transaction, which ``end()`` ends.
    ///
    /// - Parameter place: The database, for messages.
    /// - Throws: ``StoreError``: `busy` if a transaction is open already.
    package mutating func begin(_ use: StoreUse, at place: String) throws {
        if case .reading = use { throw StoreError(.internal, "the database was opened for reading") }
        try checkOpen()
        guard !isWriting else {
            throw StoreError(
                .busy, "\(place): a page of an import is open in this store",
                remedy: "make edits through another store of the same database")
        }
        isWriting = true
    }

    /// Ends the open transaction, if there is one.
    ///
    /// - Returns: Whether one was open, which ``close()`` has not ended.
    @discardableResult package mutating func end() -> Bool {
        defer { (page, isWriting) = (nil, false) }
        return isWriting && !isClosed
    }

    /// Closes the store.
    ///
    /// - Returns: The state before; nil if the store was closed already.
    package mutating func close() -> TableStoreState? {
        guard !isClosed else { return nil }
        defer { (isClosed, page, lock) = (true, nil, nil) }
        return self
    }
}

extension TableStoreState {
    /// Notes how many commits the database has had; returns whether another store has made one since the last call, so that
    /// what is known of the database is out of date.
    package mutating func note(commits: Int64) -> Bool {
        let foreign = commits - ownCommits
        defer { foreignCommits = foreign }
        guard let before = foreignCommits, before != foreign else { return false }
        notedMembers = [:]
        return true
    }
}

extension TableStore {
    /// The open run.
    package var run: RunState {
        get { withState { $0.run } }
        set { withState { $0.run = newValue } }
    }

    /// The scans that have begun.
    package var scans: OpenScans { withState { $0.scans } }

    /// Changes the scans that have begun.
    package func changeScans(_ body: (inout OpenScans) -> Void) { withState { body(&$0.scans) } }

    /// Whether the store was closed.
    package var isClosed: Bool { withState { $0.isClosed } }

    /// Whether this store holds the database's lock; see ``keep(_:)``.
    package var hasLock: Bool { withState { $0.lock != nil } }

    /// Keeps the database's lock, and releases it when the store is closed.
    package func keep(_ lock: any StoreLock) { withState { $0.lock = lock } }

    /// Returns the error of a transaction that finds other tables than those that the store was opened for.
    package func tablesChanged(at place: String) -> StoreError {
        StoreError(
            .schema, "\(place): the tables were changed since the store was opened", remedy: "open the database again")
    }
}
