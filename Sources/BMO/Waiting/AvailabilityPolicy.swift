/// The handling of a request whose remote is unreachable: no network, no server.
public enum AvailabilityPolicy: Sendable {
    /// The request fails after the bridge host's own few retries.
    case fail
    /// The request is retried with growing pauses until the time limit.
    case wait(atMost: Duration)
    /// The closure decides, given the failure and the number of tries so far: it returns the pause before the next try,
    /// or nil to give up. It may itself wait for the network to return.
    case decide(@Sendable (_ failure: RequestError, _ tries: Int) async -> Duration?)

    /// The pause after the first failure, which doubles up to ``maxPause``.
    static let firstPause = Duration.milliseconds(500)
    static let maxPause = Duration.seconds(30)

    /// Returns the pause before the next try, given the time since the first one; nil to give up.
    func pause(after failure: RequestError, tries: Int, elapsed: Duration) async -> Duration? {
        guard failure.isUnreachable else { return nil }
        switch self {
        case .fail: return nil
        case .decide(let decide): return await decide(failure, tries)
        case .wait(let limit):
            let left = limit - elapsed
            guard left > .zero else { return nil }
            var pause = Self.firstPause
            for _ in 1..<max(1, tries) where pause < Self.maxPause { pause = pause * 2 }
            return min(pause, Self.maxPause, left)
        }
    }
}
