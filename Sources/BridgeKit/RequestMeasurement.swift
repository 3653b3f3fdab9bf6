/// What a bridge reports for the host's metrics; the values are those of `bmo_measurement`.
public enum RequestMeasurement: UInt32, Sendable, CaseIterable {
    /// A request with a reply without an error.
    case succeeded = 0
    /// A request that is at fault, as the remote says (HTTP: 4xx except 429).
    case refused = 1
    /// A request to which the remote replied that it takes fewer (HTTP: 429).
    case rateLimited = 2
    /// A request at which the remote itself failed (HTTP: 5xx).
    case broken = 3
    /// A request without a reply: no connection, a timeout, a transfer that broke off.
    case unanswered = 4
    /// Not a request: the time in which requests waited for a rate limit.
    case rateLimitWait = 5
}
