internal import SystemCalls

/// The limit on a bridge's log output, so that a bridge that logs endlessly does not fill the log's disk.
final class LogBudget: Sendable {
    enum Verdict { case allowed, exceeded, silenced }

    /// The number of bytes allowed in each ``period``.
    static let size = 1 << 20
    private static let period: Duration = .seconds(60)

    private struct State {
        var began = ContinuousClock.now
        var left = LogBudget.size
        var isExceeded = false
    }

    private let state = Mutex(State())

    /// Counts a message of `bytes` bytes; returns `exceeded` for the first one over the limit.
    func take(_ bytes: Int) -> Verdict {
        state.withLock { state in
            let now = ContinuousClock.now
            if now - state.began >= Self.period { state = State(began: now) }
            if state.isExceeded { return .silenced }
            // Allow for the log line's timestamp and metadata.
            state.left -= min(bytes, LogBudget.size) + 100
            state.isExceeded = state.left < 0
            return state.isExceeded ? .exceeded : .allowed
        }
    }
}
