internal import Dispatch
internal import StoreContract
internal import SystemCalls

/// The notifier of subscribers about entities that may have changed.
///
/// It notifies at once of pages that this process commits, and polls the file for all other changes. It polls the
/// writer's connection, whose `data_version` changes only when another connection commits, and whose change count only
/// when this one writes: so a commit of this process wakes only the subscribers concerned. It polls only while there
/// are subscribers.
final class ChangeWatcher: Sendable {
    /// The connection's change indicators.
    struct Mark: Equatable {
        /// A number that changes with commits by other connections.
        var version: Int64
        /// A number that changes with every row that this connection writes.
        ///
        /// Nil while a page is open, which notifies at its end.
        var changes: Int64?
    }

    private struct State {
        var subscriptions: [ObjectIdentifier: WeakSubscription] = [:]
        var timer: (any DispatchSourceTimer)?
        var interval: Duration?
        var seen: Mark?
        var isClosed = false
    }

    private struct WeakSubscription {
        weak var value: ChangeSubscription?
    }

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "bmo.observation")
    private let look: @Sendable (_ body: (Mark) -> Void) -> Void

    /// Creates a watcher.
    ///
    /// - Parameter look: Reads the connection's indicators and calls `body` while no commit can intervene; does not
    ///   call it if the connection is closed.
    init(look: @escaping @Sendable (_ body: (Mark) -> Void) -> Void) {
        self.look = look
    }

    /// Runs blocking work on the watcher's queue.
    func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result(catching: body)) }
        }
    }

    func subscribe(to entities: Set<Int>, every interval: Duration) -> ChangeSubscription {
        let subscription = ChangeSubscription(entities, every: interval)
        let isOpen = state.withLock { state in
            guard !state.isClosed else { return false }
            state.subscriptions[ObjectIdentifier(subscription)] = WeakSubscription(value: subscription)
            schedule(&state)
            return true
        }
        guard isOpen else {
            subscription.finish()
            return subscription
        }
        // Commits before the first subscription are not changes.
        look { mark in
            state.withLock { state in
                if state.seen == nil { state.seen = mark }
            }
        }
        return subscription
    }

    /// Notifies of a page committed by this process; call it on the writer's connection.
    func committed(_ entities: Set<Int>, at changes: Int64) {
        let subscriptions = state.withLock { state in
            state.seen?.changes = changes
            return state.subscriptions.values.compactMap(\.value)
        }
        for subscription in subscriptions { subscription.note(entities, isForeign: false) }
    }

    /// Notes a page rolled back by this process; call it on the writer's connection.
    func rolledBack(at changes: Int64) {
        state.withLock { $0.seen?.changes = changes }
    }

    /// Ends all sequences.
    func close() {
        let subscriptions = state.withLock { state in
            state.isClosed = true
            state.timer?.cancel()
            state.timer = nil
            defer { state.subscriptions = [:] }
            return state.subscriptions.values.compactMap(\.value)
        }
        for subscription in subscriptions { subscription.finish() }
    }

    private func poll() {
        var told: [ChangeSubscription] = []
        var isForeign = false
        look { mark in
            state.withLock { state in
                defer {
                    state.seen = Mark(version: mark.version, changes: mark.changes ?? state.seen?.changes)
                }
                guard let seen = state.seen else { return }
                isForeign = mark.version != seen.version
                let isOwn = mark.changes != nil && mark.changes != seen.changes
                if isForeign || isOwn { told = state.subscriptions.values.compactMap(\.value) }
            }
        }
        // SQLite reports that the file changed, but not where.
        for subscription in told { subscription.note(nil, isForeign: isForeign) }
        state.withLock { state in
            state.subscriptions = state.subscriptions.filter { $0.value.value != nil }
            if state.subscriptions.isEmpty { state.seen = nil }
            if !state.isClosed { schedule(&state) }
        }
    }

    /// Polls at the shortest interval that a subscriber requests, and not at all without subscribers.
    private func schedule(_ state: inout State) {
        let interval = state.subscriptions.values.compactMap { $0.value?.interval }.min()
        guard interval != state.interval else { return }
        state.interval = interval
        state.timer?.cancel()
        state.timer = nil
        guard let interval else { return }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let (seconds, attoseconds) = interval.components
        let nanoseconds = max(1_000_000, Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000))
        timer.schedule(
            deadline: .now() + .nanoseconds(nanoseconds), repeating: .nanoseconds(nanoseconds),
            leeway: .nanoseconds(nanoseconds / 10))
        timer.setEventHandler { [weak self] in self?.poll() }
        timer.resume()
        state.timer = timer
    }
}
