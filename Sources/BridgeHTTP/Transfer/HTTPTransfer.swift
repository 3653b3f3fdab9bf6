internal import BridgeKit
internal import CCurl
internal import SystemCalls
internal import TextFormats

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// One request in libcurl, including redirects; owned by the I/O thread once it has begun.
final class HTTPTransfer: @unchecked Sendable {
    // Created by the starting thread, handed over through a lock, and then used only by the I/O thread.
    let state: Monitor<ExchangeState>
    let options: HTTPOptions
    let redactor: HTTPRedactor
    var method: String
    var url: HTTPURL
    let firstOrigin: HTTPURL.Origin
    private let headers: [(name: String, value: String)]
    var body: [UInt8]?
    let isSentOnce: Bool
    var sendsCredentials: Bool
    var lostCredentials = false
    var redirects = 0
    private let credential: Credential
    /// Seconds until the remote accepts requests again, if the reply said so.
    private(set) var hold: Double?
    /// The status of the current reply; 0 before its head has arrived.
    private(set) var status = 0
    /// Whether something besides the coded data marks the end of the current reply's body.
    private(set) var isFramed = false
    /// When the current request began, and when the head of its reply had arrived.
    private var (began, headArrived) = (0.0, 0.0)
    /// Whether the rate limit and the limit on running requests apply; a token request that others wait for is exempt.
    let isLimited: Bool
    /// How many replies with a challenge libcurl may still answer.
    private var challenges = 0
    /// Whether the last head was such a reply.
    private var wasChallenged = false

    private var headerList: UnsafeMutablePointer<curl_slist>?
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    var received: [(name: String, value: String)] = []
    /// How many heads have come before that of the final reply.
    var interimHeads = 0
    private var headerBytes = 0
    private(set) var bodyBytes = 0
    var redirectTarget: String?
    var redirectStatus = 0
    let redirectHosts: Set<String>?
    var redirectCookies: [String]?
    var isHeadComplete = false
    /// The handle of the current request.
    private var easy: UnsafeMutableRawPointer?
    /// Detects whether a coded body is complete; nil for others.
    private var bodyEnd: (any BodyEnd)?
    private var coding = ""
    let timing: HTTPTiming
    var watch: SpeedWatch
    /// Whether the reader paused the reply since the last speed check.
    var wasPaused = false
    /// Whether the reader has to be woken for the head or the beginning of the body.
    private var owesSignal = false
    /// The reason why a callback made libcurl stop.
    private var refusal: BridgeError?

    static let maxRedirects = 10
    /// The number of bytes of a body up to which its reader is woken once for each turn of libcurl.
    private static let smallBody = 64 << 10
    private static let maxHeaderBytes = 256 << 10
    private static let maxHeaderCount = 500
    /// Header fields that hold no secret and may be sent to any origin.
    static let harmlessHeaders: Set<String> = [
        "accept", "accept-language", "content-type", "user-agent", "soapaction", "if-none-match", "if-modified-since",
    ]
    static let userAgent = "bmo/" + ProgramVersion.text

    init(
        _ request: HTTPRequest, options: HTTPOptions, credential: Credential, redactor: HTTPRedactor,
        state: Monitor<ExchangeState>, isLimited: Bool
    ) throws(BridgeError) {
        guard let url = HTTPURL(request.url) else {
            throw BridgeError(
                .configuration, "this is not an http or https URL", remedy: "write it as https://host/path",
                location: redactor.clean(url: request.url))
        }
        guard !url.hasUserInfo else {
            throw BridgeError(
                .configuration, "the URL holds a user or a password", remedy: "use the option auth instead",
                location: redactor.clean(url: request.url))
        }
        let replaced = Set(request.headers.map { $0.name.lowercased() })
        let own = request.sendsOptions ? options.headers : []
        headers = own.filter { !replaced.contains($0.name.lowercased()) } + request.headers
        do {
            for field in request.headers { try HTTPRequest.check(field) }
            for field in credential.headers { try HTTPRequest.check((name: field.name, value: field.value)) }
        } catch {
            throw error as? BridgeError ?? BridgeError(.internal, "a header was refused")
        }
        self.state = state
        self.options = options
        self.credential = credential
        self.isLimited = isLimited
        self.redactor = redactor
        self.url = url
        firstOrigin = url.origin
        method = request.method
        body = request.body
        sendsCredentials = request.sendsCredentials
        isSentOnce = request.isSentOnce
        timing = request.timing ?? options.timing
        watch = SpeedWatch(timing)
        redirectHosts = request.redirectHosts
        redirectCookies = request.keepsCookies ? [] : nil
    }

