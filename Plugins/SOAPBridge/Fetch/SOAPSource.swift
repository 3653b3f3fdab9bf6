internal import BridgeHTTP
internal import BridgeKit
internal import RecordBatch
internal import SystemCalls

/// A scan of an operation's records: streams each reply, and requests the next page while it reads one.
final class SOAPSource: RecordSource {
    private static let batchRecords = 1000
    private static let batchBytes = 512 << 10
    /// A piece holds about a batch of small records, so batches exceed their target only slightly.
    private static let pieceBytes = 64 << 10

    /// An operation and the plan to read its replies.
    struct Step {
        let call: SOAPCall
        let plan: ReplyPlan
    }

    private let first: Step
    /// The operation of further pages, if it differs.
    private let further: Step?
    private let entity: String
    let input: InputValue
    /// Whether records are read to be sent back.
    private let isExact: Bool
    private(set) var scan: PageScan
    private var reply: Reply?
    private var ahead: (position: Int, exchange: HTTPExchange)?
    /// Warnings to report with the next page.
    var warnings: [String]
    private var deviations = ToleratedDeviations()
    private var isOver = false
    /// Whether a reply said that it failed.
    private var hasFailed = false
    /// Whether a reply had something else than records, or nothing, where the records should be.
    private var mayLackRecords = false
    private let running = Mutex(Running())

    /// The state that ``cancel()`` needs, which runs on another thread.
    private struct Running {
        var isCancelled = false
        var exchanges: [ObjectIdentifier: HTTPExchange] = [:]
    }

    private struct Reply {
        let step: Step
        let exchange: HTTPExchange
        let response: HTTPResponse
        let reader: ReplyReader
        var pieces: EvenPieces
        /// Whether all bytes are parsed, and only pending records remain to be written.
        var isRead = false
    }

    init(
        first: Step, further: Step?, section: SOAPSection, input: InputValue, entity: String, cursor: String?,
        notes: [String], isExact: Bool = false
    ) throws(BridgeError) {
        self.first = first
        self.further = further
        self.entity = entity
        self.input = input
        self.isExact = isExact
        warnings = notes
        scan = try PageScan(paging: section.paging, maxPages: section.maxPages, cursor: cursor)
        // An invalid input is a configuration error: report it before any request.
        let missing = try step.call.envelope(scan.input(input, at: scan.position)).missing
        if !missing.isEmpty {
            warnings.append(
                "the input lacks what the schema requires: \(missing.prefix(10).joined(separator: ", "))")
        }
    }

    deinit { cancel() }

    private var step: Step { scan.isFurther ? further ?? first : first }

