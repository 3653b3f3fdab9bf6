internal import BridgeHTTP
internal import BridgeKit
internal import RecordBatch
internal import Synchronization

/// A walk over a listing, page after page, with requests for the next pages under way while one is handed out.
final class RESTSource: RecordSource {
    private let client: HTTPClient
    private let section: RESTSection
    private let origin: HTTPURL.Origin
    private let reader: PageReader
    private var pager: Pager
    private var position: Position
    private var pageNumber = 1
    private var pageURL: HTTPURL?
    private var current: OpenPage?
    private var isOver = false
    private let running: RunningRequests

    /// How many requests run ahead where the number of pages is known.
    private static let lookahead = 4
    /// How much of a page is read ahead before somebody asks for it.
    private static let readAheadBytes = 8 << 20

    /// A page of which some records may be out already.
    private struct OpenPage {
        let response: HTTPResponse
        var digest = BatchDigest()
    }

    init(client: HTTPClient, section: RESTSection, origin: HTTPURL.Origin, cursor: String?) throws {
        self.client = client
        self.section = section
        self.origin = origin
        reader = try PageReader(section)
        pager = try Pager(section.paging, cursor: cursor)
        position = pager.first
        running = RunningRequests()
    }

    deinit { running.cancel() }

    func cancel() { running.cancel() }

    func next(into writer: RecordBatchWriter) throws -> Page {
        guard !isOver else { return Page(isPageEnd: true, isEnd: true, isComplete: pager.isComplete) }
        do {
            guard try current != nil || open() else { return finished(location: nil) }
            return try read(into: writer)
        } catch {
            // The host may ask again: then the page begins anew.
            current = nil
            reader.end()
            running.drop()
            throw error
        }
    }

    private var asked: String { "page \(pageNumber) of \(section.entity)" }

    /// Waits for the page at the position; false where it turns out that there is none.
    private func open() throws -> Bool {
        let exchange = try running.take(position) ?? start(position)
        try running.attach(exchange)
        let response = try exchange.response()
        guard (200..<300).contains(response.status) else {
            if pager.isConfirming, [400, 404, 416].contains(response.status) {
                exchange.cancel()
                _ = pager.confirmEnd()
                return false
            }
            throw try exchange.statusError(asked: asked)
        }
        // What follows can be asked for before this page is even here.
        for ahead in pager.ahead(of: position, limit: Self.lookahead) where !running.has(ahead) {
            try running.add(start(ahead), at: ahead)
        }
        pageURL = HTTPURL(response.url)
        let body = try exchange.paddedBody()
        running.detach()
        current = OpenPage(response: response)
        if response.status == 204 { return true }
        try reader.begin(body, response, asked: asked)
        return true
    }

    private func start(_ position: Position) throws -> HTTPExchange {
        let url = try section.url(at: position, after: pageURL)
        var request = HTTPRequest(method: section.method, url: url.text, headers: section.headers)
        if !client.sendsHeader("accept"), !section.headers.contains(where: { $0.name.lowercased() == "accept" }) {
            request.headers.append((name: "Accept", value: "application/json"))
        }
        request.sendsCredentials = url.origin == origin
        request.bufferLimit = Self.readAheadBytes
        return client.start(request)
    }

    private func read(into writer: RecordBatchWriter) throws -> Page {
        guard var open = current else { return finished(location: nil) }
        var facts = PageFacts()
        var rejected: [Page.Rejected] = []
        if open.response.status != 204 {
            let (hasMore, bad) = try reader.read(into: writer)
            open.digest.add(writer)
            rejected = bad
            if hasMore {
                current = open
                return Page(
                    isPageEnd: false, isEnd: false, location: open.response.location, rejected: rejected)
            }
            facts = reader.facts()
        }
        facts.digest = open.digest.value
        reader.end()
        current = nil
        let step = try located(open.response) { try pager.after(position, facts) }
        var page = Page(
            isPageEnd: true, isEnd: step == .end, total: facts.total.map(Int64.init),
            location: open.response.location, rejected: rejected)
        if case .go(let next) = step {
            if !running.has(next) {
                // A wrong guess, or the reply named it: ask before the records are handed out.
                running.drop()
                running.add(try located(open.response) { try start(next) }, at: next)
            }
            position = next
            pageNumber += 1
            page.cursor = cursor(next)
        } else {
            isOver = true
            running.drop()
            page.isComplete = pager.isComplete
            page.warnings = pager.warnings
        }
        return page
    }

    private func finished(location: String?) -> Page {
        isOver = true
        running.drop()
        return Page(
            isPageEnd: true, isEnd: true, isComplete: pager.isComplete, location: location, warnings: pager.warnings)
    }

    /// Adds the page to errors of the walk.
    private func located<Result>(_ response: HTTPResponse, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch var error as BridgeError {
            error.message = "\(asked): \(error.message)"
            error.location = error.location ?? response.location
            throw error
        }
    }

    /// The resume point, if it can be stored: it must hold no secret, and a URL must be absolute.
    private func cursor(_ next: Position) -> String? {
        var next = next
        if case .url(let text) = next {
            guard let url = HTTPURL(text, relativeTo: pageURL ?? section.url) else { return nil }
            next = .url(client.withoutCredentials(url).text)
        }
        return client.redactor.holdsSecret(url: next.text) ? nil : next.text
    }
}
