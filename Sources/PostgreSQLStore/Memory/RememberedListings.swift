internal import Mapping
internal import StoreContract
internal import StoreRules
internal import SystemCalls

/// The memories of a schema's listings, of the batches whose rows are as they left them.
///
/// - The first page of a scan begins with the question which of these rows others have changed or deleted since the last
///   scan; see ``WriterMark``. Until then, the bridge may already deliver batches.
/// - During a scan, each commit of this process says which tables it wrote, and each page finds out whether another process
///   of bmo has committed.
/// - Between two processes, a file keeps the memories; see `BatchMemoryFile`. It is valid for the database in which the
///   newest run of that time has ended as it did: not for one restored from an earlier backup.
final class RememberedListings: Sendable {
    private struct State {
        var memories: ListingMemories
        var isRead = false
        /// The stamp of what was read, as long as nothing has checked that it is the database's.
        var uncheckedStamp: String?
        /// The scans that have begun, and whose rows others may have changed.
        var unchecked: Set<ScanScope> = []
    }

    private let state: Mutex<State>
    private let file: BatchMemoryFile?

    /// The maximum number of rows written by others that are looked up.
    private static let maxForeign = 1_000
    /// The maximum number of ranges of row numbers of a question: those of keys with more gaps are not remembered.
    private static let maxRanges = 100_000
    /// The number of transactions after which a mark is saved although nothing else has changed.
    private static let usualAge: Int64 = 1_000_000

    init(_ location: DatabaseLocation, _ model: CompiledModel) {
        state = Mutex(State(memories: ListingMemories(model)))
        file = BatchMemoryFile(of: location.text(ofSchema: location.schema), model: model)
    }

    // MARK: - Scans

    /// Begins the scan of a listing; returns its memory, which ``check(over:)`` has to check before it is used.
    func begin(_ scan: ScanTarget, mapping: String) -> ListingMemory {
        state.withLock { state in
            if !state.isRead, let (stamp, kept) = file?.read() {
                state.uncheckedStamp = stamp
                state.memories.take(kept)
            }
            state.isRead = true
            let listing = state.memories.begin(scan, mapping: mapping)
            state.unchecked.insert(scan.scope)
            return listing
        }
    }

    /// Whether a scan has begun whose memory is not checked.
    var needsCheck: Bool { state.withLock { !$0.unchecked.isEmpty } }

    /// Whether a listing that is being scanned has batches.
    var hasBatches: Bool { state.withLock { $0.memories.hasBatches } }

    /// Forgets the batches of scans that have begun whose rows others have changed.
    ///
    /// Call it before the transaction of a page: what others change later must be newer than the marks.
    ///
    /// - Parameter tables: Those of a transaction with one snapshot.
    func check(over tables: PostgreSQLTables) throws {
        let (stamp, unchecked, listings) = state.withLock { state in
            (state.uncheckedStamp, state.unchecked, state.unchecked.compactMap(state.memories.memory))
        }
        if let stamp, try !isValid(stamp, over: tables) { forgetAll() }
        state.withLock { $0.uncheckedStamp = nil }
        guard try !tables.haveTriggers() else { return giveUp() }
        for listing in listings { try check(listing, over: tables) }
        state.withLock { $0.unchecked.subtract(unchecked) }
    }

    /// Forgets everything, and remembers nothing of the scans whose memories are not checked.
    func giveUp() {
        state.withLock { state in
            state.memories.forgetAll()
            for scope in state.unchecked { state.memories.end(scope) }
            (state.uncheckedStamp, state.unchecked) = (nil, [])
        }
    }

    /// Forgets the batches whose rows others have changed since the listing's mark, and sets a new one.
    private func check(_ listing: ListingMemory, over tables: PostgreSQLTables) throws {
        let noted = WriterMark(listing.mark)
        listing.mark = []
        let snapshot = try tables.snapshot()
        guard let table = try tables.fingerprint(of: listing.root) else { return listing.forgetAll() }
        let before = noted.flatMap { $0.table == table && $0.isValid(before: snapshot.next) ? $0 : nil }
        if let before {
            try forgetChanged(listing, since: before, over: tables)
        } else {
            listing.forgetAll()
        }
        let new = try tables.mark(of: listing.root, snapshot, table: table, later: before?.later ?? [])
        listing.mark = new?.numbers ?? []
        // An older mark is as good, as long as it has no transactions to look up.
        if before?.later.isEmpty != true || snapshot.oldest - (before?.oldest ?? 0) > Self.usualAge {
            listing.isChanged = true
        }
    }

    /// Forgets the batches of rows that others have changed, and all if rows are missing or many were changed.
    private func forgetChanged(_ listing: ListingMemory, since mark: WriterMark, over tables: PostgreSQLTables) throws {
        guard let (rows, count) = listing.rows(atMost: Self.maxRanges) else { return listing.forgetAll() }
        guard count > 0 else { return }
        let found = try tables.count(listing.root, rows: rows, since: mark)
        guard found.all == count, found.all - found.known <= Self.maxForeign else { return listing.forgetAll() }
        guard found.known < count else { return }
        let foreign = try tables.foreignRows(of: listing.root, in: rows, since: mark, limit: Self.maxForeign)
        listing.forget(rowsOf: foreign.map { $0...$0 })
    }

    /// Forgets everything.
    func forgetAll() { state.withLock { $0.memories.forgetAll() } }

    /// Returns the memory of a listing that is being scanned.
    func memory(of scope: ScanScope) -> ListingMemory? { state.withLock { $0.memories.memory(of: scope) } }

    /// Ends the scan of a listing.
    func end(_ scope: ScanScope) {
        state.withLock { state in
            state.memories.end(scope)
            // The mark of a memory that was not checked still holds.
            state.unchecked.remove(scope)
        }
    }

    /// Notes a transaction of this process.
    ///
    /// - Parameters:
    ///   - entities: The entities whose rows it has written.
    ///   - own: The listing of its page, if it has one.
    ///   - number: Its number; empty if it has written nothing.
    func committed(_ entities: Set<Int>, by own: ListingMemory?, number: String) {
        state.withLock { $0.memories.committed(entities, by: own) }
        guard let own, !number.isEmpty else { return }
        own.isChanged = true
        if let number = Int64(number), var mark = WriterMark(own.mark) {
            mark.later.append(number)
            own.mark = mark.numbers
        } else {
            own.mark = []
        }
    }

    // MARK: - Between two processes

    /// Returns whether the database is the one that a stamp names.
    private func isValid(_ stamp: String, over tables: PostgreSQLTables) throws -> Bool {
        let parts = stamp.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 4, try tables.identity() == parts[0] else { return false }
        return try tables.hasRun(PostgreSQLTables.EndedRun(id: parts[1], started: parts[2], finished: parts[3]))
    }

    /// Keeps the listings for the next process.
    func save(over tables: PostgreSQLTables) throws {
        if let stamp = state.withLock({ $0.uncheckedStamp }) {
            guard try isValid(stamp, over: tables) else { return }
        }
        let changed = state.withLock { $0.isRead && $0.memories.areChanged ? $0.memories.worthKeeping : nil }
        guard let file, let changed, let identity = try tables.identity(), let run = try tables.newestRun() else {
            return
        }
        file.write(changed, for: [identity, run.id, run.started, run.finished].joined(separator: "\n"))
        state.withLock { $0.memories.noteSaved() }
    }
}
