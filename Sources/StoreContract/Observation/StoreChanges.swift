/// The changes of some entities, as any process commits them: an `AsyncSequence` for one consumer.
///
/// ```swift
/// for await change in try store.changes(of: "Country", "City") {
///     reload(change.entities)
/// }
/// ```
///
/// Changes while the consumer is busy are combined into the next element. The sequence ends when the store is closed or
/// the task is cancelled.
public struct StoreChanges: AsyncSequence, Sendable {
    /// The entities that may have changed since the previous element.
    public struct Element: Sendable, Equatable {
        /// The observed entities that may have changed.
        ///
        /// This is exact for pages that this process imports. If another process wrote the file, these are all observed
        /// entities: SQLite reports that there was a change, but not where. ``QueryChanges`` compares the rows.
        public var entities: Set<String>
        /// Whether another process, or another connection of this one, has written.
        public var isForeign: Bool

        /// Creates a change.
        public init(entities: Set<String>, isForeign: Bool) {
            self.entities = entities
            self.isForeign = isForeign
        }
    }

    private let subscription: ChangeSubscription
    private let names: [String]

    /// Creates the sequence of a subscription.
    ///
    /// - Parameters:
    ///   - subscription: The store's subscription, which this sequence alone uses.
    ///   - names: The names of the model's entities, by index.
    package init(_ subscription: ChangeSubscription, names: [String]) {
        self.subscription = subscription
        self.names = names
    }

    /// Begins to observe; call it only once.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(subscription: subscription, names: names, signals: subscription.signals.makeAsyncIterator())
    }

    /// An iterator that waits for changes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let subscription: ChangeSubscription
        let names: [String]
        var signals: AsyncStream<Void>.Iterator

        /// Returns the next change; nil if the store is closed or the task is cancelled.
        public mutating func next() async -> Element? {
            while await signals.next() != nil {
                let pending = subscription.take()
                // Already included in the previous element, which was being delivered when this was committed.
                if pending.entities.isEmpty { continue }
                return Element(entities: Set(pending.entities.map { names[$0] }), isForeign: pending.isForeign)
            }
            return nil
        }
    }
}
