public import BridgeKit
internal import SystemCalls
internal import TextFormats

/// The options shared by every bridge over HTTP.
public struct HTTPOptions: Sendable {
    var headers: [(name: String, value: String)] = []
    /// The header field whose value the remote sends and expects back.
    var sessionHeader: String?
    var authentication = HTTPAuthentication.fixed(.none)
    private var authenticationSecrets: [String] = []
    /// Secrets from a file named in the configuration, which the host does not know.
    private(set) var fileSecrets: [String] = []
    var caFile: String?
    var clientCertificate: String?
    var clientKey: String?
    var clientKeyPassword: String?
    var verifies = true
    var proxy: (url: String, user: String?, password: String?)?
    /// The defaults, which a section may override.
    public internal(set) var timing = HTTPTiming()
    var connectTimeoutMilliseconds = 10_000
    var idleTimeoutSeconds = 60
    var maxBodyBytes: Int?
    var maxRecordBytes = 48 << 20
    var totalTime: Duration?
    var requestsPerSecond: Double?
    var concurrency = 16
    /// Whether `concurrency` was set, and not only assumed.
    private(set) var hasConcurrency = false
    /// The file that says which part of the limits is this process's; nil if it has them alone.
    private(set) var shareFile: String?
    /// The member of the options that names the file; only the host sets it.
    private static let shareMember = "@share"
    var version = Version.automatic

    enum Version: String, CaseIterable {
        case automatic = "auto"
        case http1 = "1.1"
        case http2 = "2"
    }