    deinit {
        curl_slist_free_all(headerList)
        errorText.deallocate()
    }

    /// The outcome of one libcurl request.
    enum Outcome {
        /// A redirect: start again.
        case again
        case done(BridgeError?)
    }

    /// Configures a fresh handle; returns the error if that fails.
    func configure(_ easy: UnsafeMutableRawPointer) -> BridgeError? {
        received = []
        interimHeads = 0
        headerBytes = 0
        bodyBytes = 0
        redirectTarget = nil
        isHeadComplete = false
        status = 0
        (began, headArrived) = (MonotonicClock.seconds, 0)
        self.easy = easy
        bodyEnd = nil
        errorText.pointee = 0
        var failed = false
        func set(_ option: CURLoption, _ value: Int) {
            if bmo_curl_set_long(easy, option, value) != CURLE_OK { failed = true }
        }
        func set(_ option: CURLoption, _ value: String) {
            if bmo_curl_set_string(easy, option, value) != CURLE_OK { failed = true }
        }
        let target =
            sendsCredentials ? credential.query.map { url.setting(query: [(name: $0.name, value: $0.value)]) } : nil
        var whole = target ?? url
        // The signature covers the sorted query (libcurl before 8.3 signs it unsorted).
        if sendsCredentials, case .signature = options.authentication { whole = whole.withCanonicalQuery() }
        set(CURLOPT_URL, whole.text)
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_FOLLOWLOCATION, 0)
        // All codings that libcurl decodes, or only gzip if the end of brotli data cannot be detected.
        set(CURLOPT_ACCEPT_ENCODING, BrotliScanner.isPossible ? "" : "gzip")
        set(CURLOPT_USERAGENT, Self.userAgent)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // Optional: some handles refuse it after a failed connection, and any size works.
        bmo_curl_set_long(easy, CURLOPT_BUFFERSIZE, 128 << 10)
        set(CURLOPT_CONNECTTIMEOUT_MS, options.connectTimeoutMilliseconds)
        set(CURLOPT_LOW_SPEED_LIMIT, 1)
        set(CURLOPT_LOW_SPEED_TIME, options.idleTimeoutSeconds)
        // Rounded up: a request that is cut off at the end of a scan's time must not end before that time.
        if let whole = timing.whole { set(CURLOPT_TIMEOUT_MS, Int((whole * 1000).rounded(.up))) }
        watch = SpeedWatch(timing)
        setTLS(set, set)
        setAuthentication(set, set)
        switch options.version {
        case .automatic where options.authentication.isOfConnections:
            set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        case .automatic: set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2TLS))
        case .http1: set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        case .http2: set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_2_0))
        }
        if let proxy = options.proxy {
            set(CURLOPT_PROXY, proxy.url)
            if let user = proxy.user { set(CURLOPT_PROXYUSERNAME, user) }
            if let password = proxy.password { set(CURLOPT_PROXYPASSWORD, password) }
        }
        if isSentOnce { set(CURLOPT_FRESH_CONNECT, 1) }
        if let body {
            set(CURLOPT_POST, 1)
            bmo_curl_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, Int(body.count))
            let code = body.withUnsafeBytes {
                bmo_curl_set_pointer(easy, CURLOPT_COPYPOSTFIELDS, UnsafeMutableRawPointer(mutating: $0.baseAddress))
            }
            if code != CURLE_OK { failed = true }
            if method != "POST" { set(CURLOPT_CUSTOMREQUEST, method) }
        } else if method == "HEAD" {
            set(CURLOPT_NOBODY, 1)
        } else if method != "GET" {
            set(CURLOPT_CUSTOMREQUEST, method)
        }
        setHeaders()
        bmo_curl_set_pointer(easy, CURLOPT_HTTPHEADER, headerList)
        bmo_curl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
        // The loop holds the transfer for as long as the handle is in use.
        let context = Unmanaged.passUnretained(self).toOpaque()
        bmo_curl_set_write(easy, { HTTPTransfer.from($3)?.receive($0, $1 * $2) ?? 0 }, context)
        bmo_curl_set_header(easy, { HTTPTransfer.from($3)?.receiveHeader($0, $1 * $2) ?? 0 }, context)
        bmo_curl_set_debug(
            easy,
            { _, type, data, count, context in
                if type == CURLINFO_DATA_IN { HTTPTransfer.from(context)?.receiveRaw(data, count) }
                return 0
            }, context)
        return failed ? BridgeError(.internal, "libcurl refused an option", location: location) : nil
    }

    private func setTLS(_ set: (CURLoption, Int) -> Void, _ setText: (CURLoption, String) -> Void) {
        if !options.verifies {
            set(CURLOPT_SSL_VERIFYPEER, 0)
            set(CURLOPT_SSL_VERIFYHOST, 0)
        }
        if let file = options.caFile ?? CertificateAuthorities.file { setText(CURLOPT_CAINFO, file) }
        // A client certificate is also a credential.
        guard sendsCredentials else { return }
        if let file = options.clientCertificate { setText(CURLOPT_SSLCERT, file) }
        if let file = options.clientKey { setText(CURLOPT_SSLKEY, file) }
        if let password = options.clientKeyPassword { setText(CURLOPT_KEYPASSWD, password) }
    }

    private func setAuthentication(_ set: (CURLoption, Int) -> Void, _ setText: (CURLoption, String) -> Void) {
        challenges = 0
        wasChallenged = false
        guard sendsCredentials else {
            // A kept connection may be authenticated.
            if options.authentication.isOfConnections { set(CURLOPT_FRESH_CONNECT, 1) }
            return
        }
        switch options.authentication {
        case .fixed, .granted: break
        case .digest(let user, let password):
            challenges = 1
            set(CURLOPT_HTTPAUTH, 2)
            setText(CURLOPT_USERNAME, user)
            setText(CURLOPT_PASSWORD, password)
        case .negotiate:
            challenges = 2
            set(CURLOPT_HTTPAUTH, 4)
            // The server gets no ticket to act as the user elsewhere.
            set(CURLOPT_GSSAPI_DELEGATION, 0)
            setText(CURLOPT_USERPWD, ":")
        case .ntlm(let user, let password):
            challenges = 1
            set(CURLOPT_HTTPAUTH, 8)
            setText(CURLOPT_USERNAME, user)
            setText(CURLOPT_PASSWORD, password)
        case .netrc(let file):
            set(CURLOPT_NETRC, 1)
            if let file { setText(CURLOPT_NETRC_FILE, file) }
        case .signature(let scope, let key, let secret):
            setText(CURLOPT_AWS_SIGV4, scope)
            setText(CURLOPT_USERNAME, key)
            setText(CURLOPT_PASSWORD, secret)
        }
    }

    private func setHeaders() {
        curl_slist_free_all(headerList)
        headerList = nil
        var fields = headers
        for field in credential.headers
        where !fields.contains(where: { $0.name.isSameField(as: field.name) }) {
            fields.append((name: field.name, value: field.value))
        }
        fields += redirectCookieField(besides: fields)
        if !sendsCredentials { fields = fields.filter { Self.harmlessHeaders.contains($0.name.lowercased()) } }
        for field in fields {
            // libcurl sends a field without a value if the line ends with a semicolon.
            let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
            headerList = curl_slist_append(headerList, line) ?? headerList
        }
        // libcurl would sign the fields that these lines suppress.
        if sendsCredentials, case .signature = options.authentication { return }
        headerList = curl_slist_append(headerList, "Expect:") ?? headerList
        if !fields.contains(where: { $0.name.isSameField(as: "content-type") }) {
            // Otherwise libcurl labels any body as a form.
            headerList = curl_slist_append(headerList, "Content-Type:") ?? headerList
        }
    }

    /// The URL for messages.
    var location: String { redactor.clean(url: url.text) }

    private static func from(_ context: UnsafeMutableRawPointer?) -> HTTPTransfer? {
        context.map { Unmanaged<HTTPTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: Callbacks of libcurl

    private func receiveHeader(_ data: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard let data else { return count }
        // Trailers of a chunked body also arrive here, after the head.
        if isHeadComplete { return count }
        headerBytes += count
        guard headerBytes <= Self.maxHeaderBytes, received.count < Self.maxHeaderCount else {
            refusal = BridgeError(
                .limit, "the reply's header is over \(Self.maxHeaderBytes >> 10) KiB or \(Self.maxHeaderCount) fields",
                location: location)
            return 0
        }
        // Works on bytes, not characters: the head of every page passes through here.
        var line = UnsafeRawBufferPointer(start: data, count: count)[...]
        while let last = line.last, last == UInt8(ascii: "\r") || last == UInt8(ascii: "\n") { line.removeLast() }
        if line.starts(with: "HTTP/".utf8) {
            received = [(name: "", value: String(decoding: line, as: UTF8.self))]
        } else if line.isEmpty {
            endHead()
            return refusal == nil ? count : 0
        } else if let first = line.first, Self.isBlank(first) {
            Self.append(line, to: &received)
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            received.append((name: Self.trimmed(line[..<colon]), value: Self.trimmed(line[(colon + 1)...])))
        }
        return count
    }

    private func endHead() {
        guard let first = received.first, first.name.isEmpty else { return }
        let words = first.value.split(separator: " ")
        let status = words.count > 1 ? Int(words[1]) ?? 0 : 0
        // 1xx: the final head follows (RFC 9110, section 15.2).
        guard status >= 200 else { return dropHead() }
        if status == 401, challenges > 0, let scheme = options.authentication.challenge,
            received.contains(where: { Self.isChallenge($0, scheme) })
        {
            // libcurl repeats the request with credentials.
            challenges -= 1
            wasChallenged = true
            return dropHead()
        }
        isHeadComplete = true
        self.status = status
        headArrived = MonotonicClock.seconds
        var response = HTTPResponse(
            status: status, headers: withRedirectCookies(received.dropFirst()), url: url.text,
            lostCredentials: lostCredentials, sessionHeader: options.sessionHeader, redactor: redactor)
        refusal = Self.contradiction(in: response)
        guard refusal == nil else { return }
        hold = url.origin == firstOrigin ? RateLimitFields.wait(response, now: Int(time(nil))) : nil
        let isFinal = redirectCookies != nil && status == 302 && method != "GET"
        if !isFinal, [301, 302, 303, 307, 308].contains(status), let target = response.header("location") {
            redirectTarget = target
            redirectStatus = status
            return
        }
        let isChunked = response.header("transfer-encoding")?.lowercased().contains("chunked") ?? false
        watchCoding(response, isChunked: isChunked)
        // Otherwise the body ends with the connection, however that ends (RFC 9112, section 6.3). HTTP/2 marks the end
        // with END_STREAM, but libcurl 7.88 accepts a stream as complete if it is reset without an error, or if the
        // framing breaks after its data.
        isFramed = isChunked || Self.length(in: response) != nil || status == 204 || status == 304
        response.tellsEnd = (isFramed || bodyEnd != nil) && !ContentCoding.isNested(response.headers)
        let length =
            response.header("content-encoding") == nil ? response.header("content-length").flatMap(Int.init) : nil
        state.withLock { state in
            guard !state.isFinished else { return }
            state.response = response
            state.recorder?.begin(response)
            if let length, length > 0 {
                // Do not trust the claimed length: reserve no more than is buffered anyway.
                state.buffer.reserveCapacity(min(length, min(state.bufferLimit, 8 << 20)) + ExchangeState.padding)
            }
        }
        owesSignal = true
    }

    /// Wakes the reader if something has arrived for it; called after each turn of libcurl.
    ///
    /// A small reply arrives in one turn: its reader is woken once, by ``finish(_:)``, and not for the head, too.
    func signalArrival() {
        guard owesSignal else { return }
        owesSignal = false
        state.signal()
    }

    /// Makes libcurl deliver a coded body raw: it does not report whether the data reached their end.
    private func watchCoding(_ response: HTTPResponse, isChunked: Bool) {
        guard let easy, let coding = ContentCoding.outermost(response.headers) else { return }
        bodyEnd = ContentCoding.end(of: coding, isChunked: isChunked)
        self.coding = coding.name
        if bodyEnd != nil { bmo_curl_set_long(easy, CURLOPT_VERBOSE, 1) }
    }

    private func receiveRaw(_ data: UnsafeMutablePointer<CChar>?, _ count: Int) {
        bodyEnd?.append(UnsafeRawBufferPointer(start: data, count: count))
    }

    private func receive(_ data: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard let data, count > 0 else { return count }
        bodyBytes += count
        if redirectTarget != nil { return bodyBytes > 1 << 20 ? 0 : count }
        if let easy, let error = excessiveUnpacking(easy) {
            refusal = error
            return 0
        }
        enum Verdict {
            case taken, takenAndAwaited, pause, stop
            case over(Int)
        }
        let verdict = state.withLock { state -> Verdict in
            if state.isFinished { return .stop }
            if state.buffer.count >= state.bufferLimit {
                state.isPaused = true
                return .pause
            }
            if bodyBytes > state.bodyLimit { return .over(state.bodyLimit) }
            state.buffer.append(contentsOf: UnsafeRawBufferPointer(start: data, count: count))
            state.recorder?.append(UnsafeRawBufferPointer(start: data, count: count))
            return state.wantsWhole ? .taken : .takenAndAwaited
        }
        switch verdict {
        case .taken: return count
        case .takenAndAwaited:
            // The reader of a long body works while libcurl goes on.
            if bodyBytes > Self.smallBody { state.signal() } else { owesSignal = true }
            return count
        case .pause:
            wasPaused = true
            bodyBytes -= count
            return Int(CURL_WRITEFUNC_PAUSE)
        case .stop: return 0
        case .over(let limit):
            refusal = BridgeError(
                .limit, "the reply is larger than \(limit) bytes after decompression",
                remedy: "request smaller pages, or raise max_body_bytes", location: location)
            return 0
        }
    }

    // MARK: The end of a request

    /// The outcome of the request that has ended, and its duration up to the head of the reply or its failure.
    var measurement: (outcome: RequestMeasurement, seconds: Double) {
        let outcome: RequestMeasurement =
            switch status {
            case 0: .unanswered
            case 429: .rateLimited
            case 400..<500: .refused
            case 500...: .broken
            default: .succeeded
            }
        return (outcome, (status == 0 ? MonotonicClock.seconds : headArrived) - began)
    }

    func completed(_ easy: UnsafeMutableRawPointer, _ result: CURLcode) -> Outcome {
        markSent(easy)
        if let refusal { return .done(refusal) }
        if redirectTarget != nil, result == CURLE_OK || result == CURLE_WRITE_ERROR { return redirect() }
        if result == CURLE_OK {
            if isHeadComplete { return .done(cutCompression(easy)) }
            if wasChallenged {
                return .done(
                    BridgeError(
                        .authentication, "the server answers 401 to the credentials, and libcurl has no others",
                        remedy: "check the option auth; the server's log has the reason", location: location))
            }
            return .done(BridgeError(.malformed, "the reply lacks a header", location: location, isRetryable: true))
        }
        let words = errorText.pointee == 0 ? String(cString: curl_easy_strerror(result)) : String(cString: errorText)
        return .done(
            CurlError.make(
                result, words: redactor.clean(words), bodyBytes: isHeadComplete ? bodyBytes : nil, location: location,
                coding: namedCodings, proxy: proxyAnswer(easy)))
    }

    /// Returns the error for a coded body that ends before its data, like a body shorter than its Content-Length.
    private func cutCompression(_ easy: UnsafeMutableRawPointer) -> BridgeError? {
        // The watched bytes must be exactly the body.
        guard let bodyEnd, bodyEnd.count == Int(bmo_curl_get_offset(easy, CURLINFO_SIZE_DOWNLOAD_T)),
            bodyEnd.isCut(after: bodyBytes) || bodyEnd.count == 0 && lacksBody
        else { return nil }
        return BridgeError(
            .malformed,
            "the reply broke off after \(bodyBytes) bytes: its \(coding) data, of which \(bodyEnd.count) bytes arrived, is incomplete",
            location: location, isRetryable: true)
    }

    /// Reports the end to the reader; nil for success.
    func finish(_ error: BridgeError?) {
        state.withLock { state in
            guard !state.isFinished else { return }
            state.isFinished = true
            state.isCancelled = error?.code == .cancelled
            state.error = state.recorder?.finish(error) ?? error
        }
        state.signal()
    }
}
