internal import BridgeHTTP
internal import BridgeKit
internal import RecordBatch
internal import Synchronization

/// A walk over an operation's records: streams each reply, and asks for the next page while it reads one.
final class SOAPSource: RecordSource {
    private static let batchRecords = 1000
    private static let batchBytes = 1 << 20
    /// A piece holds about a batch's worth of small records, so that batches don't grow far over their aim.
    private static let pieceBytes = 64 << 10

    private let call: SOAPCall
    private let plan: ReplyPlan
    private let entity: String
    private let input: InputValue
    private var walk: PageWalk
    private var reply: Reply?
    private var ahead: (position: Int, exchange: HTTPExchange)?
    private var warnings: [String]
    private var isOver = false
    private let running = Mutex(Running())

    /// What ``cancel()``, from another thread, needs.
    private struct Running {
        var isCancelled = false
        var exchanges: [ObjectIdentifier: HTTPExchange] = [:]
    }

    private struct Reply {
        let exchange: HTTPExchange
        let response: HTTPResponse
        let reader: ReplyReader
        var rest: ArraySlice<UInt8> = []
    }

    init(
        call: SOAPCall, plan: ReplyPlan, section: SOAPSection, entity: String, cursor: String?, notes: [String]
    ) throws(BridgeError) {
        self.call = call
        self.plan = plan
        self.entity = entity
        input = section.input
        warnings = notes
        walk = try PageWalk(paging: section.paging, maxPages: section.maxPages, cursor: cursor)
        // A wrong input is a fault of the config: say so before any request.
        let first = try walk.input(input, at: walk.position)
        let missing = try EnvelopeWriter.write(
            call.operation, version: call.version, input: first, schemas: call.schemas
        ).missing
        if !missing.isEmpty {
            warnings.append(
                "the input lacks what the schema requires: \(missing.prefix(10).joined(separator: ", "))")
        }
    }

    deinit { cancel() }

    func next(into writer: RecordBatchWriter) throws -> Page {
        guard !isOver else { return Page(isPageEnd: true, isEnd: true) }
        do {
            return try read(into: writer)
        } catch {
            drop()
            throw error
        }
    }

    func cancel() {
        let exchanges = running.withLock { running in
            running.isCancelled = true
            return Array(running.exchanges.values)
        }
        for exchange in exchanges { exchange.cancel() }
    }

    private func drop() {
        let exchanges = running.withLock { running in
            defer { running.exchanges = [:] }
            return Array(running.exchanges.values)
        }
        for exchange in exchanges { exchange.cancel() }
        reply = nil
        ahead = nil
    }

    private func read(into writer: RecordBatchWriter) throws -> Page {
        var reply = try self.reply ?? open()
        self.reply = nil
        while writer.recordCount < Self.batchRecords, writer.byteCount < Self.batchBytes,
            reply.reader.rejectedCount < Self.batchRecords
        {
            if reply.rest.isEmpty {
                guard let chunk = try reply.exchange.nextChunk() else { return try finish(reply) }
                reply.rest = chunk[...]
            }
            let piece = reply.rest.prefix(Self.pieceBytes)
            try located(reply) { () throws(BridgeError) in try reply.reader.feed(piece, into: writer) }
            reply.rest = reply.rest.dropFirst(piece.count)
            if let fault = reply.reader.fault { throw call.error(fault, reply.response) }
            try readAhead(reply.reader.total)
        }
        defer { self.reply = reply }
        return page(reply, PageWalk.Step(isEnd: false), isPageEnd: false)
    }

    private func finish(_ reply: Reply) throws -> Page {
        let step = try located(reply) { () throws(BridgeError) in
            try reply.reader.finish()
            if let fault = reply.reader.fault { throw call.error(fault, reply.response) }
            return try walk.endPage(
                count: reply.reader.recordCount, total: reply.reader.total, fingerprint: reply.reader.fingerprint)
        }
        forget(reply.exchange)
        isOver = step.isEnd
        if let ahead, step.isEnd || ahead.position != walk.position {
            ahead.exchange.cancel()
            forget(ahead.exchange)
            self.ahead = nil
        }
        return page(reply, step, isPageEnd: true)
    }

    private func page(_ reply: Reply, _ step: PageWalk.Step, isPageEnd: Bool) -> Page {
        defer { warnings = [] }
        return Page(
            cursor: step.cursor, isPageEnd: isPageEnd, isEnd: step.isEnd, isComplete: step.isComplete,
            total: reply.reader.total, location: reply.response.location, rejected: reply.reader.takeRejected(),
            warnings: warnings + [step.warning].compactMap(\.self))
    }

    // MARK: Requests

    private func open() throws -> Reply {
        let exchange: HTTPExchange
        if let ahead, ahead.position == walk.position {
            exchange = ahead.exchange
            self.ahead = nil
        } else {
            exchange = try start(walk.position)
        }
        let asked = walk.paging.style == .none ? entity : "\(entity), \(walk.name)"
        try call.checkHead(of: exchange, plan: plan, asked: asked)
        return Reply(exchange: exchange, response: try exchange.response(), reader: try ReplyReader(plan: plan))
    }

    /// Asks for the next page, so that the service works while this page is read.
    private func readAhead(_ total: Int64?) throws {
        guard ahead == nil, let position = walk.positionAhead(total: total) else { return }
        ahead = (position, try start(position))
    }

    private func start(_ position: Int) throws -> HTTPExchange {
        let exchange = try call.start(walk.input(input, at: position)).exchange
        let isCancelled = running.withLock { running in
            running.exchanges[ObjectIdentifier(exchange)] = exchange
            return running.isCancelled
        }
        if isCancelled {
            exchange.cancel()
            throw BridgeError(.cancelled, "reading \(entity) was cancelled")
        }
        return exchange
    }

    private func forget(_ exchange: HTTPExchange) {
        running.withLock { $0.exchanges[ObjectIdentifier(exchange)] = nil }
    }

    /// Adds to an error of the reader which page it was, how far it came, and whence.
    private func located<Result>(_ reply: Reply, _ body: () throws(BridgeError) -> Result) throws(BridgeError) -> Result
    {
        do throws(BridgeError) {
            return try body()
        } catch {
            guard error.code != .remote else { throw error }
            var error = error
            let count = reply.reader.recordCount
            error.message =
                "\(entity), \(walk.name): \(error.message)" + (count > 0 ? " (after record \(count))" : "")
            error.location = error.location ?? reply.response.location
            throw error
        }
    }
}