    /// The members of a JSON Schema's `properties`, without the braces, for a bridge's options schema.
    public static let schemaProperties = #"""
        "headers": {"type": "object", "description": "Header fields of every request to the configured origin.", "additionalProperties": {"type": "string"}},
        "session_header": {"type": "string", "description": "A header in which the server issues a value that it expects in the following requests, such as X-Transmission-Session-Id. A request that was refused with a new value is sent once more with it."},
        "auth": \#(HTTPAuthentication.schema),
        "tls": {
          "type": "object",
          "description": "How https connections are made.",
          "additionalProperties": false,
          "properties": {
            "ca_file": {"type": "string", "format": "path", "description": "PEM file of the authorities to trust instead of the system's."},
            "client_certificate": {"type": "string", "format": "path", "description": "PEM file of the client's certificate."},
            "client_key": {"type": "string", "format": "path", "description": "PEM file of the certificate's private key."},
            "client_key_password": {"type": "string", "writeOnly": true, "description": "The private key's password."},
            "verify": {"type": "boolean", "default": true, "description": "false accepts any certificate: for tests only."}
          }
        },
        "proxy": {
          "type": "object",
          "description": "The proxy; default: the environment's http_proxy, https_proxy and no_proxy.",
          "additionalProperties": false,
          "required": ["url"],
          "properties": {
            "url": {"type": "string", "description": "Such as http://proxy.example:3128; empty for none."},
            "user": {"type": "string", "description": "The proxy's user."},
            "password": {"type": "string", "writeOnly": true, "description": "The proxy's password."}
          }
        },
        "limits": {
          "type": "object",
          "description": "How much load bmo puts on the remote.",
          "additionalProperties": false,
          "properties": {
            "requests_per_second": {"type": "number", "exclusiveMinimum": 0, "description": "The maximum number of requests per second; default: no limit."},
            "concurrency": {"type": "integer", "minimum": 1, "default": 16, "description": "The maximum number of requests at a time."},
            "total_time": {"type": "number", "exclusiveMinimum": 0, "description": "Seconds that a scan over a listing may take; default: no limit."}
          }
        },
        \#(HTTPTiming.schemaProperties),
        "connect_timeout": {"type": "number", "minimum": 0.001, "default": 10, "description": "Seconds that connecting may take."},
        "idle_timeout": {"type": "integer", "minimum": 1, "default": 60, "description": "Seconds without a byte after which a request is abandoned."},
        "max_body_bytes": {"type": "integer", "minimum": 1, "description": "The largest reply, after decompression; default: 1 GiB streamed, 64 MiB in one piece."},
        "max_record_bytes": {"type": "integer", "minimum": 65536, "default": 50331648, "description": "How much memory one record may take: 16 bytes for each value in it, and its texts."},
        "http_version": {"type": "string", "enum": ["auto", "1.1", "2"], "default": "auto", "description": "auto takes HTTP/2 where an https server offers it."}
        """#

    /// Parses and validates the options.
    ///
    /// - Throws: `BridgeError` with code `configuration` and the option's name.
    public init(_ options: BridgeOptions) throws {
        if let fields = options.object("headers") {
            headers = try fields.names.map { name in
                let field = (name: name, value: fields.string(name) ?? "")
                try HTTPRequest.check(field)
                return field
            }
        }
        if let name = options.string("session_header") {
            try HTTPRequest.check((name: name, value: ""))
            sessionHeader = name
        }
        let auth = options.object("auth")
        authentication = try HTTPAuthentication(auth, base: options.string("url").flatMap { HTTPURL($0) })
        authenticationSecrets = authentication.secrets(auth)
        if case .granted(let grant) = authentication { authenticationSecrets += grant.secrets }
        if case .netrc(let file) = authentication {
            fileSecrets = NetrcFile.passwords(at: file)
            authenticationSecrets += fileSecrets
        }
        for field in authentication.credential.headers { try HTTPRequest.check((name: field.name, value: field.value)) }
        if let limits = options.object("limits") { try setLimits(limits) }
        shareFile = options.object(Self.shareMember)?.string("file")
        if let tls = options.object("tls") {
            caFile = tls.string("ca_file")
            clientCertificate = tls.string("client_certificate")
            clientKey = tls.string("client_key")
            clientKeyPassword = tls.string("client_key_password")
            verifies = tls.bool("verify") ?? true
        }
        if let proxy = options.object("proxy") {
            self.proxy = (proxy.string("url") ?? "", proxy.string("user"), proxy.string("password"))
        }
        timing = try timing.replaced(by: options)
        connectTimeoutMilliseconds = try Self.milliseconds(options, "connect_timeout") ?? 10_000
        idleTimeoutSeconds = options.integer("idle_timeout") ?? 60
        maxBodyBytes = options.integer("max_body_bytes")
        maxRecordBytes = options.integer("max_record_bytes") ?? maxRecordBytes
        guard maxRecordBytes >= 65_536 else {
            throw BridgeError(
                .configuration, "max_record_bytes is \(maxRecordBytes)", remedy: "it must be at least 65536")
        }
        // libcurl takes a much longer time for one that has passed.
        guard (1...2_000_000).contains(idleTimeoutSeconds) else {
            throw BridgeError(
                .configuration, "idle_timeout is \(idleTimeoutSeconds) seconds",
                remedy: "use a number from 1 to 2000000")
        }
        if let maxBodyBytes, maxBodyBytes < 1 {
            throw BridgeError(.configuration, "max_body_bytes is \(maxBodyBytes)", remedy: "it must be at least 1")
        }
        if let text = options.string("http_version") {
            guard let version = Version(rawValue: text) else {
                throw BridgeError(.configuration, "http_version is \"\(text)\"", remedy: "use auto, 1.1 or 2")
            }
            self.version = version
        }
    }

    private mutating func setLimits(_ limits: BridgeOptions) throws {
        requestsPerSecond = limits.number("requests_per_second")
        hasConcurrency = limits.has("concurrency")
        concurrency = limits.integer("concurrency") ?? concurrency
        totalTime = limits.number("total_time").map { .seconds(min($0, 1e9)) }
        guard requestsPerSecond ?? 1 > 0, concurrency > 0, totalTime ?? .seconds(1) > .zero else {
            throw BridgeError(
                .configuration, "limits has a number that is not above 0", remedy: "raise it, or remove it")
        }
    }

    /// Returns this process's part of the limits that it shares; nil if it has them alone.
    func limitShare() throws -> LimitShare? {
        guard let shareFile else { return nil }
        do {
            let share = try LimitShare(path: shareFile)
            // An earlier process of the bridge may have ended in the middle of a request.
            share.running = 0
            return share
        } catch {
            throw BridgeError(.internal, "the file of the shared limits cannot be mapped: \(error.words)")
        }
    }

    /// Removes these options' secrets from text.
    public var redactor: HTTPRedactor {
        // The schema does not say whether a header's value is secret; its name usually does. Not all values are treated
        // as secret: a value like "users" would be removed from every message.
        let own = headers.filter { field in
            SecretNames.isHeader(field.name) || field.name.lowercased().contains("key")
                || field.name.lowercased() == sessionHeader?.lowercased()
        }.map(\.value)
        let proxies = ProxyVariables.secrets + (proxy.map { ProxyVariables.userInfo(of: $0.url) } ?? [])
        let passwords = [clientKeyPassword, proxy?.password].compactMap(\.self)
        return HTTPRedactor(
            secrets: authenticationSecrets + own + proxies + passwords,
            queryNames: [authentication.credential.query?.name].compactMap(\.self))
    }

    private static func milliseconds(_ options: BridgeOptions, _ name: String) throws -> Int? {
        guard let seconds = options.number(name) else { return nil }
        guard seconds >= 0.001, seconds <= 2_000_000 else {
            throw BridgeError(
                .configuration, "\(name) is \(seconds) seconds", remedy: "use a number from 0.001 to 2000000")
        }
        return Int(seconds * 1000)
    }
}
