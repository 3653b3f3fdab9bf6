internal import Importer

/// The rows of a query, and what became of them with each change: an `AsyncSequence` for one consumer, the analogue of a
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
/// The first element has all rows, as insertions. An element comes only when the rows differ, whoever wrote them; what
/// happens while the consumer is busy is one difference. Each change reads the rows of the query again and holds them:
/// give a large table conditions or a limit.
///
/// The sequence ends when the store is closed or the task is cancelled, and throws a ``StoreError`` when the rows cannot be
/// read.
public struct QueryChanges: AsyncSequence, Sendable {
    /// The rows after a change.
    public struct Element: Sendable {
        /// The rows, in the query's order.
        public var rows: [EntityRow]
        /// What leads from the rows of the element before to these.
        public var difference: RowDifference
    }

    let store: SQLiteStore
    let query: CompiledQuery
    let subscription: ChangeWatcher.Subscription

    /// Begins to listen; call it once.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(
            store: store, query: query, subscription: subscription, signals: subscription.signals.makeAsyncIterator())
    }

    /// Waits for differences.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let store: SQLiteStore
        let query: CompiledQuery
        let subscription: ChangeWatcher.Subscription
        var signals: AsyncStream<Void>.Iterator
        var rows: [EntityRow]?

        /// The next difference; nil when the store is closed or the task is cancelled.
        public mutating func next() async throws -> Element? {
            while true {
                if rows != nil {
                    guard await signals.next() != nil else { return nil }
                }
                if Task.isCancelled { return nil }
                _ = subscription.take()
                let old = rows
                let new: [EntityRow]
                do {
                    new = try await store.watcher.run { [store, query] in try query.rows(in: store) }
                } catch let error as StoreError where error.code == .internal && store.isClosed {
                    return nil
                }
                let difference = RowDifference(from: old ?? [], to: new)
                rows = new
                if old == nil || !difference.isEmpty { return Element(rows: new, difference: difference) }
            }
        }
    }
}
