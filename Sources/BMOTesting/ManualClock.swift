internal import SystemCalls

/// A clock that only its test moves.
///
/// ```swift
/// let clock = ManualClock()
/// let manager = try await RequestManager.testing(config: "bmo.yml", remote: remote, clock: clock)
/// clock.advance(by: .seconds(300))        // what was fetched with a time to live of five minutes is stale now
/// ```
public final class ManualClock: _Concurrency.Clock, Sendable {
    /// A moment of the clock.
    public struct Instant: InstantProtocol {
        /// The time since the clock was made.
        public let offset: Duration

        /// Returns the moment a duration later.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }

        /// Returns the time from this moment to another one.
        public func duration(to other: Instant) -> Duration { other.offset - offset }

        /// Returns whether a moment is before another one.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct Sleeper {
        let id: Int
        let end: Instant
        let continuation: CheckedContinuation<Void, any Error>
    }

    private struct State {
        var now = Instant(offset: .zero)
        var sleepers: [Sleeper] = []
        var waiting: [CheckedContinuation<Void, Never>] = []
        var cancelled: Set<Int> = []
        var lastID = 0
    }

    private let state = Mutex(State())

    /// Creates a clock that stands still.
    public init() {}

    /// The moment that the test has set.
    public var now: Instant { state.withLock { $0.now } }

    /// The least difference between two moments.
    public var minimumResolution: Duration { .zero }

    /// Moves the clock, and wakes the tasks whose sleep is over.
    public func advance(by duration: Duration) {
        let awake = state.withLock { state -> [Sleeper] in
            state.now = state.now.advanced(by: duration)
            let awake = state.sleepers.filter { $0.end <= state.now }
            state.sleepers.removeAll { $0.end <= state.now }
            return awake
        }
        for sleeper in awake { sleeper.continuation.resume() }
    }

    /// Waits until a task sleeps, so that the test can move the clock.
    public func untilAsleep() async {
        await withCheckedContinuation { continuation in
            let isAsleep = state.withLock { state -> Bool in
                if state.sleepers.isEmpty { state.waiting.append(continuation) }
                return !state.sleepers.isEmpty
            }
            if isAsleep { continuation.resume() }
        }
    }

    /// Sleeps until the test has moved the clock to a moment.
    ///
    /// - Throws: `CancellationError`.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let id = state.withLock { state in
            state.lastID += 1
            return state.lastID
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
                fall(asleep: Sleeper(id: id, end: deadline, continuation: continuation))
            }
        } onCancel: {
            let sleeper = state.withLock { state -> Sleeper? in
                guard let index = state.sleepers.firstIndex(where: { $0.id == id }) else {
                    // The task is cancelled before it sleeps.
                    state.cancelled.insert(id)
                    return nil
                }
                return state.sleepers.remove(at: index)
            }
            sleeper?.continuation.resume(throwing: CancellationError())
        }
    }

    private func fall(asleep sleeper: Sleeper) {
        enum Start { case asleep([CheckedContinuation<Void, Never>]), awake, cancelled }
        let start = state.withLock { state -> Start in
            if state.cancelled.remove(sleeper.id) != nil { return .cancelled }
            guard sleeper.end > state.now else { return .awake }
            state.sleepers.append(sleeper)
            defer { state.waiting = [] }
            return .asleep(state.waiting)
        }
        switch start {
        case .asleep(let waiting): for continuation in waiting { continuation.resume() }
        case .awake: sleeper.continuation.resume()
        case .cancelled: sleeper.continuation.resume(throwing: CancellationError())
        }
    }
}
