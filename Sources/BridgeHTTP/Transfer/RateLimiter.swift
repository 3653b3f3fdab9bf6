/// Decides when the next request may begin: by a token bucket, a limit on running requests, and the remote's wait.
///
/// A value without I/O or a clock: the I/O thread passes the time in seconds.
struct RateLimiter {
    /// Requests per second; nil for no limit.
    let rate: Double?
    let concurrency: Int
    private var tokens: Double
    private var refilled: Double?
    private var heldUntil = 0.0
    private(set) var running = 0

    /// The longest remote wait that is honoured here, in seconds; a longer one goes to the host as an error, and the
    /// host waits and reports it.
    static let maxHold = 30.0

    init(rate: Double?, concurrency: Int) {
        self.rate = rate
        self.concurrency = concurrency
        tokens = max(1, rate ?? 1)
    }

    /// Takes a permit to begin a request now.
    ///
    /// Returns nil if granted, else the seconds to wait; infinity means until a request ends.
    mutating func take(now: Double) -> Double? {
        if running >= concurrency { return .infinity }
        if heldUntil > now { return heldUntil - now }
        if let rate {
            tokens = min(max(1, rate), tokens + (now - (refilled ?? now)) * rate)
            refilled = now
            // Slightly less than one: a rounding error must not cost another round.
            guard tokens > 0.999_999 else { return (1 - tokens) / rate }
            tokens -= 1
        }
        running += 1
        return nil
    }

    mutating func finish() { running = max(0, running - 1) }

    /// Blocks requests for this many seconds, because the remote has none left.
    mutating func hold(_ seconds: Double, now: Double) {
        guard seconds > 0, seconds <= Self.maxHold else { return }
        heldUntil = max(heldUntil, now + seconds)
    }
}
