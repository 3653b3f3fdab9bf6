/// A complete HTTP response.
package struct WebResponse: Sendable {
    /// The status code (RFC 9110, section 15).
    package var status: Int
    /// The header fields, in order.
    ///
    /// Their values must not contain line ends.
    package var headers: [(name: String, value: String)]
    /// The body.
    package var body: [UInt8]

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
