/// The rules for retrying: exponential backoff with jitter, limited in tries and time.
public struct RetryPolicy: Sendable, Equatable {
    /// The total number of tries of a step; 1 disables retries.
    public var tries = 4
    /// The pause after the first failure; it doubles with each further one.
    public var base: Duration = .milliseconds(500)
    /// The longest pause that the host chooses itself.
    public var maximum: Duration = .seconds(30)
    /// The longest pause that a remote may ask for; the host does not retry after a longer one.
    public var maxRetryAfter: Duration = .seconds(120)
    /// The time limit for all tries of a step together: see `RetryClock`.
    public var patience: Duration = .seconds(120)
    /// Whether to skip pauses, as in a replay.
    public var passesAtOnce = false

    /// Creates the default policy.
    public init() {}

    /// Returns the pause before the next try, or nil to give up.
    ///
    /// - Parameters:
    ///   - failures: The number of consecutive failures of the step, including this one; at least 1.
    ///   - failure: The last failure.
    ///   - random: A number in 0..<1 that spreads clients: the pause is between half and all of the backoff.
    public func delay(afterFailures failures: Int, of failure: BridgeFailure, random: Double) -> Duration? {
        guard failure.isRetryable, !failure.startsOver, failures < tries else { return nil }
        if let asked = failure.retryAfter, asked > maxRetryAfter { return nil }
        var step = min(base, maximum)
        for _ in 1..<max(failures, 1) where step < maximum { step = min(step * 2, maximum) }
        let jittered = step * (0.5 + 0.5 * min(max(random, 0), 1))
        return max(jittered, failure.retryAfter ?? .zero)
    }

    /// Returns the final failure of a step, with the number of tries and the pause that the remote asks for.
    ///
    /// - Parameter isOutOfTime: Whether only ``patience`` prevented another try.
    func told(_ failure: BridgeFailure, tries: Int, isOutOfTime: Bool = false) -> BridgeFailure {
        guard failure.isRetryable else { return failure }
        var failure = failure
        if tries > 1 { failure.message += " (tried \(tries) times)" }
        if isOutOfTime {
            failure.message += "; retry_for allows \(patience.components.seconds) s for all tries"
        }
        if let pause = failure.retryAfter {
            let seconds = pause.components.seconds
            let words = pause < BridgeFailure.never ? "\(seconds) s" : "a century or more"
            if pause > maxRetryAfter {
                failure.message +=
                    "; it requests a pause of \(words), longer than the "
                    + "\(maxRetryAfter.components.seconds) s that bmo waits"
            } else if seconds > 0 {
                failure.message += "; it requests a pause of \(words)"
            }
        }
        return failure
    }
}
