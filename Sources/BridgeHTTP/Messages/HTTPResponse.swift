internal import CCurl

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
    public func header(_ name: String) -> String? { headers.first { $0.name.isSameField(as: name) }?.value }
    /// Returns all values of a field, in order.
    public func all(_ name: String) -> [String] {
        headers.filter { $0.name.isSameField(as: name) }.map(\.value)
    }

    /// The media type of the body in lower case, without parameters.
    public var mediaType: String? {
        guard let value = header("content-type") else { return nil }
        let type = value.utf8.prefix { $0 != UInt8(ascii: ";") }.filter { $0 != UInt8(ascii: " ") }
        return String(decoding: type, as: UTF8.self).lowercased()
    }

    /// The charset of the body in lower case, if its media type names one (RFC 9110, section 8.3.2).
    public var charset: String? {
        let parameters = header("content-type")?.lowercased().split(separator: ";").dropFirst() ?? []
        for parameter in parameters {
            let parts = parameter.split(separator: "=", maxSplits: 1).map {
                $0.trimming { $0.isWhitespace || $0 == "\"" || $0 == "'" }
            }
            if parts.count == 2, parts[0] == "charset", !parts[1].isEmpty { return parts[1] }
        }
        return nil
    }

    /// Returns the date in a header field, in seconds since 1970 (RFC 9110, section 5.6.7).
    public func date(_ name: String) -> Int64? {
        let date = header(name).map { Int64(curl_getdate($0, nil)) }
        return date.flatMap { $0 < 0 ? nil : $0 }
    }
}

extension Substring {
    /// Returns the text without what both of its ends have to leave out.
    func trimming(_ isLeftOut: (Character) -> Bool) -> String {
        var text = drop(while: isLeftOut)
        while let last = text.last, isLeftOut(last) { text.removeLast() }
        return String(text)
    }
}
