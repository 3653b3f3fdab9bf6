internal import BridgeKit
internal import CCurl

/// What a proxy says of a connection that it does not make.
struct ProxyAnswer {
    /// The status of its answer to CONNECT (RFC 9110, section 9.3.6); 0 for none.
    var status = 0
    /// libcurl's number for its fault in SOCKS; 0 for none.
    var fault = 0
    /// Where the proxy is configured.
    var place = "the option proxy"

    /// Returns the error for a proxy that refuses the connection to the server; nil if it did not.
    func refusal(location: String) -> BridgeError? {
        guard status != 0, !(200..<300).contains(status) else { return nil }
        let message = "the proxy answers \(status) to CONNECT, and the server got nothing"
        if status == 407 {
            return BridgeError(
                .authentication, message, remedy: "check the user and the password in \(place)", location: location)
        }
        if status >= 500 || [408, 429].contains(status) {
            return BridgeError(
                .unreachable, message, remedy: "try later, or have the proxy checked: it is that of \(place)",
                location: location, isRetryable: true)
        }
        return BridgeError(
            .permission, message,
            remedy: "have the proxy allow the server's host and port, or name another one in \(place)",
            location: location)
    }

    /// Returns the error for a SOCKS proxy that does not connect.
    func socksError(_ words: String, location: String) -> BridgeError {
        let message = "the proxy does not connect to the server: \(words)"
        switch fault {
        case Int(CURLPX_NO_AUTH.rawValue), Int(CURLPX_USER_REJECTED.rawValue):
            return BridgeError(
                .authentication, message, remedy: "check the user and the password in \(place)", location: location)
        case Int(CURLPX_REPLY_NOT_ALLOWED.rawValue):
            return BridgeError(
                .permission, message,
                remedy: "have the proxy allow the server's host and port, or name another one in \(place)",
                location: location)
        default:
            return BridgeError(
                .unreachable, message, remedy: "check \(place), and that the proxy reaches the server",
                location: location, isRetryable: true)
        }
    }

    /// Returns the error for an address of a proxy that libcurl does not take; libcurl's own words contain it.
    func invalidAddress(location: String) -> BridgeError {
        BridgeError(
            .configuration, "the proxy's address has a form that libcurl does not take",
            remedy:
                // An example of an address could hold a part of the real one, which messages mask.
                "in \(place), write the scheme, the user and the password, the host and the port as in any URL, and "
                + "percent-encode all in the user and the password but letters and digits, such as # as %23",
            location: location)
    }
}

extension HTTPTransfer {
    /// What the proxy says of this request's connection.
    func proxyAnswer(_ easy: UnsafeMutableRawPointer) -> ProxyAnswer {
        var answer = ProxyAnswer(
            status: bmo_curl_get_long(easy, CURLINFO_HTTP_CONNECTCODE),
            fault: bmo_curl_get_long(easy, CURLINFO_PROXY_ERROR))
        if options.proxy == nil { answer.place = "\(url.origin.scheme)_proxy or all_proxy of the environment" }
        return answer
    }
}
