public import StoreContract

extension RequestManager {
    /// Returns a loader for a remote list of one type, page by page and in the server's order.
    ///
    /// - Parameters:
    ///   - query: The query whose entity is listed; its conditions and included relationships apply.
    ///   - options: The loader's settings.
    ///   - place: Another loader's position: loading begins with the first page that was loaded there.
    /// - Throws: ``RequestError`` for a query that does not fit the model, and for an entity without a listing.
    public func collection<Object>(
        _ query: ObjectQuery<Object>, options: CollectionLoader.Options = CollectionLoader.Options(),
        from place: CollectionLoader.Place? = nil
    ) throws -> CollectionLoader {
        try collection(query.request, options: options, from: place)
    }

    /// Returns a loader for a remote list of one type whose order is kept in the database.
    ///
    /// - Parameters:
    ///   - query: The query whose entity is listed; its conditions and included relationships apply.
    ///   - name: The list's name, unique for the entity.
    ///   - options: The loader's settings.
    /// - Throws: ``RequestError``, also for a name that is empty, too long or has control characters.
    public func collection<Object>(
        _ query: ObjectQuery<Object>, keptAs name: String,
        options: CollectionLoader.Options = CollectionLoader.Options()
    ) async throws -> CollectionLoader {
        try await collection(query.request, keptAs: name, options: options)
    }
}

extension CollectionLoader {
    /// Returns the objects of the loaded pages as values of a type, in the server's order.
    ///
    /// - Throws: ``RequestError``.
    public func objects<Object: BackedObject>(as type: Object.Type) async throws -> [Object] {
        try await objects.typed()
    }

    /// Returns the list as values of a type, the loader's state, and their later changes.
    ///
    /// - Throws: ``RequestError``.
    public nonisolated func changes<Object: BackedObject>(of type: Object.Type) throws -> TypedCollectionChanges<Object>
    {
        TypedCollectionChanges(untyped: try changes())
    }
}

/// The objects of a list in the server's order, the loader's state, and their changes: an `AsyncSequence` for one consumer.
///
/// As ``CollectionChanges``: the first element has all objects, as insertions. An object with a value that its Swift type
/// cannot represent is left out until it has another one.
public struct TypedCollectionChanges<Object: BackedObject>: AsyncSequence, Sendable {
    /// The list after a change.
    public struct Element: Sendable {
        /// The objects of the loaded pages, in the server's order.
        public var objects: [Object]
        /// The difference from the previous element's objects, with the indexes that a list view needs.
        public var difference: RowDifference
        /// What the loader does.
        public var state: CollectionLoader.State
        /// Why objects of the list are left out.
        public var misfits: [RequestError]
    }

    let untyped: CollectionChanges

    /// Starts listening; call it once.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(untyped: untyped.makeAsyncIterator()) }

    /// An iterator that waits for changes.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var untyped: CollectionChanges.AsyncIterator
        /// The rows of the last element.
        private var rows: [EntityRow] = []
        private var isWhole = true

        init(untyped: CollectionChanges.AsyncIterator) { self.untyped = untyped }

        /// Returns the next change; nil when the manager is closed or the task is cancelled.
        public mutating func next() async throws -> Element? {
            guard let element = try await untyped.next() else { return nil }
            let readable = try element.objects.readable(as: Object.self)
            let new = readable.rows(among: untyped.rows)
            let wasWhole = isWhole
            isWhole = readable.misfits.isEmpty
            let difference = wasWhole && isWhole ? element.difference : RowDifference(from: rows, to: new)
            rows = new
            return Element(
                objects: readable.objects, difference: difference, state: element.state, misfits: readable.misfits)
        }
    }
}
