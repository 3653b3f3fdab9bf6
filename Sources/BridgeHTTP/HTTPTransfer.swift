internal import BridgeKit
internal import CCurl
internal import Glibc

/// One request on its way through libcurl, redirects included; the I/O thread's own once it began.
final class HTTPTransfer: @unchecked Sendable {
    // Made by the thread that starts it, handed over through a lock, and used by the I/O thread only from then on.
    let state: Monitor<ExchangeState>
    private let options: HTTPOptions
    private let redactor: HTTPRedactor
    private var method: String
    private var url: HTTPURL
    private let firstOrigin: HTTPURL.Origin
    private let headers: [(name: String, value: String)]
    private var body: [UInt8]?
    private let isSentOnce: Bool
    private var sendsCredentials: Bool
    private var lostCredentials = false
    private var redirects = 0
    private let credential: Credential
    /// Seconds until the remote takes requests again, if the reply said so.
    private(set) var hold: Double?
    /// Whether the rate and the number of running requests count this one: the token request that others wait for does not.
    let isLimited: Bool
    /// libcurl answers the first challenge by itself.
    private var mayBeChallenged = false

    private var headerList: UnsafeMutablePointer<curl_slist>?
    private let errorText = UnsafeMutablePointer<CChar>.allocate(capacity: Int(CURL_ERROR_SIZE))
    private var received: [(name: String, value: String)] = []
    private var headerBytes = 0
    private var bodyBytes = 0
    private var redirectTarget: String?
    private var redirectStatus = 0
    private var isHeadComplete = false
    /// The handle that the request is made with.
    private var easy: UnsafeMutableRawPointer?
    /// Sees whether a gzip body came whole; nil for others.
    private var gzipEnd: GzipEnd?
    /// Why a callback made libcurl stop.
    private var refusal: BridgeError?

    private static let maxRedirects = 10
    private static let maxHeaderBytes = 256 << 10
    private static let maxHeaderCount = 500
    /// Header fields that hold no secret and may go to any origin.
    static let harmlessHeaders: Set<String> = [
        "accept", "accept-language", "content-type", "user-agent", "soapaction", "if-none-match", "if-modified-since",
    ]
    static let userAgent = "bmo/0.1.0"

