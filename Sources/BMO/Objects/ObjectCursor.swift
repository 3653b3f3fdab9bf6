internal import StoreContract

/// The local objects of a request as a sequence that reads one page after the other, at a cost that does not depend on
/// the position.
///
/// Each page shows the database at the time of its read; an object that is inserted before the current position is not
/// seen. Each iteration starts from the first object.
public struct ObjectCursor: AsyncSequence, Sendable {
    /// Reads a page.
    typealias Read = @Sendable (RowQuery, _ including: [String]) async throws -> ObjectReader.Page

    let reader: ObjectReader
    let request: ObjectRequest
    let pageSize: Int
    let read: Read

    /// Returns an iterator from the first object.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reader: reader, request: request, pageSize: pageSize, read: read, left: request.limit ?? .max)
    }

    /// An iterator that reads a page at a time.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let reader: ObjectReader
        let request: ObjectRequest
        let pageSize: Int
        let read: Read
        var left: Int
        var waiting: ArraySlice<LocalObject> = []
        var last: EntityRow?
        var isAtEnd = false

        /// Returns the next object; nil after the last.
        ///
        /// - Throws: ``RequestError``; `CancellationError`.
        public mutating func next() async throws -> LocalObject? {
            if let object = waiting.popFirst() { return object }
            guard !isAtEnd, left > 0 else { return nil }
            try Task.checkCancellation()
            var query = try reader.query(request)
            let wanted = Swift.min(pageSize, left)
            query.limit = wanted
            query.after = last
            if last != nil { query.offset = 0 }
            let page = try await read(query, request.including)
            isAtEnd = page.objects.count < wanted
            left -= page.objects.count
            last = page.last ?? last
            waiting = page.objects[...]
            return waiting.popFirst()
        }
    }
}
