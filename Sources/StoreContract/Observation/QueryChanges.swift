/// The rows of a query and their differences with each change: an `AsyncSequence` for one consumer, similar to a
/// fetched-results controller.
///
/// ```swift
/// let query = RowQuery("Country", where: [.init(field: "region", comparison: .equal, value: "Europe")],
///                      order: [.init("name")])
/// for try await change in try store.observe(query) {
///     table.apply(change.difference)      // deletions, insertions, moves, updates, with their indexes
/// }
/// ```
///
/// The first element has all rows, as insertions. Further elements arrive only when the rows differ, whichever process
/// wrote them; changes while the consumer is busy are combined into one difference. Each change reads the query's rows
/// again and keeps them in memory, so give queries of large tables conditions or a limit.
///
/// The sequence ends when the store is closed or the task is cancelled, and throws a ``StoreError`` if the rows cannot
/// be read.
public struct QueryChanges: AsyncSequence, Sendable {
    /// The rows after a change.
    public struct Element: Sendable {
        /// The rows, in the query's order.
        public var rows: [EntityRow]
        /// The difference from the previous element's rows.
        public var difference: RowDifference
    }

    private let subscription: ChangeSubscription
    private let read: @Sendable () async throws -> [EntityRow]?

    /// Creates the sequence of a query's rows.
    ///
    /// - Parameters:
    ///   - subscription: The store's subscription, which this sequence alone uses.
    ///   - read: Returns the query's present rows; nil once the store is closed.
    package init(_ subscription: ChangeSubscription, read: @escaping @Sendable () async throws -> [EntityRow]?) {
        self.subscription = subscription
        self.read = read
    }

    /// Begins to observe; call it only once.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(subscription: subscription, read: read, signals: subscription.signals.makeAsyncIterator())
    }

    /// An iterator that waits for differences.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let subscription: ChangeSubscription
        let read: @Sendable () async throws -> [EntityRow]?
        var signals: AsyncStream<Void>.Iterator
        var rows: [EntityRow]?

        /// Returns the next difference; nil if the store is closed or the task is cancelled.
        public mutating func next() async throws -> Element? {
            while true {
                if rows != nil {
                    guard await signals.next() != nil else { return nil }
                }
                if Task.isCancelled { return nil }
                _ = subscription.take()
                guard let new = try await read() else { return nil }
                let old = rows
                let difference = RowDifference(from: old ?? [], to: new)
                rows = new
                if old == nil || !difference.isEmpty { return Element(rows: new, difference: difference) }
            }
        }
    }
}
