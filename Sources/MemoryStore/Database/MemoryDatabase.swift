internal import StoreContract
internal import SystemCalls

/// A database that the stores of a process share: its committed state, and which store is writing.
final class MemoryDatabase: Sendable {
    private struct Shared {
        var state = DatabaseState()
        /// The number of commits.
        var version: Int64 = 0
        /// The store that has an open transaction.
        var writer: ObjectIdentifier?
        var subscriptions: [MemorySubscription.Reference] = []
    }

    let location: String
    private let shared = Monitor(Shared())
    let writing = LockSlot()
    let pushing = LockSlot()

    /// The time limit for another store's transaction, in seconds.
    private static let patience = 30.0

    init(_ location: String) { self.location = location }

    /// The committed state.
    var state: DatabaseState { shared.withLock { $0.state } }

    /// The number of commits so far.
    var version: Int64 { shared.withLock { $0.version } }

    /// Begins a store's transaction, after those of other stores; returns the state that it starts from.
    ///
    /// - Throws: `StoreError` of the code `busy` after half a minute.
    func begin(_ store: ObjectIdentifier) throws -> DatabaseState {
        let state = shared.wait(seconds: Self.patience) { shared -> DatabaseState? in
            guard shared.writer == nil else { return nil }
            shared.writer = store
            return shared.state
        }
        guard let state else {
            throw StoreError(
                .busy, "\(location): another store has been writing for \(Int(Self.patience)) seconds",
                remedy: "try again when it has ended")
        }
        return state
    }

    /// Ends a store's transaction; `state` takes effect, or nothing does if nil.
    ///
    /// - Parameter entities: The names of the entities whose rows changed.
    func end(_ store: ObjectIdentifier, _ state: DatabaseState?, changed entities: Set<String> = []) {
        let observers = shared.change { shared -> [MemorySubscription] in
            shared.writer = nil
            guard let state else { return [] }
            shared.state = state
            shared.version += 1
            shared.subscriptions.removeAll { $0.value == nil }
            return shared.subscriptions.compactMap(\.value)
        }
        for observer in observers { observer.note(entities, isForeign: observer.store != store) }
    }

    /// Replaces the state of a database that no store has opened.
    func replace(_ state: DatabaseState) { shared.withLock { $0.state = state } }

    /// Notifies a subscription of later commits.
    func add(_ subscription: MemorySubscription) {
        shared.withLock { $0.subscriptions.append(MemorySubscription.Reference(value: subscription)) }
    }

    /// Ends the sequences of a store.
    func endSubscriptions(of store: ObjectIdentifier) {
        let ended = shared.withLock { shared in
            let own = shared.subscriptions.compactMap(\.value).filter { $0.store == store }
            shared.subscriptions.removeAll { $0.value.map { $0.store == store } ?? true }
            return own
        }
        for subscription in ended { subscription.finish() }
    }
}
