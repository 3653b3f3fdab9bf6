/// A running request for objects of one type: its local objects are available, and its remote part can be awaited,
/// observed or ignored.
///
/// Releasing it leaves the remote part running; see ``ObjectFetch``.
public struct TypedFetch<Object: BackedObject>: Sendable {
    /// The local objects that matched before the remote was queried.
    public let local: [Object]
    /// The request without the type, with its events.
    public let untyped: ObjectFetch

    init(_ fetch: ObjectFetch) throws(RequestError) {
        untyped = fetch
        local = try fetch.local.typed()
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
/// As ``ObjectObservation``: the first element has all objects, as insertions.
public struct TypedObservation<Object: BackedObject>: AsyncSequence, Sendable {
    /// The objects after a change.
    public struct Element: Sendable {
        /// The objects, in the query's order.
        public var objects: [Object]
        /// The difference from the previous element's objects, with the indexes that a list view needs.
        public var difference: RowDifference
    }

    let untyped: ObjectObservation

    /// Starts listening; call it once.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(untyped: untyped.makeAsyncIterator()) }

    /// An iterator that waits for differences.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var untyped: ObjectObservation.AsyncIterator

        /// Returns the next difference; nil when the manager is closed or the task is cancelled.
        public mutating func next() async throws -> Element? {
            guard let element = try await untyped.next() else { return nil }
            return Element(objects: try element.objects.typed(), difference: element.difference)
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
