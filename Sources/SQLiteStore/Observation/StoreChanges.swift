/// The changes of some entities, as they are committed by any process: an `AsyncSequence` for one consumer.
///
/// ```swift
/// for await change in try store.changes(of: "Country", "City") {
///     reload(change.entities)
/// }
/// ```
///
/// What happens while the consumer is busy is told once, with the next element. The sequence ends when the store is closed
/// or the task is cancelled.
public struct StoreChanges: AsyncSequence, Sendable {
    /// What may have changed since the element before.
    public struct Element: Sendable, Equatable {
        /// Those of the observed entities that may have changed.
        ///
        /// Exact for pages that this process imports. When another process wrote the file these are all that are
        /// observed: SQLite tells that there was a change, and not where. A ``QueryChanges`` compares the rows.
        public var entities: Set<String>
        /// Whether another process, or another connection of this one, has written.
        public var isForeign: Bool

        /// A change.
        public init(entities: Set<String>, isForeign: Bool) {
            self.entities = entities
            self.isForeign = isForeign
        }
    }

    let subscription: ChangeWatcher.Subscription
    let names: [String]

    /// Begins to listen; call it once.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(subscription: subscription, names: names, signals: subscription.signals.makeAsyncIterator())
    }

    /// Waits for the changes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let subscription: ChangeWatcher.Subscription
        let names: [String]
        var signals: AsyncStream<Void>.Iterator

        /// The next change; nil when the store is closed or the task is cancelled.
        public mutating func next() async -> Element? {
            while await signals.next() != nil {
                let pending = subscription.take()
                // Told with the element before, which was on its way when this was committed.
                if pending.entities.isEmpty { continue }
                return Element(entities: Set(pending.entities.map { names[$0] }), isForeign: pending.isForeign)
            }
            return nil
        }
    }
}
