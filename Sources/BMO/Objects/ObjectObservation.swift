internal import Importer
internal import Mapping
public import StoreContract

/// The local objects of a request and their changes: an `AsyncSequence` for one consumer.
///
/// The first element has all objects, as insertions. Later ones come only when the objects differ, whichever process
/// wrote them; included objects are re-read, and do not count as a difference. The sequence ends when the manager is
/// closed or the task is cancelled.
public struct ObjectObservation: AsyncSequence, Sendable {
    /// The objects after a change.
    public struct Element: Sendable {
        /// The objects, in the request's order.
        public var objects: [LocalObject]
        /// The difference from the previous element's objects, with the indexes that a list view needs.
        public var difference: RowDifference
    }

    private let query: RowQuery
    private let including: [String]
    private let store: any Store
    private let reader: ObjectReader
    private let isClosed: @Sendable () -> Bool

    /// - Throws: ``RequestError`` for a request that does not fit the model.
    init(
        _ request: ObjectRequest, store: any Store, reader: ObjectReader, isClosed: @escaping @Sendable () -> Bool
    ) throws {
        query = try reader.query(request)
        including = request.including
        self.store = store
        self.reader = reader
        self.isClosed = isClosed
    }

    /// Returns an iterator, which starts listening with its first element.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(query: query, including: including, store: store, reader: reader, isClosed: isClosed)
    }

    /// An iterator that waits for differences.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let query: RowQuery
        private let including: [String]
        private let store: any Store
        private let reader: ObjectReader
        private let isClosed: @Sendable () -> Bool
        /// Nil before the first element.
        private var changes: QueryChanges.AsyncIterator?
        /// The rows of the last element.
        private(set) var rows: [EntityRow] = []

        init(
            query: RowQuery, including: [String], store: any Store, reader: ObjectReader,
            isClosed: @escaping @Sendable () -> Bool
        ) {
            self.query = query
            self.including = including
            self.store = store
            self.reader = reader
            self.isClosed = isClosed
        }

        /// Returns the next difference; nil when the manager is closed or the task is cancelled.
        ///
        /// - Throws: ``RequestError`` when the database cannot be observed, `StoreError` when it cannot be read.
        public mutating func next() async throws -> Element? {
            do {
                return try await nextChange()
            } catch {
                if isClosed() { return nil }
                throw error
            }
        }

        private mutating func nextChange() async throws -> Element? {
            if changes == nil { changes = try await open() }
            guard let change = try await changes?.next() else { return nil }
            let entity = reader.model.index(of: query.entity) ?? 0
            let objects = try await reader.objects(entity, rows: change.rows, including: including)
            rows = change.rows
            return Element(objects: objects, difference: change.difference)
        }

        /// Begins to observe the database, which can wait for a writer or a server.
        private func open() async throws -> QueryChanges.AsyncIterator {
            if isClosed() { throw RequestError.closed(query.entity) }
            do {
                return try await ImportThread(label: "bmo.observe").run { [store, query] in
                    try store.observe(query)
                }.makeAsyncIterator()
            } catch let error as StoreError {
                throw RequestError(
                    .answeredLocally, entity: query.entity, code: "database", error.message, remedy: error.remedy)
            }
        }
    }
}
