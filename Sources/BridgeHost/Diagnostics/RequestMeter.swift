internal import SystemCalls

/// The requests of one connection to a bridge, as the bridge reports them.
public struct RequestCounts: Sendable, Equatable {
    /// The outcomes of requests, in the order of `bmo_measurement`.
    public enum Outcome: String, Sendable, CaseIterable {
        /// A reply without an error.
        case succeeded
        /// The remote says that the request is at fault.
        case refused
        /// The remote asks for fewer requests.
        case rateLimited = "rate_limited"
        /// The remote says that it is at fault itself.
        case broken
        /// There was no reply.
        case unanswered
    }

    /// The upper bounds in seconds of ``durations``, except for the last one, which has none.
    ///
    /// Source: OpenTelemetry's semantic conventions for HTTP, `http.client.request.duration`.
    public static let bounds = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]

    /// The number of requests by outcome.
    public private(set) var outcomes: [Outcome: Int] = [:]
    /// The number of requests by duration up to the head of the reply, or the failure.
    public private(set) var durations = [Int](repeating: 0, count: bounds.count + 1)
    /// The sum of these durations, in seconds.
    public private(set) var seconds = 0.0
    /// How long requests waited for a rate limit, that of the options or the remote's, in seconds.
    public private(set) var waited = 0.0

    /// Creates empty counts.
    public init() {}

    /// The number of requests.
    public var requests: Int { durations.reduce(0, +) }

    /// Adds one request.
    mutating func add(_ outcome: Outcome, seconds: Double) {
        outcomes[outcome, default: 0] += 1
        durations[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
        self.seconds += seconds
    }

    /// Adds a wait for a rate limit.
    mutating func add(wait seconds: Double) { waited += seconds }

    /// Adds the requests of another connection.
    public static func += (counts: inout RequestCounts, other: RequestCounts) {
        counts.outcomes.merge(other.outcomes, uniquingKeysWith: +)
        for (index, count) in other.durations.enumerated() { counts.durations[index] += count }
        counts.seconds += other.seconds
        counts.waited += other.waited
    }
}

/// Counts what a bridge measures, from any thread.
final class RequestMeter: Sendable {
    private let state = Mutex(RequestCounts())

    /// Returns the sum of what was measured since the last call.
    func take() -> RequestCounts {
        state.withLock { counts in
            defer { counts = RequestCounts() }
            return counts
        }
    }

    /// The position of the waits in `bmo_measurement`, after the outcomes.
    private static let wait = UInt32(RequestCounts.Outcome.allCases.count)
    /// The longest time that is believed, in microseconds: a day.
    private static let most: UInt64 = 86_400_000_000

    /// Returns a measurement as text, in which form a child process passes it on.
    static func text(_ measurement: UInt32, microseconds: UInt64) -> String { "\(measurement) \(microseconds)" }

    /// Adds a measurement; anything else that a bridge sends is ignored.
    func add(_ text: String) {
        let parts = text.split(separator: " ")
        guard parts.count == 2, let measurement = UInt32(parts[0]), let microseconds = UInt64(parts[1]) else { return }
        let seconds = Double(min(microseconds, Self.most)) / 1_000_000
        state.withLock { counts in
            if measurement < Self.wait {
                counts.add(RequestCounts.Outcome.allCases[Int(measurement)], seconds: seconds)
            } else if measurement == Self.wait {
                counts.add(wait: seconds)
            }
        }
    }

    /// Adds a pause of the host before a retry that the remote asked for.
    func add(pause: Duration) { state.withLock { $0.add(wait: pause / .seconds(1)) } }
}
