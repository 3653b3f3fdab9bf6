internal import BridgeKit
internal import CCurl
internal import SystemCalls

/// Converts libcurl results into errors for people.
enum CurlError {
    /// Returns the option behind a libcurl time limit; all of them share one code.
    private static func timeoutOption(_ words: String) -> String {
        let text = words.lowercased()
        if text.hasPrefix("operation too slow") { return "idle_timeout" }
        if text.hasPrefix("operation timed out") { return "timeout" }
        if text.contains("connection") || text.contains("resolving") { return "connect_timeout" }
        return "timeout, connect_timeout or idle_timeout"
    }

    /// Returns the remedy for a certificate that libcurl refuses.
    private static func certificateRemedy(_ words: String) -> String {
        let text = words.lowercased()
        if text.contains("subject name") || text.contains("host name") || text.contains("hostname") {
            return "write the host as its certificate names it, or have the server show a certificate for this host"
        }
        if text.contains("expired") || text.contains("not yet valid") {
            return "have the server's certificate renewed, and check this machine's clock"
        }
        return "check the certificate, or name its authority in tls.ca_file"
    }

    /// Whether libcurl reports the server's alert about the certificate of the client (RFC 8446, section 6.2).
    private static func isAboutClient(_ words: String) -> Bool {
        let text = words.lowercased()
        guard text.contains("alert") else { return false }
        return text.contains("certificate") || text.contains("unknown ca")
    }

    /// - Parameters:
    ///   - words: libcurl's own message, without secrets.
    ///   - bodyBytes: The number of body bytes received, or nil before the reply's head was complete.
    ///   - coding: The content codings of the reply; nil for none.
    ///   - proxy: What a proxy said.
    static func make(
        _ code: CURLcode, words: String, bodyBytes: Int?, location: String, coding: String? = nil,
        proxy: ProxyAnswer = ProxyAnswer()
    ) -> BridgeError {
        func error(
            _ kind: BridgeError.Code, _ message: String, _ remedy: String? = nil, retryable: Bool = false
        ) -> BridgeError {
            BridgeError(kind, message, remedy: remedy, location: location, isRetryable: retryable)
        }
        if words.hasPrefix("Unsupported proxy") { return proxy.invalidAddress(location: location) }
        if bodyBytes == nil, let refusal = proxy.refusal(location: location) { return refusal }
        let isEncoded = coding != nil
        switch code {
        case CURLE_COULDNT_CONNECT where hasTooManyOpenFiles(), CURLE_COULDNT_RESOLVE_HOST where hasTooManyOpenFiles():
            return error(
                .unreachable, "too many files are open: \(words)", "raise the limit of open files (`ulimit -n`)",
                retryable: true)
        case CURLE_COULDNT_RESOLVE_HOST:
            return error(.unreachable, words, "check the host's name and the network", retryable: true)
        case CURLE_COULDNT_RESOLVE_PROXY:
            return error(
                .unreachable, words, "check the host's name in \(proxy.place), and the network", retryable: true)
        case CURLE_PROXY: return proxy.socksError(words, location: location)
        case CURLE_COULDNT_CONNECT:
            return error(.unreachable, words, "check that the server runs and the port is right", retryable: true)
        case CURLE_OPERATION_TIMEDOUT:
            return error(.timeout, words, "try later, or raise \(timeoutOption(words))", retryable: true)
        case CURLE_PEER_FAILED_VERIFICATION:
            return error(.tls, words, certificateRemedy(words))
        case CURLE_SSL_CACERT_BADFILE:
            return error(.tls, words, "tls.ca_file must be a PEM file that can be read")
        case CURLE_SSL_CERTPROBLEM:
            return error(.tls, words, "check tls.client_certificate, tls.client_key and the key's password")
        case _ where bodyBytes == nil && isAboutClient(words):
            return error(
                .tls, "the server does not take the client's certificate, or there was none: \(words)",
                "set tls.client_certificate and tls.client_key to a certificate that the server accepts")
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_ENGINE_NOTFOUND,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_PINNEDPUBKEYNOTMATCH, CURLE_SSL_CLIENTCERT:
            return error(
                .tls, words,
                "check that the port speaks TLS and which versions it takes, and whether the server wants a certificate of "
                    + "the client (tls.client_certificate, tls.client_key)")
        case CURLE_PARTIAL_FILE:
            return error(.malformed, "the reply broke off after \(bodyBytes ?? 0) bytes: \(words)", retryable: true)
        case CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR, CURLE_HTTP2, CURLE_HTTP2_STREAM:
            guard let bodyBytes else { return error(.unreachable, "the connection broke: \(words)", retryable: true) }
            return error(.malformed, "the reply broke off after \(bodyBytes) bytes: \(words)", retryable: true)
        case CURLE_BAD_CONTENT_ENCODING where words.hasPrefix("Unrecognized content encoding type"):
            return error(
                .malformed,
                "the reply's Content-Encoding is \(coding ?? "unknown"), which libcurl does not read: \(words)",
                "have the server send the reply with one of these codings, or without Content-Encoding")
        case CURLE_BAD_CONTENT_ENCODING:
            return error(
                .malformed, "the reply's compression is broken: \(words)",
                "the reply's Content-Encoding is \(coding ?? "unknown"): have the server, or a proxy before it, code the data "
                    + "so, or leave that field out")
        case CURLE_WRITE_ERROR where isEncoded:
            // Of two gzip members (RFC 1952, section 2.2) or of anything after the data, libcurl says only that.
            return error(
                .malformed,
                "the reply's compressed data have a second part, or something follows them, "
                    + "which libcurl does not read",
                "have the server compress the reply as one piece, or send it without Content-Encoding")
        case CURLE_OUT_OF_MEMORY where bodyBytes == nil:
            // libcurl's own limit on a line of the head, CURL_MAX_HTTP_HEADER, also has this code.
            return error(
                .limit, "a header field of the reply is over 100 KiB",
                "have the server send less in its headers, such as cookies or links")
        case CURLE_OUT_OF_MEMORY where isEncoded:
            return error(.limit, "a piece of the reply grows by more than 64 MiB when it is decompressed")
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY:
            return error(.malformed, "the server does not speak HTTP: \(words)", "check the port")
        case CURLE_URL_MALFORMAT:
            return error(.configuration, words, "write the URL as https://host/path")
        default:
            return error(.internal, "libcurl error \(code.rawValue): \(words)")
        }
    }
}
