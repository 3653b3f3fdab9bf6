internal import StoreContract
internal import Synchronization

/// The pending notifications of one sequence of changes.
final class MemorySubscription: ChangeSubscription {
    /// A subscription that its sequence keeps alive.
    struct Reference {
        weak var value: MemorySubscription?
    }

    /// The store that observes.
    let store: ObjectIdentifier
    let signals: AsyncStream<Void>
    private let entities: [String: Int]
    private let signal: AsyncStream<Void>.Continuation
    private let pending = Mutex(PendingChanges())

    /// Creates a subscription of entities, by name with their index in the model.
    init(_ entities: [String: Int], by store: ObjectIdentifier) {
        self.entities = entities
        self.store = store
        // All changes while the consumer is busy are combined into one.
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    deinit { signal.finish() }

    func note(_ changed: Set<String>, isForeign: Bool) {
        let indexes = changed.compactMap { entities[$0] }
        guard !indexes.isEmpty else { return }
        pending.withLock {
            $0.entities.formUnion(indexes)
            $0.isForeign = $0.isForeign || isForeign
        }
        signal.yield()
    }

    func take() -> PendingChanges {
        pending.withLock { pending in
            defer { pending = PendingChanges() }
            return pending
        }
    }

    func finish() { signal.finish() }
}
