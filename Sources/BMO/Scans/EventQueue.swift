internal import SystemCalls

/// Events from many tasks for one that waits for them, in the order in which they came.
///
/// Unlike an `AsyncStream`, it goes on when the waiting task is cancelled: a walk waits for the ends of its scans also then.
final class EventQueue<Event: Sendable>: Sendable {
    private struct State {
        var events: [Event] = []
        var waiting: CheckedContinuation<Event, Never>?
    }

    private let state = Mutex(State())

    func send(_ event: Event) {
        let waiting = state.withLock { state -> CheckedContinuation<Event, Never>? in
            defer { state.waiting = nil }
            if state.waiting == nil { state.events.append(event) }
            return state.waiting
        }
        waiting?.resume(returning: event)
    }

    /// Waits for the next event; only one task may wait at a time.
    func next() async -> Event {
        await withCheckedContinuation { continuation in
            let event = state.withLock { state -> Event? in
                guard !state.events.isEmpty else {
                    state.waiting = continuation
                    return nil
                }
                return state.events.removeFirst()
            }
            if let event { continuation.resume(returning: event) }
        }
    }
}
