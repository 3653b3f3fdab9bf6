public import BridgeKit

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Converts an unsuccessful status into an error.
public enum HTTPStatusError {
    /// Returns the error for a reply.
    ///
    /// - Parameters:
    ///   - response: The reply's head.
    ///   - bodyPrefix: The beginning of its body, which becomes `BridgeError.remote`; of a web page only the title.
    ///   - asked: The request, such as `page 3 of User`.
    public static func make(_ response: HTTPResponse, bodyPrefix: [UInt8], asked: String) -> BridgeError {
        let status = response.status
        let words = RemoteMessage.make(bodyPrefix, mediaType: response.mediaType, redactor: response.redactor)
        var remedy: String?
        var code = BridgeError.Code.remote
        var isRetryable = false
        let wait = retryAfter(response)
        switch status {
        case 401:
            code = .authentication
            remedy =
                response.lostCredentials
                ? "a redirect led to another origin, where credentials are not sent: set the URL that it leads to"
                : "check the option auth" + advice(onChallengesOf: response)
        case 407: (code, remedy) = (.authentication, "check the option proxy")
        // Some APIs send "forbidden" for "too many requests", with a wait time.
        case 403 where wait != nil: (code, isRetryable) = (.rateLimited, true)
        case 403: (code, remedy) = (.permission, "the credentials lack a permission, or the path is wrong")
        case 404, 410: (code, remedy) = (.notFound, "check url and path")
        case 405: remedy = "the path does not accept this method"
        case 408: (code, isRetryable) = (.timeout, true)
        case 409, 412: code = .conflict
        case 413: code = .limit
        case 425: isRetryable = true
        case 429: (code, isRetryable) = (.rateLimited, true)
        case 501, 505: break
        case 500...599: isRetryable = true
        case 300...399: (code, remedy) = (.malformed, "set the URL that the server means")
        default: break
        }
        if [403, 409].contains(status), let header = sessionHeader(response) {
            let advice =
                response.sessionHeader?.lowercased() == header.lowercased()
                ? "session_header: \(header) is set: the server refuses the request even with the value that it issues there"
                : "if the server expects \(header) back, set the bridge's option session_header: \(header)"
            remedy = [remedy, advice].compactMap(\.self).joined(separator: "; ")
        }
        return BridgeError(
            code, "\(asked): the server answers \(status)\(name(status))", remedy: remedy, location: response.location,
            remote: words, isRetryable: isRetryable,
            retryAfterMilliseconds: isRetryable ? wait : nil)
    }

    /// Whether a status says that the server did not begin with the request: it was too busy, or a gateway could not
    /// connect to it (521, 523, 525, 526 and 530, as Cloudflare uses them).
    public static func deniesStart(_ status: Int) -> Bool {
        [425, 429, 503, 521, 523, 525, 526, 529, 530].contains(status)
    }

    /// Whether a status leaves open whether the server carried out a change.
    ///
    /// Gateways and load balancers send such a status, many with a number of their own, if they passed the request on
    /// and got no usable answer in time, or if their client went away before.
    public static func leavesOpen(_ status: Int) -> Bool {
        if [408, 444, 460, 499].contains(status) { return true }
        // These are definite: RFC 9110, 2295, 4918, 5842, 2774 and 6585.
        let refusals = [500, 501, 505, 506, 507, 508, 510, 511]
        return (500...599).contains(status) && !refusals.contains(status) && !deniesStart(status)
    }

    /// Returns what a server that wants a Kerberos ticket needs (RFC 4559).
    private static func advice(onChallengesOf response: HTTPResponse) -> String {
        // Of a server that also offers NTLM or another scheme, it is not known which one failed.
        guard response.all("www-authenticate").map({ $0.lowercased().prefix { $0 != " " } }) == ["negotiate"] else {
            return ""
        }
        return
            "; the server wants a Kerberos ticket: with auth.type negotiate, run kinit or set KRB5_CLIENT_KTNAME, and "
            + "write the host as the service's principal has it"
    }

    /// Returns a header field of a refusal that looks like a session value for the next request.
    private static func sessionHeader(_ response: HTTPResponse) -> String? {
        response.headers.lazy.map(\.name).first { name in
            let name = name.lowercased()
            return name.hasPrefix("x-") && (name.hasSuffix("session-id") || name.hasSuffix("csrf-token"))
        }
    }

    /// Returns the wait requested by a reply, in milliseconds (RFC 9110, section 10.2.3: seconds or a date).
    public static func retryAfter(_ response: HTTPResponse) -> Int64? {
        guard let value = response.header("retry-after") else {
            let wait = RateLimitFields.wait(response, now: Int(time(nil)))
            return wait.map { Int64(min($0, 1e12) * 1000) }
        }
        if let seconds = Int64(value) { return min(max(seconds, 0), 1 << 40) * 1000 }
        // Some servers send a fraction, which the RFC does not have.
        if value.utf8.allSatisfy({ (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") }), let seconds = Double(value)
        {
            return Int64((min(seconds, Double(1 << 40)) * 1000).rounded(.up))
        }
        // The server may send a date arbitrarily far away.
        return response.date("retry-after").map { min(max($0 - Int64(time(nil)), 0), 1 << 40) * 1000 }
    }

    /// Returns the name of a common status (RFC 9110, section 15).
    private static func name(_ status: Int) -> String {
        let names = [
            400: "Bad Request", 401: "Unauthorized", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
            406: "Not Acceptable", 407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict",
            410: "Gone", 412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long",
            415: "Unsupported Media Type", 422: "Unprocessable Content", 429: "Too Many Requests",
            500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable",
            504: "Gateway Timeout",
        ]
        return names[status].map { " " + $0 } ?? ""
    }
}

extension HTTPExchange {
    /// Returns the error of this reply's status, with the beginning of its body as the remote's words; ends the
    /// exchange.
    ///
    /// - Throws: The errors of ``response()``.
    public func statusError(asked: String) throws -> BridgeError {
        let response = try response()
        return HTTPStatusError.make(
            response, bodyPrefix: bodyPrefix(RemoteMessage.longest + RemoteMessage.margin), asked: asked)
    }
}
