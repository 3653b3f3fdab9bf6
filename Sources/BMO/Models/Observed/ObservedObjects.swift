public import Observation
public import StoreContract

/// The current objects of a query, for a user interface: an `@Observable` list that follows the database.
///
/// ```swift
/// @State var notes = ObservedObjects(Note.all.sorted(by: Note.title), of: manager)
/// List(notes.objects) { Text($0.title ?? "") }
/// ```
///
/// It observes until it is released, or until the manager is closed. ``Fetched`` declares one as a property.
@MainActor @Observable
public final class ObservedObjects<Object: BackedObject> {
    /// The list after a change, with the steps that lead to it.
    public struct Change: Sendable {
        /// The objects, in the query's order.
        public var objects: [Object]
        /// The difference from the objects of the change before.
        public var difference: RowDifference
    }

    /// What the list asks of the remote at the moment.
    public enum State: Sendable, Equatable {
        /// Nothing.
        case idle
        /// A ``ObservedObjects/refresh()`` is running.
        case refreshing
        /// Nothing; the last refresh failed, and the list still follows the database.
        case failed(RequestError)
    }

    /// The objects, in the query's order; empty before the first read.
    public private(set) var objects: [Object] = []
    /// Whether the objects have been read.
    public private(set) var isLoaded = false
    /// Why the objects could not be read; they are no longer followed then.
    ///
    /// A refresh that fails is a ``state`` instead.
    public private(set) var error: (any Error)?
    /// Why objects of the query are missing in ``objects``: each has a value that its Swift type cannot represent.
    public private(set) var misfits: [RequestError] = []
    /// What the list asks of the remote.
    public private(set) var state = State.idle

    private let query: ObjectQuery<Object>
    @ObservationIgnored private var manager: RequestManager?
    @ObservationIgnored private var following: FollowingTask?
    @ObservationIgnored private var listener: ((Change) -> Void)?
    /// The number of refreshes that are running, since the last ``follow(_:)``.
    @ObservationIgnored private var refreshes = 0
    /// The number of calls of ``follow(_:)``: a refresh that began before the last one no longer changes the state.
    @ObservationIgnored private var generation = 0

    /// Creates a list that is empty until ``follow(_:)`` is called.
    public init(_ query: ObjectQuery<Object>) { self.query = query }

    /// Begins to follow a query.
    public convenience init(_ query: ObjectQuery<Object>, of manager: RequestManager) {
        self.init(query)
        follow(manager)
    }

    /// Begins to follow the database of a manager, in place of an earlier one.
    ///
    /// - Parameter manager: The manager; nil, as after a sign-out, leaves an empty list.
    public func follow(_ manager: RequestManager?) {
        // The earlier task is cancelled when it is released, and changes nothing after that.
        following = nil
        self.manager = manager
        generation += 1
        refreshes = 0
        let count = objects.count
        (objects, isLoaded, error, misfits, state) = ([], false, nil, [], .idle)
        following = manager.map { manager in
            FollowingTask(
                Task { [weak self, query] in
                    do {
                        for try await change in try manager.observe(query) {
                            guard let self, !Task.isCancelled else { return }
                            objects = change.objects
                            if misfits != change.misfits { misfits = change.misfits }
                            if !isLoaded { isLoaded = true }
                            listener?(Change(objects: change.objects, difference: change.difference))
                        }
                    } catch {
                        if !Task.isCancelled { self?.error = error }
                    }
                })
        }
        // Last, as the listener may call this again.
        if count > 0 { listener?(Change(objects: [], difference: RowDifference(deleting: count))) }
    }

    /// Calls a closure with each change, in their order and on the main actor; it replaces an earlier one.
    ///
    /// The first call has all objects, as insertions: at once, or when they have been read. Each difference leads from
    /// the objects of one call to those of the next.
    public func onChange(_ body: ((Change) -> Void)?) {
        listener = body
        guard let body, isLoaded else { return }
        body(Change(objects: objects, difference: RowDifference(inserting: objects.count)))
    }

    /// Fetches the query's objects from the remote, whatever the query's rule says, and waits for the end.
    ///
    /// The ``objects`` follow as each page is committed. Cancelling the task that waits leaves the fetch running, and ends
    /// the ``state``.
    ///
    /// - Throws: ``RequestError``, also a ``state``; `CancellationError`.
    @discardableResult
    public func refresh() async throws -> FetchResult {
        guard let manager else {
            throw RequestError(
                .requested, entity: Object.entityName, code: "request", "the list follows no manager",
                remedy: "call follow(_:) first")
        }
        let generation = generation
        refreshes += 1
        state = .refreshing
        var failure: RequestError?
        defer {
            if self.generation == generation {
                refreshes -= 1
                if refreshes == 0 { state = failure.map { .failed($0) } ?? .idle }
            }
        }
        do {
            // By names: the local objects need not be values of the type.
            return try await manager.fetch(query.fetching(.always).request).remote
        } catch let error as RequestError {
            failure = error
            throw error
        }
    }
}
