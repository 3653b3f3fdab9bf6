import BridgeHTTP
import BridgeJSON
import BridgeKit
import BridgePaging
import Synchronization

/// Brings the listings of a JSON API over HTTP, of bmo's own parts: authentication, limits and redaction come with `HTTPOptions`,
/// every style of paging with `PagingRule`.
final class ListingBridge: Bridge {
    static let descriptor = BridgeDescriptor(
        name: "pages", version: "1.0", summary: "Listings of a JSON API", optionsSchema: "", entitySchema: "",
        capabilities: [.fetch, .resume])

    private let client: HTTPClient
    private let url: HTTPURL

    init(options: BridgeOptions, context: BridgeContext) throws {
        guard let url = options.string("url").flatMap({ HTTPURL($0) }) else {
            throw BridgeError(.configuration, "url is missing", remedy: "say where the API is")
        }
        self.url = url
        client = try HTTPClient(options: try HTTPOptions(options), context: context)
    }

    func fetch(_ request: FetchRequest) throws -> any RecordSource {
        let template = try PathTemplate(request.section.string("path") ?? "/{entity}", option: "path")
        guard let path = try template.expand({ $0 == "entity" ? request.entity : nil }),
            let start = url.appending(path: path)
        else { throw BridgeError(.configuration, "path: a variable has no value") }
        let rule = try request.section.object("paging").map { try PagingRule($0, pageSize: request.pageSize) }
        return try Listing(client, start, rule ?? .single, cursor: request.cursor)
    }
}

/// One page is one reply.
private final class Listing: RecordSource {
    private let client: HTTPClient
    private let start: HTTPURL
    private let rule: PagingRule
    private let reader: JSONRecordReader
    private var places: [(place: ReplyPlace, path: UInt32)] = []
    private var pager: Pager
    private var position: PagePosition
    /// The request that runs, for `cancel()`, which comes from another thread.
    private let running = Mutex<(exchange: HTTPExchange?, isCancelled: Bool)>((nil, false))

    init(_ client: HTTPClient, _ start: HTTPURL, _ rule: PagingRule, cursor: String?) throws {
        self.client = client
        self.start = start
        self.rule = rule
        let reader = try JSONRecordReader()
        try reader.addPath(JSONPath(names: ["items"]))
        self.reader = reader
        places = try [rule.next, rule.total].compactMap { $0 }.compactMap { place in
            try place.path.map { (place, try reader.addPath($0)) }
        }
        pager = try Pager(rule, cursor: cursor)
        position = pager.first
    }

    func next(into writer: RecordBatchWriter) throws -> Page {
        let url = try url(of: position)
        let exchange = client.start(HTTPRequest(url: url.text))
        let isCancelled = running.withLock { running in
            running.exchange = exchange
            return running.isCancelled
        }
        if isCancelled { exchange.cancel() }
        guard try exchange.response().status == 200 else { throw try exchange.statusError(asked: "GET \(url.text)") }
        let body = try exchange.paddedBody()
        guard reader.begin(body.bytes, count: body.count), reader.next(into: writer) == .done else {
            throw BridgeError(.malformed, "the reply is no listing: \(reader.failure.message)", location: url.text)
        }
        var facts = PageFacts()
        facts.count = reader.recordCount
        if let next = value(rule.next) { facts.next = next.text.isEmpty ? .none : .value(next.text) }
        facts.total = value(rule.total).flatMap { Int($0.text) }
        let step = try pager.after(position, facts)
        var page = Page(isPageEnd: true, isEnd: step == .end, isComplete: pager.isComplete, location: url.text)
        if case .go(let next) = step {
            position = next
            page.cursor = next.text
        }
        page.warnings = pager.warnings
        return page
    }

    private func value(_ place: ReplyPlace?) -> JSONRecordReader.Value? {
        places.first { $0.place == place }.map { reader.value(at: $0.path) }.flatMap { $0.kind == .missing ? nil : $0 }
    }

    private func url(of position: PagePosition) throws -> HTTPURL {
        if case .url(let text) = position {
            if let url = HTTPURL(text, relativeTo: start) { return url }
            throw BridgeError(.malformed, "the reply names a next page that is no URL")
        }
        return try rule.parameters(at: position).reduce(start) { url, parameter in
            guard case .query(let name) = parameter.place else {
                throw BridgeError(.unsupported, "this bridge pages in the query alone")
            }
            return url.setting(query: [(name, parameter.value.plainText ?? "")])
        }
    }

    func cancel() {
        let exchange = running.withLock { running in
            running.isCancelled = true
            return running.exchange
        }
        exchange?.cancel()
    }
}
