/// The meaning of rate-limit header fields.
enum RateLimitFields {
    /// Returns the seconds until requests are accepted again, if the reply says that none is left.
    ///
    /// Reads `RateLimit` with `r` and `t` or `remaining` and `reset`, `RateLimit-Remaining` and `-Reset`
    /// (draft-ietf-httpapi-ratelimit-headers), and `X-RateLimit-Remaining` and `-Reset`, whose reset is seconds or a
    /// point in Unix time, in seconds or milliseconds.
    static func wait(_ response: HTTPResponse, now: Int) -> Double? {
        func number(_ names: String...) -> Double? {
            for name in names {
                if let value = response.header(name) { return Double(value.filter { $0 != " " }) }
            }
            return nil
        }
        var remaining = number("ratelimit-remaining", "x-ratelimit-remaining", "x-rate-limit-remaining")
        var reset = number("ratelimit-reset", "x-ratelimit-reset", "x-rate-limit-reset", "x-ratelimit-reset-after")
        if let fields = response.header("ratelimit") {
            for part in fields.split(whereSeparator: { ",;".contains($0) }) {
                let halves = part.split(separator: "=")
                guard halves.count == 2, let value = Double(halves[1].filter { $0 != " " }) else { continue }
                switch halves[0].filter({ $0 != " " }).lowercased() {
                case "r", "remaining": remaining = value
                case "t", "reset": reset = value
                default: break
                }
            }
        }
        guard let remaining, remaining < 1, let reset else { return nil }
        // A value larger than any wait is a point in time; in seconds, this one would be that of the year 5138.
        let seconds = reset > 100_000_000_000 ? reset / 1000 : reset
        let wait = reset > 1_000_000_000 ? seconds - Double(now) : seconds
        return wait > 0 ? wait : nil
    }
}
