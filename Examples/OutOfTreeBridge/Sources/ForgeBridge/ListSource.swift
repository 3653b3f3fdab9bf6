import BridgeHTTP
import BridgeJSON
import BridgeKit
import BridgePaging
import Synchronization

/// A scan over a list: one request is one page.
final class ListSource: RecordSource {
    /// The request that runs, for `cancel()`, which comes from another thread.
    private struct Running {
        var exchange: HTTPExchange?
        var isCancelled = false
    }

    private let client: HTTPClient
    private let start: HTTPURL
    private let entity: String
    private let rule: PagingRule
    private let reader: JSONRecordReader
    private var pager: Pager
    private var position: PagePosition
    private let running = Mutex(Running())

    init(_ client: HTTPClient, _ start: HTTPURL, _ request: FetchRequest) throws {
        self.client = client
        self.start = start
        entity = request.entity
        // What a user of the REST bridge writes under `paging`. No forge gives more than 50 at a time.
        rule = try PagingRule(
            BridgeOptions {
                $0.member("style", "page")
                $0.member("size_parameter", "limit")
                $0.member("total", "X-Total-Count")
            }, pageSize: min(request.pageSize ?? 50, 50))
        pager = try Pager(rule, cursor: request.cursor)
        position = pager.first
        reader = try JSONRecordReader()
        try reader.addPath(.root)
    }

    func next(into writer: RecordBatchWriter) throws -> Page {
        var url = start
        for (place, value) in rule.parameters(at: position) {
            guard case .query(let name) = place else {
                throw BridgeError(.unsupported, "a forge pages in the query alone")
            }
            url = url.setting(query: [(name, value.plainText ?? "")])
        }
        let exchange = client.start(HTTPRequest(url: url.text))
        let isCancelled = running.withLock { running in
            running.exchange = exchange
            return running.isCancelled
        }
        if isCancelled { exchange.cancel() }
        let response = try exchange.response()
        guard response.status == 200 else { throw try exchange.statusError(asked: "\(entity), \(position.text)") }
        let body = try exchange.paddedBody()
        let rejected = try read(body, into: writer, response)

        var facts = PageFacts()
        facts.count = reader.recordCount
        facts.total = response.header("x-total-count").flatMap { Int($0) }
        let step = try pager.after(position, facts)
        var page = Page(
            isPageEnd: true, isEnd: step == .end, isComplete: pager.isComplete, total: facts.total.map { Int64($0) },
            location: response.location, rejected: rejected, warnings: step == .end ? pager.warnings : [])
        page.isPositional = pager.isPositional
        if case .go(let next) = step {
            position = next
            page.cursor = next.text
        }
        return page
    }

    /// Writes the records of a reply, and returns those that do not fit into a batch.
    private func read(
        _ body: HTTPExchange.PaddedBody, into writer: RecordBatchWriter, _ response: HTTPResponse
    ) throws -> [Page.Rejected] {
        var rejected: [Page.Rejected] = []
        var status = reader.begin(body.bytes, count: body.count) ? JSONRecordReader.Status.more : .failed
        while status == .more {
            status = reader.next(into: writer)
            rejected += reader.rejected.map { record in
                Page.Rejected(
                    index: record.index, reason: record.reason,
                    representation: client.redactor.clean(reader.excerpt(of: record, bytes: 1000)))
            }
        }
        guard status == .done else {
            throw BridgeError(
                .malformed, "the reply is no list of \(entity): \(reader.failure.message)", location: response.location)
        }
        return rejected
    }

    func cancel() {
        let exchange = running.withLock { running in
            running.isCancelled = true
            return running.exchange
        }
        exchange?.cancel()
    }
}
