/// One HTTP request.
public struct HTTPRequest: Sendable {
    /// The method (RFC 9110, section 9).
    public var method: String
    /// An absolute http or https URL.
    public var url: String
    /// Header fields besides those of the options; one of the same name replaces the option's.
    public var headers: [(name: String, value: String)]
    /// The body; nil for none.
    public var body: [UInt8]?
    /// Whether the options' credentials and headers go along.
    ///
    /// Say no where the remote named the URL and it has another origin than the configured one: then only headers that
    /// cannot hold a secret are sent.
    public var sendsCredentials = true
    /// Whether the options' headers go along; credentials aside, they are meant for the API and not for others.
    var sendsOptions = true
    /// How many bytes of the body are read ahead of who takes them; the connection waits beyond that.
    public var bufferLimit = 1 << 20
    /// Sends it on a connection of its own: libcurl sends a request again where a kept connection turns out to be dead,
    /// which may be after the server took it.
    public var isSentOnce = false

    /// A request.
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
    /// The header fields in their order; look them up with ``header(_:)``.
    public let headers: [(name: String, value: String)]
    /// The URL that answered, after redirects, without a credential that the options put into its query.
    public let url: String
    /// Whether a redirect led to another origin, where credentials did not follow.
    public let lostCredentials: Bool
    /// The option `session_header`.
    let sessionHeader: String?
    /// Takes the options' secrets out of text that comes from this reply.
    public let redactor: HTTPRedactor

    /// The URL for messages, without secrets.
    public var location: String { redactor.clean(url: url) }
    /// The first value of a field; names are compared without case.
    public func header(_ name: String) -> String? { all(name).first }
    /// All values of a field, in their order.
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
    /// Refuses a header field that cannot be sent, or that could smuggle in another one (RFC 9110, section 5).
    ///
    /// - Throws: ``BridgeError`` with code `configuration`.
    public static func check(_ field: (name: String, value: String)) throws { try HTTPOptions.check(field) }
}
