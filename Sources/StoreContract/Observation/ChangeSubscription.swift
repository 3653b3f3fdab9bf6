internal import SystemCalls

/// The pending notifications of one observer: a store notes changes, and the observer takes them; any thread may call it.
///
/// Notes while the observer is busy are combined into one. The stream of signals ends when the store is closed.
package final class ChangeSubscription: Sendable {
    /// A signal for each time that notifications arrive; for one consumer.
    package let signals: AsyncStream<Void>
    /// The interval at which the observer wants to learn of the commits of other processes.
    package let interval: Duration
    private let entities: Set<Int>
    private let signal: AsyncStream<Void>.Continuation
    private let pending = Mutex(PendingChanges())
    private let onEnd: @Sendable () -> Void

    /// Creates a subscription of entities, by their indexes in the compiled model.
    ///
    /// - Parameter onEnd: Called when the observer has released the subscription, on any thread.
    package init(_ entities: Set<Int>, every interval: Duration, onEnd: @escaping @Sendable () -> Void = {}) {
        self.entities = entities
        self.interval = interval
        self.onEnd = onEnd
        (signals, signal) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    deinit {
        signal.finish()
        onEnd()
    }

    /// Adds changes to the pending ones, and signals them if any is of an observed entity.
    ///
    /// - Parameters:
    ///   - changed: The indexes of the changed entities; nil if they are unknown.
    ///   - isForeign: Whether another process, or another connection of this one, has written.
    package func note(_ changed: Set<Int>?, isForeign: Bool) {
        let own = changed.map(entities.intersection) ?? entities
        guard !own.isEmpty else { return }
        pending.withLock {
            $0.entities.formUnion(own)
            $0.isForeign = $0.isForeign || isForeign
        }
        signal.yield()
    }

    /// Returns the notifications since the last call, and clears them.
    package func take() -> PendingChanges {
        pending.withLock { pending in
            defer { pending = PendingChanges() }
            return pending
        }
    }

    /// Ends the stream of signals.
    package func finish() { signal.finish() }
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
