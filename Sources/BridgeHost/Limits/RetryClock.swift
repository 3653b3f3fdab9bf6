/// The time that the failed tries of one step have taken together.
struct RetryClock {
    /// The time of the first failure on the caller's clock; nil if there is none.
    private var began: Duration?

    /// Returns whether another try would exceed the time limit for all tries.
    ///
    /// A try that timed out counts with its duration, and the next one is assumed to take as long. For other failures
    /// only the time between the tries counts, so that a long page that fails at its end is retried. Pauses that the
    /// remote asks for do not count.
    ///
    /// - Parameters:
    ///   - now: The current monotonic time.
    ///   - lastTry: The duration of the failed try.
    ///   - pause: The pause before the next try.
    mutating func isOver(
        now: Duration, lastTry: Duration, pause: Duration, after failure: BridgeFailure, patience: Duration
    ) -> Bool {
        guard failure.retryAfter == nil else { return false }
        let cost = failure.code == .timeout ? min(lastTry, patience / 2) : .zero
        let start = began ?? (now - cost)
        began = start
        return now - start + pause + cost > patience
    }

    /// Resets the clock after progress.
    mutating func reset() { began = nil }
}
