internal import BridgePaging
internal import BridgeHTTP
internal import BridgeKit

/// Checks with conditional requests, page by page, whether a listing is unchanged since an earlier scan.
///
/// A single changed page means reading everything again: records may have shifted across the bounds of the following
/// pages.
final class ListingCheck {
    enum Answer: Equatable {
        /// No changed page so far: call `step` again.
        case open
        case unchanged
        /// The scan has to start at the beginning; the reply with the first page may already be in flight.
        case moved
    }

    private let marks: ListingMarks
    private let requester: PageRequester
    private let first: RESTSection
    /// The section with the paging detected from the first reply of the earlier scan.
    private let later: RESTSection
    private let positions: [PagePosition]
    private let running: RunningRequests
    private var checked = 0

    /// The number of concurrent requests.
    private static let window = 8
    /// The number of pages to check before returning to the host.
    private static let stride = 64

    /// - Returns: nil if the marks do not belong to this request, so that nothing can be checked.
    init?(_ marks: ListingMarks, _ section: RESTSection, _ requester: PageRequester, _ running: RunningRequests) {
        guard section.keepsMarks, marks.url == requester.client.markedURL(section),
            let detected = try? marks.apply(to: section),
            let positions = try? marks.pages.dropFirst().map({ try Pager(detected.paging, cursor: $0.position).first })
        else { return nil }
        self.marks = marks
        self.requester = requester
        self.running = running
        first = section
        later = detected
        self.positions = [Pager.beginning(section.paging)] + positions
    }

    /// Checks some more pages.
    ///
    /// - Parameter asked: Returns a page's name, for messages.
    /// - Throws: ``BridgeError`` if a retry may help. Pages already checked are not checked again.
    func step(asked: (_ page: Int) -> String) throws -> Answer {
        let isSingle = positions.count == 1
        let conditional = isSingle ? 1 : positions.count - 1
        let stop = min(checked + Self.stride, conditional)
        while checked < stop {
            // The first page changes most often: send other requests only after its reply.
            let window = checked == 0 || requester.client.keepsOrder ? 1 : Self.window
            for index in checked..<min(checked + window, conditional) where !running.has(positions[index]) {
                try running.add(start(index), at: positions[index])
            }
            guard let exchange = running.take(positions[checked]) else {
                throw BridgeError(.cancelled, "the scan was cancelled")
            }
            try running.attach(exchange)
            let response = try exchange.response()
            guard response.status == 304 else { return try moved(exchange, response, asked(checked + 1)) }
            // Read the body to its end, so that the connection can be reused.
            _ = try exchange.paddedBody()
            running.detach()
            checked += 1
        }
        guard checked == conditional else { return .open }
        if isSingle { return marks.last == nil ? .unchanged : try checkHead(asked(1)) }
        return try checkLast(asked(positions.count))
    }

    private func moved(_ exchange: HTTPExchange, _ response: HTTPResponse, _ asked: String) throws -> Answer {
        if response.status >= 400 {
            let error = try exchange.statusError(asked: asked)
            running.drop()
            // A busy server does not indicate a change.
            if error.isRetryable { throw error }
            return .moved
        }
        running.drop()
        // The scan starts with this first page.
        if checked == 0, response.status != 304 { running.add(exchange, at: positions[0]) }
        return .moved
    }

    /// Re-reads the last page: validators do not cover header fields, which may announce a further page.
    private func checkLast(_ asked: String) throws -> Answer {
        let exchange = try requester.start(later, positions[positions.count - 1])
        try running.attach(exchange)
        let response = try exchange.response()
        guard response.status == 200 else {
            _ = try moved(exchange, response, asked)
            return .moved
        }
        let body = try exchange.paddedBody()
        running.detach()
        return LastPage(body, response, later).text == marks.last ? .unchanged : .moved
    }

    /// Requests the header fields of the only page, which a 304 may leave out (RFC 9110, section 15.4.5).
    private func checkHead(_ asked: String) throws -> Answer {
        let exchange = try requester.start(first, positions[0], method: "HEAD")
        try running.attach(exchange)
        let response = try exchange.response()
        // Some servers do not support HEAD, or fail at it: then the page itself has to decide, unless the server asks for a
        // pause.
        let asksForPause = [429, 503].contains(response.status) && response.header("retry-after") != nil
        if response.status >= 400, !asksForPause {
            running.drop()
            return .moved
        }
        guard response.status == 200 else { return try moved(exchange, response, asked) }
        _ = try exchange.paddedBody()
        running.detach()
        return marks.last.flatMap(OnlyPage.init)?.hasMore(response, later) == false ? .unchanged : .moved
    }

    private func start(_ index: Int) throws -> HTTPExchange {
        // The first request is made before any detection.
        try requester.start(
            index == 0 ? first : later, positions[index], conditions: marks.pages[index].conditions)
    }
}

extension ListingMarks {
    /// Returns the section with the paging detected from the first reply.
    fileprivate func apply(to section: RESTSection) throws -> RESTSection {
        var section = section
        if let detected { try ResumePoint(detected).apply(to: &section) }
        return section
    }
}

extension RESTSection {
    /// Whether validators can represent the listing: pages fetched by GET, each with its own position.
    var keepsMarks: Bool { isConditional && method == "GET" && incremental == nil && nextURL == nil }
}

extension HTTPClient {
    /// Returns the URL of a listing's first request without credentials, or nil if it still holds a secret.
    func markedURL(_ section: RESTSection) -> String? {
        let first = Pager.beginning(section.paging)
        guard let url = try? section.request(at: first, after: nil, delta: nil).1 else { return nil }
        let text = withoutCredentials(url).text
        return redactor.holdsSecret(url: text) ? nil : text
    }
}
