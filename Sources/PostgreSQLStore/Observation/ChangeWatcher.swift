internal import Mapping
internal import StoreContract
internal import SystemCalls

/// Notices the commits of this store at once, and those of others by asking the server at intervals.
///
/// A thread with a connection asks, as long as the store is open and there are subscriptions.
final class ChangeWatcher: Sendable {
    private struct State {
        var subscriptions: [Weak] = []
        /// The commits of each entity that are known.
        var known: [String: Int64] = [:]
        var isRunning = false
        var isFinished = false

        /// The shortest interval that a subscription wants; nil without subscriptions.
        var interval: Duration? { subscriptions.compactMap { $0.value?.interval }.min() }
    }

    private struct Weak: Sendable {
        weak var value: ChangeSubscription?
    }

    private let state = Monitor(State())
    /// Held while this store commits and while the server is asked, so that an own commit is not taken for another's.
    private let commits = Mutex(())
    /// Held while a subscription begins: one whose thread does not start leaves that to the next.
    private let starts = Mutex(())
    private let location: DatabaseLocation
    private let sql: DatabaseSQL

    init(_ location: DatabaseLocation, _ sql: DatabaseSQL) {
        self.location = location
        self.sql = sql
    }

    /// Begins to notify of later commits.
    func subscribe(_ entities: Set<Int>, every interval: Duration) throws -> ChangeSubscription {
        try starts.withLock { _ in try begin(entities, every: interval) }
    }

    private func begin(_ entities: Set<Int>, every interval: Duration) throws -> ChangeSubscription {
        let subscription = ChangeSubscription(entities, every: interval) { [weak self] in self?.state.signal() }
        let (isOpen, starts) = state.change { state -> (Bool, Bool) in
            guard !state.isFinished else { return (false, false) }
            state.subscriptions.removeAll { $0.value == nil }
            state.subscriptions.append(Weak(value: subscription))
            defer { state.isRunning = true }
            return (true, !state.isRunning)
        }
        if !isOpen { subscription.finish() }
        guard starts else { return subscription }
        do {
            try start()
        } catch {
            state.withLock { $0.isRunning = false }
            throw error
        }
        return subscription
    }

    private func start() throws {
        let first = try Connection(location)
        try commits.withLock { _ in
            let counts = try Self.counts(first, sql)
            state.withLock { $0.known = counts }
        }
        let isStarted = NativeThread.detach(blocking: .all) { [weak self] in
            var connection = first
            while let watcher = self, watcher.waits() {
                if !connection.isAlive, let new = try? Connection(watcher.location) { connection = new }
                watcher.ask(connection)
            }
        }
        guard isStarted else { throw StoreError(.internal, "cannot start a thread to observe the database") }
    }

    /// Ends all sequences.
    func finish() {
        let ended = state.change { state in
            state.isFinished = true
            defer { state.subscriptions = [] }
            return state.subscriptions.compactMap(\.value)
        }
        for subscription in ended { subscription.finish() }
    }

    /// Runs the commit of a transaction that changed entities, and notifies of it.
    func committing(_ entities: Set<String>, _ commit: () throws -> Void) throws {
        try commits.withLock { _ in
            try commit()
            state.withLock { state in
                for entity in entities {
                    if let count = state.known[entity] {
                        state.known[entity] = count + 1
                    } else {
                        state.known[entity] = 1
                    }
                }
            }
        }
        notify(entities, isForeign: false)
    }

    // MARK: - The thread

    /// Waits for the next time to ask; returns false once the store is closed or the last subscription has ended.
    private func waits() -> Bool {
        let start = MonotonicClock.seconds
        while true {
            let interval = state.withLock { state -> Duration? in
                if !state.isFinished, let interval = state.interval { return interval }
                // The next subscription starts another thread.
                state.isRunning = false
                return nil
            }
            guard let interval else { return false }
            let end = start + max(0.001, Double(interval / .microseconds(1)) / 1_000_000)
            let left = end - MonotonicClock.seconds
            guard left > 0 else { return true }
            // The end of a subscription is signalled without the lock, so that a signal may be missed.
            _ = state.wait(seconds: min(left, 5)) { $0.isFinished || $0.interval != interval ? true : nil }
        }
    }

    private func ask(_ connection: Connection) {
        let changed = commits.withLock { _ -> Set<String> in
            // A lost connection is made again the next time; a missing table is an error of the next reading call.
            guard let counts = try? Self.counts(connection, sql) else { return [] }
            return state.withLock { state in
                defer { state.known = counts }
                return Set(counts.filter { state.known[$0.key] != $0.value }.keys)
            }
        }
        if !changed.isEmpty { notify(changed, isForeign: true) }
    }

    private static func counts(_ connection: Connection, _ sql: DatabaseSQL) throws -> [String: Int64] {
        let result = try connection.query("SELECT entity, commits FROM \(sql.own("bmo_observed"))")
        return Dictionary(
            (0..<result.count).map { (result.text($0, 0) ?? "", result.bigint($0, 1) ?? 0) },
            uniquingKeysWith: { first, _ in first })
    }

    private func notify(_ entities: Set<String>, isForeign: Bool) {
        let indexes = Set(entities.compactMap { sql.model.index(of: $0) })
        for subscription in state.withLock({ $0.subscriptions.compactMap(\.value) }) {
            subscription.note(indexes, isForeign: isForeign)
        }
    }
}
