/// A running request for objects of one type: its local objects are available, and its remote part can be awaited,
/// observed or ignored.
///
/// Releasing it leaves the remote part running; see ``ObjectFetch``.
public struct TypedFetch<Object: BackedObject>: Sendable {
    /// The local objects that matched before the remote was queried.
    public let local: [Object]
    /// Why matching objects are missing in ``local``: each has a value that its Swift type cannot represent.
    public let misfits: [RequestError]
    /// The request without the type, with its events.
    public let untyped: ObjectFetch

    init(_ fetch: ObjectFetch) throws(RequestError) {
        untyped = fetch
        let readable = try fetch.local.readable(as: Object.self)
        local = readable.objects
        misfits = readable.misfits
    }

    /// The result of the remote part, once it has ended.
    ///
    /// - Throws: ``RequestError`` with the step at which it failed; `CancellationError`.
    public var remote: FetchResult { get async throws { try await untyped.remote } }

    /// Returns the objects that match now.
    ///
    /// - Throws: ``RequestError``.
    public func objects() async throws -> [Object] { try await untyped.objects().typed() }

    /// Waits for the remote part, and returns the objects that match then.
    ///
    /// - Throws: As ``remote``.
    public func updated() async throws -> [Object] {
        _ = try await remote
        return try await objects()
    }

    /// Gives up the remote part.
    public func cancel() { untyped.cancel() }
}

/// The local objects of a query and their changes: an `AsyncSequence` for one consumer.
///
/// ```swift
/// for try await change in try manager.observe(Note.all.sorted(by: Note.title)) {
///     list.apply(change.difference, change.objects)
/// }
/// ```
///
/// As ``ObjectObservation``: the first element has all objects, as insertions. An object with a value that its Swift type
/// cannot represent is left out until it has another one.
public struct TypedObservation<Object: BackedObject>: AsyncSequence, Sendable {
    /// The objects after a change.
    public struct Element: Sendable {
        /// The objects, in the query's order.
        public var objects: [Object]
        /// The difference from the previous element's objects, with the indexes that a list view needs.
        public var difference: RowDifference
        /// Why objects of the query are left out.
        public var misfits: [RequestError]
    }

    let untyped: ObjectObservation

    /// Starts listening; call it once.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(untyped: untyped.makeAsyncIterator()) }

    /// An iterator that waits for differences.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var untyped: ObjectObservation.AsyncIterator
        /// The rows and misfits of the last element.
        private var last: (rows: [EntityRow], misfits: [RequestError])?

        init(untyped: ObjectObservation.AsyncIterator) { self.untyped = untyped }

        /// Returns the next difference; nil when the manager is closed or the task is cancelled.
        public mutating func next() async throws -> Element? {
            while let element = try await untyped.next() {
                let readable = try element.objects.readable(as: Object.self)
                let rows = readable.rows(among: untyped.rows)
                let isWhole = readable.misfits.isEmpty && last?.misfits.isEmpty ?? true
                let difference = isWhole ? element.difference : RowDifference(from: last?.rows ?? [], to: rows)
                let isSame = last != nil && difference.isEmpty && last?.misfits == readable.misfits
                last = (rows, readable.misfits)
                if isSame { continue }
                return Element(objects: readable.objects, difference: difference, misfits: readable.misfits)
            }
            return nil
        }
    }
}

/// The local result of saving one object, and its outcome on the remote.
public struct TypedSave<Object: BackedObject>: Sendable {
    /// The object as it is in the database after the local save; nil where it was deleted.
    ///
    /// A new object has a temporary key until the remote assigns one; see ``current``.
    public let object: Object?
    /// The save without the type.
    public let untyped: ObjectSave
    let read: @Sendable (ObjectID) async throws -> LocalObject?

    /// The user info that the edit was saved with.
    public var userInfo: UserInfo? { untyped.userInfo }

    /// The object after the push, with the key that the remote assigned; nil where it was deleted or rolled back.
    ///
    /// - Throws: As ``ObjectSave/remote``.
    public var current: Object? {
        get async throws {
            let saved = try await untyped.current.last
            guard let id = saved?.id ?? object?.objectID, let object = try await read(id) else { return nil }
            return try Object(object)
        }
    }

    /// The outcome on the remote; nil where nothing was sent.
    ///
    /// - Throws: As ``ObjectSave/remote``.
    public var outcome: EditOutcome? {
        get async throws {
            let outcomes = try await untyped.remote
            return untyped.saved.last?.entry.flatMap { outcomes[$0] }
        }
    }
}
