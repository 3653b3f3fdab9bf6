internal import BridgeKit

extension HTTPTransfer {
    /// Whether a coded reply without any data broke off: even an empty text has some bytes in each coding.
    ///
    /// Refusals, logins and replies to writes may be empty; their head says what happened.
    var lacksBody: Bool {
        !isFramed && isLimited && !isSentOnce && method != "HEAD" && [200, 203, 206].contains(status)
    }

    /// Returns the length of the body that a reply names; nil for none, or for one that libcurl ignores as too large.
    static func length(in response: HTTPResponse) -> Int? {
        response.header("content-length")?.split(separator: ",").first.flatMap { part in
            Int(part.filter { $0 != " " && $0 != "\t" })
        }
    }

    /// Returns the error for a reply that names different lengths of its body (RFC 9110, section 8.6).
    ///
    /// libcurl takes one of them, so that a part of the body could pass for the whole.
    static func contradiction(in response: HTTPResponse) -> BridgeError? {
        var lengths: [String] = []
        for field in response.all("content-length") {
            for part in field.split(separator: ",", omittingEmptySubsequences: false) {
                let length = part.filter { $0 != " " && $0 != "\t" }
                if !lengths.contains(length) { lengths.append(length) }
            }
        }
        guard lengths.count > 1 else { return nil }
        return BridgeError(
            .malformed,
            "the reply names different lengths of its body: Content-Length is "
                + response.redactor.clean(lengths.prefix(5).joined(separator: " and ")),
            remedy: "have the server, or a proxy before it, send one", location: response.location)
    }
}
