/// The pending notifications of one observer: a store signals that there are some, and the observer takes them.
///
/// Signals while the observer is busy are combined into one. The stream of signals ends when the store is closed.
package protocol ChangeSubscription: AnyObject, Sendable {
    /// A signal for each time that notifications arrive; for one consumer.
    var signals: AsyncStream<Void> { get }

    /// Returns the notifications since the last call, and clears them; any thread may call it.
    func take() -> PendingChanges
}

/// The entities that may have changed since an observer last looked.
package struct PendingChanges: Sendable {
    /// The indexes of the entities in the compiled model.
    package var entities: Set<Int> = []
    /// Whether another process, or another connection of this one, has written.
    package var isForeign = false

    /// Creates an empty set of notifications.
    package init() {}
}
