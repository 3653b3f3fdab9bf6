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
        var observers: [Observer] = []
    }

    /// A subscription that its sequence keeps alive.
    private struct Observer {
        weak var subscription: ChangeSubscription?
        let store: ObjectIdentifier
        /// The indexes of the entities in the store's model, by name.
        let entities: [String: Int]
    }

    let location: String
    private let shared = Monitor(Shared())
    let writing = LockSlot()
    let pushing = LockSlot()
    let texts = MemoryTexts()

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
        let observers = shared.change { shared -> [Observer] in
            shared.writer = nil
            guard let state else { return [] }
            shared.state = state
            shared.version += 1
            shared.observers.removeAll { $0.subscription == nil }
            return shared.observers
        }
        for observer in observers {
            observer.subscription?.note(
                Set(entities.compactMap { observer.entities[$0] }), isForeign: observer.store != store)
        }
    }

    /// Replaces the state of a database that no store has opened.
    func replace(_ state: DatabaseState) { shared.withLock { $0.state = state } }

    /// Notifies a store's subscription of later commits.
    ///
    /// - Parameter entities: The indexes of the entities in the store's model, by name.
    func add(_ subscription: ChangeSubscription, of store: ObjectIdentifier, entities: [String: Int]) {
        shared.withLock {
            $0.observers.append(Observer(subscription: subscription, store: store, entities: entities))
        }
    }

    /// Ends the sequences of a store.
    func endSubscriptions(of store: ObjectIdentifier) {
        let ended = shared.withLock { shared in
            let own = shared.observers.filter { $0.store == store }
            shared.observers.removeAll { $0.store == store || $0.subscription == nil }
            return own
        }
        for observer in ended { observer.subscription?.finish() }
    }
}
