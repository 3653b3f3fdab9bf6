/// When a retryable failure is tried again: exponential backoff with jitter, bounded in tries and in time.
public struct RetryPolicy: Sendable, Equatable {
    /// How many times the same step is tried in all; 1 means never again.
    public var tries = 4
    /// The pause after the first failure; it doubles with each.
    public var base: Duration = .milliseconds(500)
    /// The longest pause that the host chooses itself.
    public var maximum: Duration = .seconds(30)
    /// The longest pause that a remote may ask for; one that asks for more is not tried again.
    public var longestRetryAfter: Duration = .seconds(120)
    /// Whether pauses pass at once, as in a replay.
    public var passesAtOnce = false

    /// The defaults.
    public init() {}

    /// How long to wait before the next try, or nil to give up.
    ///
    /// - Parameters:
    ///   - failures: How often the step has failed in a row, this failure included; 1 or more.
    ///   - failure: The last failure.
    ///   - random: A number in 0..<1 that spreads clients: the pause is between a half and the whole of its step.
    public func delay(afterFailures failures: Int, of failure: BridgeFailure, random: Double) -> Duration? {
        guard failure.isRetryable, failures < tries else { return nil }
        if let asked = failure.retryAfter, asked > longestRetryAfter { return nil }
        var step = min(base, maximum)
        for _ in 1..<max(failures, 1) where step < maximum { step = min(step * 2, maximum) }
        let jittered = step * (0.5 + 0.5 * min(max(random, 0), 1))
        return max(jittered, failure.retryAfter ?? .zero)
    }

    /// The failure with which a step is given up: with the number of tries, and the pause that the remote asks for.
    func told(_ failure: BridgeFailure, tries: Int) -> BridgeFailure {
        guard failure.isRetryable else { return failure }
        var failure = failure
        if tries > 1 { failure.message += " (tried \(tries) times)" }
        if let pause = failure.retryAfter {
            let seconds = pause.components.seconds
            if pause > longestRetryAfter {
                failure.message +=
                    "; it asks for a pause of \(seconds) s, longer than the "
                    + "\(longestRetryAfter.components.seconds) s that are waited"
            } else if seconds > 0 {
                failure.message += "; it asks for a pause of \(seconds) s"
            }
        }
        return failure
    }
}
