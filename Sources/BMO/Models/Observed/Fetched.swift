/// A property with the current objects of a query.
///
/// ```swift
/// @MainActor @Observable
/// final class Shelf {
///     @ObservationIgnored @Fetched(Note.all.sorted(by: Note.title)) var notes: [Note]
///
///     init(_ manager: RequestManager) { $notes.follow(manager) }
/// }
/// ```
///
/// The property has the objects as they are in the database. A view, or a `withObservationTracking(_:onChange:)`, that reads
/// it is notified of the next change: the list behind it is observable, so it works in an `@Observable` class, where it has
/// to be `@ObservationIgnored` as every wrapped property, in other classes and in structs.
/// `$notes` is that list, an ``ObservedObjects``: `$notes.error`, `$notes.state`, `try await $notes.refresh()`.
///
/// The manager is given, since outside of SwiftUI nothing hands it down: by ``ObservedObjects/follow(_:)`` as above, also
/// later, when a person has signed in; or with the query, `_notes = Fetched(query, of: manager)`, if that depends on a
/// parameter. Without a manager the list is empty. Copies of a struct share the list.
@MainActor @propertyWrapper
public struct Fetched<Object: BackedObject>: Sendable {
    /// The list behind the property.
    public let projectedValue: ObservedObjects<Object>

    /// The objects, in the query's order; empty before the first read.
    public var wrappedValue: [Object] { projectedValue.objects }

    /// Declares a query, which is followed as soon as there is a manager.
    public init(_ query: ObjectQuery<Object>) { projectedValue = ObservedObjects(query) }

    /// Declares a query, and begins to follow it.
    public init(_ query: ObjectQuery<Object>, of manager: RequestManager) {
        projectedValue = ObservedObjects(query, of: manager)
    }
}
