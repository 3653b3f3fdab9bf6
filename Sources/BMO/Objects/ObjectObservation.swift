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

    private let changes: QueryChanges
    private let entity: Int
    private let including: [String]
    private let reader: ObjectReader

    init(_ request: ObjectRequest, store: any Store, reader: ObjectReader) throws {
        let query = try reader.query(request)
        do {
            changes = try store.observe(query)
        } catch let error as StoreError {
            throw RequestError(
                .answeredLocally, entity: request.entity, code: "database", error.message, remedy: error.remedy)
        }
        entity = reader.model.index(of: request.entity) ?? 0
        including = request.including
        self.reader = reader
    }

    /// Starts listening; call it once.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(changes: changes.makeAsyncIterator(), entity: entity, including: including, reader: reader)
    }

    /// An iterator that waits for differences.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var changes: QueryChanges.AsyncIterator
        let entity: Int
        let including: [String]
        let reader: ObjectReader

        /// Returns the next difference; nil when the manager is closed or the task is cancelled.
        public mutating func next() async throws -> Element? {
            guard let change = try await changes.next() else { return nil }
            let objects = try await reader.objects(entity, rows: change.rows, including: including)
            return Element(objects: objects, difference: change.difference)
        }
    }
}
