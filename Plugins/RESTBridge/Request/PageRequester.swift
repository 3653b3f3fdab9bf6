internal import BridgeHTTP
internal import BridgeKit

/// Sends the requests for pages.
struct PageRequester: Sendable {
    let client: HTTPClient
    /// Where credentials go along.
    let origin: HTTPURL.Origin

    /// How much of a page is read ahead before somebody asks for it.
    private static let readAheadBytes = 4 << 20

    /// Starts the request for a page; the server may answer while others are read.
    ///
    /// - Parameters:
    ///   - page: The URL of the page before, which a relative reference starts from.
    ///   - delta: The remote's token of an earlier walk.
    ///   - conditions: Header fields of a conditional request.
    ///   - method: Another method than the section's.
    /// - Throws: ``BridgeError`` where the remote named what is no URL, or where a secret would leave its origin.
    func start(
        _ section: RESTSection, _ position: Position, after page: HTTPURL? = nil, delta: String? = nil,
        conditions: [(name: String, value: String)] = [], method: String? = nil
    ) throws -> HTTPExchange {
        var (request, url) = try section.request(at: position, after: page, delta: delta)
        // A word of the bridge's options is more than what follows from the body's kind.
        if client.sendsHeader("content-type"),
            !section.headers.contains(where: { $0.name.lowercased() == "content-type" })
        {
            request.headers.removeAll { $0.name.lowercased() == "content-type" }
        }
        if !client.sendsHeader("accept") { request.setDefault("Accept", section.preset?.accept ?? "application/json") }
        request.headers += conditions
        if let method { request.method = method }
        request.sendsCredentials = url.origin == origin
        if url.origin != origin { try section.checkAbroad(request, url, client.redactor) }
        request.bufferLimit = Self.readAheadBytes
        return client.start(request)
    }
}
