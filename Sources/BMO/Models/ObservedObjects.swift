public import Observation

/// The current objects of a query, for a user interface: an `@Observable` list that follows the database.
///
/// ```swift
/// @State var notes = ObservedObjects(Note.all.sorted(by: Note.title), of: manager)
/// List(notes.objects) { Text($0.title ?? "") }
/// ```
///
/// It observes until it is released, or until the manager is closed.
@MainActor @Observable
public final class ObservedObjects<Object: BackedObject> {
    /// The objects, in the query's order; empty before the first read.
    public private(set) var objects: [Object] = []
    /// Whether the objects have been read.
    public private(set) var isLoaded = false
    /// Why the objects could not be read; they are no longer followed then.
    public private(set) var error: (any Error)?

    @ObservationIgnored private var following: FollowingTask?

    /// Begins to follow a query.
    public init(_ query: ObjectQuery<Object>, of manager: RequestManager) {
        following = FollowingTask(
            Task { [weak self] in
                do {
                    for try await change in try manager.observe(query) {
                        guard let self else { return }
                        objects = change.objects
                        isLoaded = true
                    }
                } catch {
                    self?.error = error
                }
            })
    }
}
