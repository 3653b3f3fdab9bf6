internal import BridgeKit
internal import CCurl
internal import SystemCalls

/// The time limits of a transfer.
extension HTTPTransfer {
    /// From how many unpacked bytes on the packed size counts.
    private static let ratioBeginsAt = 128 << 20
    /// How many times its packed size a reply may have; text of records packs to a twentieth or so.
    private static let maxRatio = 100

    /// Returns the error for a reply that unpacks to too much; called with each piece of it.
    func excessiveUnpacking(_ easy: UnsafeMutableRawPointer) -> BridgeError? {
        guard options.maxBodyBytes == nil, bodyBytes > Self.ratioBeginsAt,
            bodyBytes / Self.maxRatio > Int(bmo_curl_get_offset(easy, CURLINFO_SIZE_DOWNLOAD_T))
        else { return nil }
        return BridgeError(
            .limit, "the reply unpacks to more than \(Self.maxRatio) times its size",
            remedy: "request smaller pages, or set max_body_bytes", location: location)
    }

    /// Returns the reason for giving up the request: the remote is silent, or too slow.
    ///
    /// Called about once a second.
    func delay(_ easy: UnsafeMutableRawPointer, now: Double) -> BridgeError? {
        let isPaused = state.withLock { $0.isPaused }
        let look = SpeedWatch.Look(
            now: now, isSent: isSent(easy), hasBegun: isHeadComplete || !received.isEmpty, interimHeads: interimHeads,
            sentBytes: Int(bmo_curl_get_offset(easy, CURLINFO_SIZE_UPLOAD_T)),
            receivedBytes: Int(bmo_curl_get_offset(easy, CURLINFO_SIZE_DOWNLOAD_T))
                + bmo_curl_get_long(easy, CURLINFO_HEADER_SIZE),
            wasHeld: isPaused || wasPaused)
        wasPaused = false
        switch watch.validate(look) {
        case .well: return nil
        case .silent:
            markSent(easy)
            return BridgeError(
                .timeout, "the reply did not begin within \(Self.text(timing.firstByte)) s",
                remedy: "try later, or raise first_byte_timeout", location: location, isRetryable: true)
        case .slow(let bytes, let seconds):
            markSent(easy)
            return BridgeError(
                .timeout,
                "the reply is slower than \(timing.minimumSpeed) bytes a second: \(bytes) bytes came in \(Self.text(seconds)) s",
                remedy: "try later, or lower minimum_speed or raise minimum_speed_time", location: location,
                isRetryable: true)
        }
    }

    func markSent(_ easy: UnsafeMutableRawPointer) {
        if isSent(easy) { state.withLock { $0.wasSent = true } }
    }

    /// Whether sending the request has begun.
    private func isSent(_ easy: UnsafeMutableRawPointer) -> Bool {
        guard bmo_curl_get_long(easy, CURLINFO_REQUEST_SIZE) > 0 else { return false }
        // libcurl counts a CONNECT to a proxy as well; behind it, the request follows only after the TLS handshake, which
        // a kept connection does not repeat.
        let isNew = isSentOnce || bmo_curl_get_long(easy, CURLINFO_HTTP_CONNECTCODE) != 0
        guard url.origin.scheme == "https", isNew else { return true }
        return bmo_curl_get_offset(easy, CURLINFO_APPCONNECT_TIME_T) > 0
    }

    private static func text(_ seconds: Double) -> String {
        seconds == seconds.rounded() ? String(Int(seconds)) : String((seconds * 10).rounded() / 10)
    }

    /// The strictest current time limit, which also applies to a single libcurl call; nil if the options set none.
    var callLimit: LoopWatch.Limit? {
        var limits: [LoopWatch.Limit] = []
        if !isHeadComplete { limits.append(.init(seconds: timing.firstByte, option: "first_byte_timeout")) }
        if timing.minimumSpeed > 0 { limits.append(.init(seconds: timing.speedTime, option: "minimum_speed_time")) }
        if let whole = timing.whole { limits.append(.init(seconds: whole, option: "timeout")) }
        return limits.min { $0.seconds < $1.seconds }
    }

    /// Returns the error for a request whose server, or another one, kept libcurl busy beyond a limit.
    func stall(_ easy: UnsafeMutableRawPointer, _ limit: LoopWatch.Limit) -> BridgeError {
        markSent(easy)
        return BridgeError(
            .timeout, "a server kept the connection busy for \(Self.text(limit.seconds)) s without sending data",
            remedy: "have it checked, set http_version to 1.1, or raise \(limit.option)", location: location,
            isRetryable: true)
    }
}
