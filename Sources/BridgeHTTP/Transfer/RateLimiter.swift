/// Decides when the next request may begin: by a token bucket, a limit on running requests, and the remote's wait.
///
/// A value without I/O or a clock: the I/O thread passes the time in seconds.
struct RateLimiter {
    /// Requests per second; nil for no limit.
    let rate: Double?
    let concurrency: Int
    let sharing: Sharing
    /// By how many processes shared limits are divided at present; 0 allows no request.
    private var divisor: Int
    private var tokens: Double
    private var refilled: Double?
    private var heldUntil = 0.0
    private(set) var running = 0

    /// The longest remote wait that is honoured here, in seconds; a longer one goes to the host as an error, and the
    /// host waits and reports it.
    static let maxHold = 30.0

    /// Which limits other processes share.
    enum Sharing {
        case nothing
        case rate
        case rateAndConcurrency
    }

    /// The longest wait, in seconds, until a shared limit is looked at again.
    static let look = 0.1

    init(rate: Double?, concurrency: Int, sharing: Sharing = .nothing) {
        self.rate = rate
        self.concurrency = concurrency
        self.sharing = sharing
        // Shared limits have no burst: all processes together would begin a multiple of it.
        tokens = sharing == .nothing ? max(1, rate ?? 1) : 0
        divisor = sharing == .nothing ? 1 : 0
    }

    /// Sets by how many processes shared limits are divided from now on.
    mutating func divide(by divisor: Int, now: Double) {
        guard divisor != self.divisor else { return }
        self.divisor = divisor
        // Nothing is made up for that accrued with the earlier part, or without one.
        refilled = now
    }

    /// The most requests that this process may run at a time.
    private var places: Int {
        guard divisor > 0 else { return 0 }
        return sharing == .rateAndConcurrency ? max(1, concurrency / divisor) : concurrency
    }

    /// Whether more requests run than the present part allows.
    var isExceeded: Bool { running > places }

    /// Takes a permit to begin a request now.
    ///
    /// Returns nil if granted, else the seconds to wait; infinity means until a request ends.
    mutating func take(now: Double) -> Double? {
        guard divisor > 0 else { return Self.look }
        if running >= places { return .infinity }
        if heldUntil > now { return heldUntil - now }
        if let rate {
            let part = rate / Double(divisor)
            tokens = min(sharing == .nothing ? max(1, part) : 1, tokens + (now - (refilled ?? now)) * part)
            refilled = now
            // Slightly less than one: a rounding error must not cost another round.
            guard tokens > 0.999_999 else {
                let wait = (1 - tokens) / part
                return sharing == .nothing ? wait : min(wait, Self.look)
            }
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
