internal import BridgeKit

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
    /// Whether cookies are kept over redirects, as in a login; a 302 to a POST, which is not followed, is then a reply.
    var keepsCookies = false
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

    /// Refuses a header field that cannot be sent, or that could inject another one (RFC 9110, section 5).
    ///
    /// - Throws: `BridgeError` with code `configuration`.
    public static func check(_ field: (name: String, value: String)) throws {
        let isToken =
            !field.name.isEmpty
            && field.name.utf8.allSatisfy { byte in
                byte > 0x20 && byte < 0x7F && !#"()<>@,;:\"/[]?={}"#.utf8.contains(byte)
            }
        guard isToken else {
            throw BridgeError(
                .configuration, "\"\(field.name)\" cannot name a header", remedy: "use letters, digits and hyphens")
        }
        guard let unfit = Self.unfit(in: field.value) else { return }
        throw BridgeError(.configuration, "the value of header \(field.name) holds \(unfit)", remedy: "remove it")
    }

    /// Returns what a header field's value cannot have in this text, for messages; nil for nothing.
    static func unfit(in value: String) -> String? {
        guard let byte = value.utf8.first(where: { $0 == 0 || $0 == 10 || $0 == 13 }) else { return nil }
        return byte == 0 ? "a NUL character" : "a line break"
    }
}
