internal import BridgePaging
internal import BridgeHTTP
internal import BridgeKit

/// Sends the requests for pages.
struct PageRequester: Sendable {
    let client: HTTPClient
    /// The origin to which credentials are sent.
    let origin: HTTPURL.Origin

    /// The number of bytes of a page to buffer ahead of reading.
    private static let readAheadBytes = 4 << 20

    /// Sends the request for a page without waiting for the reply.
    ///
    /// - Parameters:
    ///   - page: The URL of the previous page, the base of relative references.
    ///   - delta: The remote's token from an earlier scan.
    ///   - conditions: Header fields of a conditional request.
    ///   - method: A method that replaces the section's.
    /// - Throws: ``BridgeError`` if the remote's next URL is invalid, or if a secret would be sent to another origin.
    func start(
        _ section: RESTSection, _ position: PagePosition, after page: HTTPURL? = nil, delta: String? = nil,
        conditions: [(name: String, value: String)] = [], method: String? = nil
    ) throws -> HTTPExchange {
        var asked = try section.request(at: position, after: page, delta: delta)
        asked.request.headers += conditions
        if let method { asked.request.method = method }
        return try send(asked, of: section)
    }

    /// Sends a request that a section made for a page.
    ///
    /// - Parameter remaining: The time that the scan may still take.
    /// - Throws: ``BridgeError`` if a secret would be sent to another origin.
    func send(
        _ asked: (request: HTTPRequest, url: HTTPURL), of section: RESTSection, remaining: Duration? = nil
    ) throws -> HTTPExchange {
        var (request, url) = asked
        // The bridge's options take precedence over the media type of the body.
        if client.sendsHeader("content-type"),
            !section.headers.contains(where: { $0.name.isSameField(as: "content-type") })
        {
            request.headers.removeAll { $0.name.isSameField(as: "content-type") }
        }
        if !client.sendsHeader("accept") {
            request.setDefault("Accept", section.table?.accept ?? section.preset?.accept ?? "application/json")
        }
        request.sendsCredentials = url.origin == origin
        if url.origin != origin { try section.checkAbroad(request, url, client.redactor) }
        request.bufferLimit = Self.readAheadBytes
        request.timing = try section.timing.map { try client.timing.replaced(by: $0) }
        if let remaining {
            var timing = request.timing ?? client.timing
            timing.whole = min(timing.whole ?? .infinity, max(remaining / .seconds(1), 0.001))
            request.timing = timing
        }
        return client.start(request)
    }
}
