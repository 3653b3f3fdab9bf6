internal import BridgeHTTP
internal import BridgeKit

/// Asks the server, page by page with conditional requests, whether a listing is what an earlier walk brought.
///
/// One page that moved is enough to read all anew: the pages after it may hold records that slipped across their bounds.
final class ListingCheck {
    enum Answer: Equatable {
        /// No page so far has moved; ask again.
        case open
        case unchanged
        /// The walk is to begin at the beginning; the first page's reply may be under way already.
        case moved
    }

    private let marks: ListingMarks
    private let requester: PageRequester
    private let first: RESTSection
    /// The section with what the first reply told at that time.
    private let later: RESTSection
    private let positions: [Position]
    private let running: RunningRequests
    private var checked = 0

    /// How many requests are under way at a time.
    private static let window = 8
    /// How many pages are asked about before the host hears something.
    private static let stride = 64

    /// - Returns: nil where the marks do not belong to this request: then nothing is to be checked.
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

    /// Asks about some pages more.
    ///
    /// - Parameter asked: What a page is called, for messages.
    /// - Throws: ``BridgeError`` where asking again may help; what was checked need not be checked again.
    func step(asked: (_ page: Int) -> String) throws -> Answer {
        let isSingle = positions.count == 1
        let conditional = isSingle ? 1 : positions.count - 1
        let stop = min(checked + Self.stride, conditional)
        while checked < stop {
            // The first page moves most often: nothing else is asked until it has answered.
            let window = checked == 0 || requester.client.keepsOrder ? 1 : Self.window
            for index in checked..<min(checked + window, conditional) where !running.has(positions[index]) {
                try running.add(start(index), at: positions[index])
            }
            guard let exchange = running.take(positions[checked]) else {
                throw BridgeError(.cancelled, "the walk was cancelled")
            }
            try running.attach(exchange)
            let response = try exchange.response()
            guard response.status == 304 else { return try moved(exchange, response, asked(checked + 1)) }
            // To its end, so that the connection is of use again.
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
            // A server that is busy has not said that anything moved.
            if error.isRetryable { throw error }
            return .moved
        }
        running.drop()
        // The first page is the one that the walk begins with.
        if checked == 0, response.status != 304 { running.add(exchange, at: positions[0]) }
        return .moved
    }

    /// Reads the last page: header fields, which may tell of a further page, are no part of what validators stand for.
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

    /// Asks for the header fields of the only page, which a 304 need not have (RFC 9110, section 15.4.5).
    private func checkHead(_ asked: String) throws -> Answer {
        let exchange = try requester.start(first, positions[0], method: "HEAD")
        try running.attach(exchange)
        let response = try exchange.response()
        // Some servers know no HEAD: then the page itself has to tell.
        guard response.status == 200 else { return try moved(exchange, response, asked) }
        _ = try exchange.paddedBody()
        running.detach()
        return marks.last.flatMap(OnlyPage.init)?.hasMore(response, later) == false ? .unchanged : .moved
    }

    private func start(_ index: Int) throws -> HTTPExchange {
        // The first request is made before its reply tells anything.
        try requester.start(
            index == 0 ? first : later, positions[index], conditions: marks.pages[index].conditions)
    }
}

extension ListingMarks {
    /// A section with what the first reply told of the paging.
    fileprivate func apply(to section: RESTSection) throws -> RESTSection {
        var section = section
        if let detected { try ResumePoint(detected).apply(to: &section) }
        return section
    }
}

extension RESTSection {
    /// Whether the listing is one that validators stand for: fetched by GET from pages that have places of their own.
    var keepsMarks: Bool { isConditional && method == "GET" && incremental == nil && nextURL == nil }
}

extension HTTPClient {
    /// The URL of a listing's first request without credentials; nil where it holds a secret all the same.
    func markedURL(_ section: RESTSection) -> String? {
        let first = Pager.beginning(section.paging)
        guard let url = try? section.request(at: first, after: nil, delta: nil).1 else { return nil }
        let text = withoutCredentials(url).text
        return redactor.holdsSecret(url: text) ? nil : text
    }
}
