/// An HTTP response.
package struct WebResponse: Sendable {
    /// The status code (RFC 9110, section 15).
    package var status: Int
    /// The header fields, in order.
    ///
    /// Their values must not contain line ends.
    package var headers: [(name: String, value: String)]
    /// The body.
    package var body: [UInt8]
    /// The rest of a body that has no known length, after ``body``; nil for a complete response.
    package var stream: ResponseStream?

    /// Creates a response.
    package init(_ status: Int, headers: [(name: String, value: String)] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// Creates a response of text.
    package init(_ status: Int, type: String = "text/plain; charset=utf-8", text: String) {
        self.init(status, headers: [("Content-Type", type)], body: Array(text.utf8))
    }

    /// Returns a response that leads to another page, which the browser requests by GET (RFC 9110, section 15.4.4).
    ///
    /// - Parameter location: A path of this server, percent-encoded.
    package static func redirect(to location: String) -> WebResponse {
        WebResponse(303, headers: [("Location", location)])
    }
}

/// The parts of a body that are made while the client reads it.
///
/// The server asks for a part only after the client's system has taken the one before, so that a slow client costs no
/// memory; one that does not take a part in the time for a response is disconnected.
package struct ResponseStream: Sendable {
    /// Returns the next part, or nil at the end; its task is cancelled when the client has gone.
    package let next: @Sendable () async -> [UInt8]?

    /// Creates a stream.
    package init(next: @escaping @Sendable () async -> [UInt8]?) { self.next = next }
}
