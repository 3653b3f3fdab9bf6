internal import SQLiteStore

/// The local objects of a request one after the other: each page is read when the one before is used up, and costs the same
/// wherever it is.
///
/// Each page shows the database as it is then; an object that comes before the place that you are at is not seen. Every
/// iteration begins at the beginning.
public struct ObjectCursor: AsyncSequence, Sendable {
    let reader: ObjectReader
    let request: ObjectRequest
    let pageSize: Int

    /// Begins at the beginning.
    public func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(reader: reader, request: request, pageSize: pageSize, left: request.limit ?? .max)
    }

    /// Reads a page at a time.
    public struct AsyncIterator: AsyncIteratorProtocol {
        let reader: ObjectReader
        let request: ObjectRequest
        let pageSize: Int
        var left: Int
        var waiting: ArraySlice<LocalObject> = []
        var last: EntityRow?
        var isAtEnd = false

        /// The next object; nil after the last.
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
            let page = try await reader.page(query, including: request.including)
            isAtEnd = page.objects.count < wanted
            left -= page.objects.count
            last = page.last ?? last
            waiting = page.objects[...]
            return waiting.popFirst()
        }
    }
}