    /// Returns the request of the first page, for `bmo plan`.
    func explain() throws -> String {
        String(decoding: try step.call.envelope(scan.input(input, at: scan.position)).bytes, as: UTF8.self)
    }

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
        var reply: Reply
        do {
            reply = try self.reply ?? open()
        } catch let fault as SOAPCall.FaultReply {
            return try end(at: fault, location: fault.error.location)
        }
        self.reply = nil
        while writer.recordCount < Self.batchRecords, writer.byteCount < Self.batchBytes,
            reply.reader.rejectedCount < Self.batchRecords
        {
            if reply.isRead {
                guard reply.reader.hasPending else { return try finish(reply) }
                try located(reply) { () throws(BridgeError) in
                    try reply.reader.drain(into: writer, limit: Self.batchRecords, bytes: Self.batchBytes)
                }
                continue
            }
            guard let piece = try reply.pieces.next() else {
                try located(reply) { () throws(BridgeError) in try reply.reader.finish() }
                reply.isRead = true
                continue
            }
            try located(reply) { () throws(BridgeError) in try reply.reader.feed(piece, into: writer) }
            if let fault = reply.reader.fault {
                return try end(at: reply.step.call.reply(fault, reply.response), location: reply.response.location)
            }
            try readAhead(reply.reader.total)
        }
        defer { self.reply = reply }
        return page(reply, PageScan.Step(isEnd: false), isPageEnd: false)
    }

    private func finish(_ reply: Reply) throws -> Page {
        let reader = reply.reader
        let isFurther = scan.isFurther
        var step = try located(reply) { () throws(BridgeError) in
            try scan.endPage(
                PageScan.Outcome(
                    count: reader.recordCount, others: reader.otherCount, total: reader.total,
                    fingerprint: reader.fingerprint,
                    token: reader.captured(.token), hasMore: reader.hasMore))
        }
        forget(reply.exchange)
        deviations.merge(reader.deviations)
        if reader.recordCount == 0, let unexpectedElement = reader.unexpectedElement {
            warnings.append(
                "where \"records\" leads, the reply has <\(unexpectedElement)>, which is not in the schema, and no record: check records"
            )
            mayLackRecords = true
        }
        if !mayLackRecords, let warning = strayWarning(reader) {
            warnings.append(warning)
            mayLackRecords = true
        }
        let sign = reader.failureSign ?? (scan.paging.isDeclaredWhole ? nil : reader.notedFailure)
        if let sign {
            if !hasFailed {
                warnings.append(
                    "the reply says that it failed (\(clean(sign, reply))), so records may be missing and nothing counts as "
                        + "deleted: if that is not a failure, \(scan.paging.remedyForEmpty)")
            }
            hasFailed = true
        } else if let warning = missingListWarning(reader, isFurther: isFurther) {
            warnings.append(clean(warning.text, reply))
            if warning.isGrave { mayLackRecords = true }
        }
        if step.isComplete, !hasFailed, !mayLackRecords, let warning = openEndWarning(reader) {
            warnings.append(clean(warning, reply))
            mayLackRecords = true
        }
        if hasFailed || mayLackRecords { step.isComplete = false }
        isOver = step.isEnd
        if step.isEnd, let sentence = deviations.sentence { warnings.append(sentence) }
        if let ahead, step.isEnd || ahead.position != scan.position {
            ahead.exchange.cancel()
            forget(ahead.exchange)
            self.ahead = nil
        }
        return page(reply, step, isPageEnd: true)
    }

    private func clean(_ text: String, _ reply: Reply) -> String { reply.step.call.client.redactor.clean(text) }

    /// Ends the scan successfully at a fault if the config says so, or if the page may be past the last one.
    private func end(at reply: SOAPCall.FaultReply, location: String?) throws -> Page {
        let isAccepted = reply.action == .empty || reply.action == .ignore
        guard isAccepted || scan.isCheck && !reply.error.isRetryable else { throw reply.error }
        let warning =
            isAccepted ? "ended at a fault, as the option faults says: \(reply.fault.words)" : checkFault(reply)
        var step = scan.endAtFault(isEmpty: reply.action == .empty)
        if hasFailed || mayLackRecords { step.isComplete = false }
        drop()
        isOver = true
        defer { warnings = [] }
        if let sentence = deviations.sentence { warnings.append(sentence) }
        var page = Page(
            isPageEnd: true, isEnd: true, isComplete: step.isComplete, location: location,
            warnings: warnings + (step.isComplete ? [] : [warning]))
        page.isPositional = step.isComplete && scan.isPositional
        return page
    }

    /// Returns the warning about a fault instead of the page after a first one that may be all.
    private func checkFault(_ reply: SOAPCall.FaultReply) -> String {
        let words = step.call.client.redactor.clean(reply.fault.words)
        return "\(scan.name) is a fault (\(words)), and the first page may be all or as many records as the service "
            + "returns at once, so the listing is not complete: if the fault says that there are none left, add a rule to faults "
            + "with the action empty, or name paging.total, more or done"
    }

    private func page(_ reply: Reply, _ step: PageScan.Step, isPageEnd: Bool) -> Page {
        defer { warnings = [] }
        var page = Page(
            cursor: step.cursor, isPageEnd: isPageEnd, isEnd: step.isEnd, isComplete: step.isComplete,
            total: scan.paging.isOpen ? nil : reply.reader.total, location: reply.response.location,
            rejected: reply.reader.takeRejected(),
            warnings: warnings + [step.warning].compactMap(\.self))
        page.isPositional = step.isComplete && scan.isPositional
        return page
    }

    // MARK: Requests

    private func open() throws -> Reply {
        let exchange: HTTPExchange
        if let ahead, ahead.position == scan.position {
            exchange = ahead.exchange
            self.ahead = nil
        } else {
            exchange = try start(scan.position)
        }
        let asked = scan.paging.style == .none ? entity : "\(entity), \(scan.name)"
        let prefix = try step.call.checkHead(of: exchange, plan: step.plan, asked: asked)
        let response = try exchange.response()
        let type = prefix == nil ? response.header("content-type") : nil
        let reader: ReplyReader
        do {
            reader = try ReplyReader(
                plan: step.plan, contentType: type, recordBytes: step.call.client.maxRecordBytes, isExact: isExact)
        } catch {
            var error = error
            error.location = error.location ?? response.location
            throw error
        }
        if prefix != nil { reader.tolerate(.mediaType, response.mediaType ?? "") }
        return Reply(
            step: step, exchange: exchange, response: response, reader: reader,
            pieces: EvenPieces(of: exchange, after: prefix ?? [], size: Self.pieceBytes))
    }

    /// Requests the next page, so that the service works while this page is read.
    private func readAhead(_ total: Int64?) throws {
        guard ahead == nil, !step.call.client.keepsOrder, let position = scan.positionAhead(total: total) else {
            return
        }
        ahead = (position, try start(position))
    }

    private func start(_ position: Int) throws -> HTTPExchange {
        let exchange = try step.call.start(scan.input(input, at: position)).exchange
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

    /// Adds the page, the number of records and the location to an error of the reader.
    private func located<Result>(_ reply: Reply, _ body: () throws(BridgeError) -> Result) throws(BridgeError) -> Result
    {
        do throws(BridgeError) {
            return try body()
        } catch {
            guard error.code != .remote else { throw error }
            var error = error
            let count = reply.reader.recordCount
            error.message =
                "\(entity), \(scan.name): \(error.message)" + (count > 0 ? " (after record \(count))" : "")
            error.location = error.location ?? reply.response.location
            throw error
        }
    }
}

extension ReplyReader {
    /// Whether the reply reports more records; nil if it does not say.
    var hasMore: Bool? {
        ReplyMachine.isMore(captured(.more)) ?? AllClear.flag(captured(.done)).map { !$0 }
    }
}
