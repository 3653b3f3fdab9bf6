/// One HTTP request.
public struct HTTPRequest: Sendable {
    /// The method (RFC 9110, section 9).
    public var method: String
    /// An absolute http or https URL.
    public var url: String
    /// Header fields besides those of the options; they replace an option's field of the same name.
    public var headers: [(name: String, value: String)]
    /// The body; nil for none.
    public var body: [UInt8]?
    /// Whether the request carries the options' credentials and headers.
    ///
    /// Set it to false if the remote named the URL and its origin differs from the configured one: then only headers
    /// that cannot hold a secret are sent.
    public var sendsCredentials = true
    /// The hosts, in lower case, to which redirects may lead besides the URL's own; nil for any.
    package var redirectHosts: Set<String>?
    /// Whether the request carries the options' headers: even without credentials, they are intended only for the API.
    var sendsOptions = true
    /// The number of body bytes buffered ahead of the reader; the connection pauses beyond that.
    public var bufferLimit = 1 << 20
    /// The time limits for the remote; nil for those of the options.
    public var timing: HTTPTiming?
    /// Whether to use a new connection.
    ///
    /// libcurl repeats a request if a kept connection turns out to be dead, possibly after the server has processed it.
    public var isSentOnce = false

    /// Creates a request.
    public init(
        method: String = "GET", url: String, headers: [(name: String, value: String)] = [], body: [UInt8]? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }
}

/// The head of a reply.
public struct HTTPResponse: Sendable {
    /// The status code (RFC 9110, section 15).
    public let status: Int
    /// The header fields in order; look them up with ``header(_:)``.
    public let headers: [(name: String, value: String)]
    /// The URL that answered, after redirects, without a credential that the options add to its query.
    public let url: String
    /// Whether a redirect led to another origin, to which credentials were not sent.
    public let lostCredentials: Bool
    /// The option `session_header`.
    let sessionHeader: String?
    /// Removes the options' secrets from text of this reply.
    public let redactor: HTTPRedactor
    /// Whether the body marks its own end: by Content-Length, chunks or the data of its content coding.
    ///
    /// Otherwise it ends with the connection (RFC 9112, section 6.3) or the stream, and a truncated body looks
    /// complete.
    public internal(set) var tellsEnd = true

    /// The URL for messages, without secrets.
    public var location: String { redactor.clean(url: url) }
    /// Returns the first value of a field; names are compared without case.
    public func header(_ name: String) -> String? { all(name).first }
    /// Returns all values of a field, in order.
    public func all(_ name: String) -> [String] {
        let name = name.lowercased()
        return headers.filter { $0.name.lowercased() == name }.map(\.value)
    }

    /// The media type of the body in lower case, without parameters.
    public var mediaType: String? {
        guard let value = header("content-type")?.lowercased() else { return nil }
        return String(value.prefix { $0 != ";" }.filter { $0 != " " })
    }
}

extension HTTPRequest {
    /// Refuses a header field that cannot be sent, or that could inject another one (RFC 9110, section 5).
    ///
    /// - Throws: ``BridgeError`` with code `configuration`.
    public static func check(_ field: (name: String, value: String)) throws { try HTTPOptions.check(field) }
}