    init(
        _ request: HTTPRequest, options: HTTPOptions, credential: Credential, redactor: HTTPRedactor,
        state: Monitor<ExchangeState>, isLimited: Bool
    ) throws(BridgeError) {
        guard let url = HTTPURL(request.url) else {
            throw BridgeError(
                .configuration, "this is no http or https URL", remedy: "write it as https://host/path",
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
            for field in request.headers { try HTTPOptions.check(field) }
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
    }

    deinit {
        curl_slist_free_all(headerList)
        errorText.deallocate()
    }

    /// What follows when libcurl is done with one request.
    enum Outcome {
        /// A redirect: begin again.
        case again
        case done(BridgeError?)
    }

    /// Sets up a fresh handle; returns why that is impossible.
    func configure(_ easy: UnsafeMutableRawPointer) -> BridgeError? {
        received = []
        headerBytes = 0
        bodyBytes = 0
        redirectTarget = nil
        isHeadComplete = false
        self.easy = easy
        gzipEnd = nil
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
        // What is signed is the query in its order (libcurl before 8.3 signs it as it stands).
        if sendsCredentials, case .signature = options.authentication { whole = whole.withCanonicalQuery() }
        set(CURLOPT_URL, whole.text)
        set(CURLOPT_NOSIGNAL, 1)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_ACCEPT_ENCODING, "")
        set(CURLOPT_USERAGENT, Self.userAgent)
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        // A wish: some handles refuse it after a failed connection, and any size works.
        bmo_curl_set_long(easy, CURLOPT_BUFFERSIZE, 128 << 10)
        set(CURLOPT_CONNECTTIMEOUT_MS, options.connectTimeoutMilliseconds)
        set(CURLOPT_LOW_SPEED_LIMIT, 1)
        set(CURLOPT_LOW_SPEED_TIME, options.idleTimeoutSeconds)
        if let timeout = options.timeoutMilliseconds { set(CURLOPT_TIMEOUT_MS, timeout) }
        setTLS(set, set)
        setAuthentication(set, set)
        switch options.version {
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
        if let file = options.caFile { setText(CURLOPT_CAINFO, file) }
        // A client certificate is a credential too.
        guard sendsCredentials else { return }
        if let file = options.clientCertificate { setText(CURLOPT_SSLCERT, file) }
        if let file = options.clientKey { setText(CURLOPT_SSLKEY, file) }
        if let password = options.clientKeyPassword { setText(CURLOPT_KEYPASSWD, password) }
    }

    private func setAuthentication(_ set: (CURLoption, Int) -> Void, _ setText: (CURLoption, String) -> Void) {
        mayBeChallenged = false
        guard sendsCredentials else { return }
        switch options.authentication {
        case .fixed, .granted: break
        case .digest(let user, let password):
            mayBeChallenged = true
            set(CURLOPT_HTTPAUTH, 2)
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
        where !fields.contains(where: { $0.name.lowercased() == field.name.lowercased() }) {
            fields.append((name: field.name, value: field.value))
        }
        if !sendsCredentials { fields = fields.filter { Self.harmlessHeaders.contains($0.name.lowercased()) } }
        for field in fields {
            // libcurl's way to send a field without a value ends in a semicolon.
            let line = field.value.isEmpty ? "\(field.name);" : "\(field.name): \(field.value)"
            headerList = curl_slist_append(headerList, line) ?? headerList
        }
        // libcurl would sign the fields that these lines only keep from being sent.
        if sendsCredentials, case .signature = options.authentication { return }
        headerList = curl_slist_append(headerList, "Expect:") ?? headerList
        if !fields.contains(where: { $0.name.lowercased() == "content-type" }) {
            // Or libcurl would call any body a form.
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
        // Trailers of a chunked body come here too, after the head.
        if isHeadComplete { return count }
        headerBytes += count
        guard headerBytes <= Self.maxHeaderBytes, received.count < Self.maxHeaderCount else {
            refusal = BridgeError(
                .limit, "the reply's head is over \(Self.maxHeaderBytes >> 10) KiB or \(Self.maxHeaderCount) fields",
                location: location)
            return 0
        }
        // Bytes, not characters: the head of each page comes through here.
        var line = UnsafeRawBufferPointer(start: data, count: count)[...]
        while let last = line.last, last == UInt8(ascii: "\r") || last == UInt8(ascii: "\n") { line.removeLast() }
        if line.starts(with: "HTTP/".utf8) {
            received = [(name: "", value: String(decoding: line, as: UTF8.self))]
        } else if line.isEmpty {
            endHead()
        } else if let colon = line.firstIndex(of: UInt8(ascii: ":")) {
            received.append((name: Self.trimmed(line[..<colon]), value: Self.trimmed(line[(colon + 1)...])))
        }
        return count
    }

    /// The text between spaces and tabs (RFC 9110, section 5.5).
    private static func trimmed(_ bytes: Slice<UnsafeRawBufferPointer>) -> String {
        func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
        var bytes = bytes.drop(while: isBlank)
        while let last = bytes.last, isBlank(last) { bytes.removeLast() }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func endHead() {
        guard let first = received.first, first.name.isEmpty else { return }
        let words = first.value.split(separator: " ")
        let status = words.count > 1 ? Int(words[1]) ?? 0 : 0
        // 1xx: the final head follows (RFC 9110, section 15.2).
        guard status >= 200 else { return }
        if status == 401, mayBeChallenged, received.contains(where: { Self.isDigest($0) }) {
            // libcurl asks again with the answer; this head is not the reply's.
            mayBeChallenged = false
            received = []
            return
        }
        isHeadComplete = true
        let response = HTTPResponse(
            status: status, headers: Array(received.dropFirst()), url: url.text, lostCredentials: lostCredentials,
            sessionHeader: options.sessionHeader, redactor: redactor)
        hold = url.origin == firstOrigin ? RateLimitFields.wait(response, now: Int(time(nil))) : nil
        if [301, 302, 303, 307, 308].contains(status), let target = response.header("location") {
            redirectTarget = target
            redirectStatus = status
            return
        }
        watchCompression(response)
        let length =
            response.header("content-encoding") == nil ? response.header("content-length").flatMap(Int.init) : nil
        state.withLock { state in
            guard !state.isFinished else { return }
            state.response = response
            state.recorder?.begin(response)
            if let length, length > 0 {
                // What the remote claims is not what it sends: reserve no more than is buffered anyway.
                state.buffer.reserveCapacity(min(length, min(state.bufferLimit, 8 << 20)) + HTTPExchange.padding)
            }
        }
        state.signal()
    }

    /// Has libcurl show the body as it comes, where it is gzip: it does not say where that ends.
    private func watchCompression(_ response: HTTPResponse) {
        let encodings = response.headers.filter { $0.name.lowercased() == "content-encoding" }.map(\.value)
        guard let easy, encodings.count == 1, ["gzip", "x-gzip"].contains(encodings[0].lowercased()) else { return }
        gzipEnd = GzipEnd(isChunked: response.header("transfer-encoding")?.lowercased().contains("chunked") ?? false)
        bmo_curl_set_long(easy, CURLOPT_VERBOSE, 1)
    }

    private func receiveRaw(_ data: UnsafeMutablePointer<CChar>?, _ count: Int) {
        gzipEnd?.append(UnsafeRawBufferPointer(start: data, count: count))
    }

    private static func isDigest(_ field: (name: String, value: String)) -> Bool {
        field.name.lowercased() == "www-authenticate" && field.value.lowercased().hasPrefix("digest")
    }

    private func receive(_ data: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard let data, count > 0 else { return count }
        bodyBytes += count
        if redirectTarget != nil { return bodyBytes > 1 << 20 ? 0 : count }
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
            state.signal()
            return count
        case .pause:
            bodyBytes -= count
            return Int(CURL_WRITEFUNC_PAUSE)
        case .stop: return 0
        case .over(let limit):
            refusal = BridgeError(
                .limit, "the reply is larger than \(limit) bytes after decompression",
                remedy: "ask for smaller pages, or raise max_body_bytes", location: location)
            return 0
        }
    }

    // MARK: The end of a request

    func completed(_ easy: UnsafeMutableRawPointer, _ result: CURLcode) -> Outcome {
        if bmo_curl_get_long(easy, CURLINFO_REQUEST_SIZE) > 0 { state.withLock { $0.wasSent = true } }
        if let refusal { return .done(refusal) }
        if redirectTarget != nil, result == CURLE_OK || result == CURLE_WRITE_ERROR { return redirect() }
        if result == CURLE_OK {
            if isHeadComplete { return .done(cutCompression(easy)) }
            return .done(BridgeError(.malformed, "the reply has no head", location: location, isRetryable: true))
        }
        let words = errorText.pointee == 0 ? String(cString: curl_easy_strerror(result)) : String(cString: errorText)
        return .done(
            CurlError.make(
                result, words: redactor.clean(words), bodyBytes: isHeadComplete ? bodyBytes : nil, location: location,
                isEncoded: received.contains { $0.name.lowercased() == "content-encoding" }))
    }

    /// A gzip body that ends before its data do broke off, like one that is shorter than its Content-Length.
    private func cutCompression(_ easy: UnsafeMutableRawPointer) -> BridgeError? {
        // What was seen has to be the body, and nothing else.
        guard let gzipEnd, gzipEnd.count == Int(bmo_curl_get_offset(easy, CURLINFO_SIZE_DOWNLOAD_T)),
            gzipEnd.isCut(after: bodyBytes)
        else { return nil }
        return BridgeError(
            .malformed,
            "the reply broke off after \(bodyBytes) bytes: its gzip data, of which \(gzipEnd.count) bytes came, have no end",
            location: location, isRetryable: true)
    }

    /// RFC 9110, section 15.4.
    private func redirect() -> Outcome {
        guard redirects < Self.maxRedirects else {
            return .done(
                BridgeError(
                    .limit, "more than \(Self.maxRedirects) redirects", remedy: "set the URL that they should lead to",
                    location: location))
        }
        redirects += 1
        guard let target = redirectTarget.flatMap({ HTTPURL($0, relativeTo: url) }), !target.hasUserInfo else {
            return .done(
                BridgeError(
                    .malformed, "the reply redirects to what is no http or https URL", location: location,
                    remote: redirectTarget.map(redactor.clean(url:))))
        }
        if redirectStatus < 303, method != "GET", method != "HEAD" {
            if let error = missedSlash(target) { return .done(error) }
            // Browsers make a GET of it, which is not what was asked for: such a reply would be taken for the answer.
            return .done(
                BridgeError(
                    .malformed,
                    "the server redirects a \(method) with \(redirectStatus), after which only a GET is usual",
                    remedy: "set the URL that it leads to", location: location, remote: redactor.clean(url: target.text)
                ))
        }
        if redirectStatus == 303, method != "HEAD" {
            method = "GET"
            body = nil
        }
        if target.origin != firstOrigin {
            guard body == nil else {
                return .done(
                    BridgeError(
                        .permission, "the reply redirects a \(method) with a body to another origin",
                        remedy: "set that URL in the config if you trust it", location: location,
                        remote: redactor.clean(url: target.text)))
            }
            guard !redactor.holdsSecret(target, named: url) else {
                return .done(
                    BridgeError(
                        .permission, "the reply redirects to another origin with a credential in the URL",
                        remedy: "set that URL in the config if you trust it", location: location,
                        remote: redactor.clean(url: target.text)))
            }
            lostCredentials = lostCredentials || sendsCredentials
            // Once lost they stay lost: a stranger must not send us back with a URL of its choice.
            sendsCredentials = false
        }
        url = target
        return .again
    }

    /// What to say where only a slash at the path's end is wrong: a router looked at the path, and nobody at the rest.
    private func missedSlash(_ target: HTTPURL) -> BridgeError? {
        let (sent, wanted) = (url.text.prefix { $0 != "?" }, target.text.prefix { $0 != "?" })
        guard sent + "/" == wanted || sent == wanted + "/" else { return nil }
        let (has, lacks) = wanted.hasSuffix("/") ? ("with", "without") : ("without", "with")
        return BridgeError(
            .configuration, "the server redirects a \(method) \(lacks) a slash at the path's end, and has done nothing",
            remedy: "write the path \(has) a slash at its end", location: location,
            remote: redactor.clean(url: target.text))
    }

    /// Tells the reader how it ended; nil for well.
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
