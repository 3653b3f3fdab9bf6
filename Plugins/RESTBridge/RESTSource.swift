internal import BridgePaging
internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import RecordBatch
internal import SystemCalls

/// A scan over a listing, page by page, that requests the next pages while one is processed.
final class RESTSource: ListingSource {
    let client: HTTPClient
    var section: RESTSection
    private let requester: PageRequester
    let log: BridgeContext
    private var reader: PageReader?
    var pager: Pager
    var position: PagePosition
    var pageNumber = 1
    var pageURL: HTTPURL?
    var requestURL: HTTPURL?
    private var current: OpenPage?
    private var isOver = false
    let running: RunningRequests
    private var token: ScanToken?
    /// Why the scan is one of everything although the host passed a token; nil if it is not.
    private var expiry: String?
    /// The check whether the listing changed since an earlier scan, or nil once that is known.
    private var check: ListingCheck?
    private var marks: ListingMarks.Collector
    /// The URL to which the marks belong, or nil if it holds a secret.
    private let markedURL: String?
    /// Whether the paging comes from the first reply instead of the section.
    private let wasAutomatic: Bool
    /// The position of the page being read, as it can be stored.
    private var place: PagePosition?
    /// The delta token or link for the next scan.
    private var newDelta: String?
    var detection: Detection?
    var note: String?
    /// The trial of a guessed cursor parameter, which the second page's reply has to confirm.
    var trial: CursorTrial?
    /// The detection from the first reply, until a page has reported it.
    var found: String?
    let began: ContinuousClock.Instant
    /// The reason why a page of lines may be truncated without a sign, or nil if each page marked its end.
    var openEnd: String?
    /// Where the first page with records has the numbers of the page itself.
    var pageNumbers: [String]?
    /// Whether a rule has already renewed the credentials, which it may do once per scan.
    private var hasRenewed = false

    /// The number of requests sent ahead if the positions of the following pages are known.
    ///
    /// A scan of the newest first ends behind one of its first pages, so that most of those would be in vain.
    private let lookahead: Int

    /// The detection from the first reply, to be stored with the cursor.
    struct Detection {
        var paging: DetectedPaging
        var records: String?
    }

    /// A page whose records may already be partly returned.
    private struct OpenPage {
        enum Content {
            case records
            case lines(LineReader)
            case rows(TableReader)
            case nothing
        }

        let response: HTTPResponse
        let content: Content
        /// The facts of a page without records.
        var facts = PageFacts()
        /// Whether this is the last page, regardless of the paging.
        var isLast = false
        /// Whether a rule of the section says what the reply means.
        var isAccepted = false
        /// Whether that rule accepts a reply without a place for records.
        var mayLackRecords = false
        /// Whether a rule of the section says that there are no records.
        var isToldEmpty = false
        var digest = PageDigest()

        /// Whether a reply that was read while it arrived shows by itself where it ends.
        var endsItself: Bool { if case .rows(let rows) = content { rows.endsItself } else { false } }

        /// The number of records so far that were read while they arrived.
        var streamedCount: Int {
            switch content {
            case .lines(let lines): lines.count
            case .rows(let rows): rows.count
            case .records, .nothing: 0
            }
        }
    }

    init(
        client: HTTPClient, section: RESTSection, origin: HTTPURL.Origin, request: FetchRequest, log: BridgeContext,
        began: ContinuousClock.Instant
    ) throws {
        self.client = client
        self.began = began
        self.section = section
        requester = PageRequester(client: client, origin: origin)
        lookahead = client.keepsOrder ? 0 : request.newestFirst ? 1 : 8
        self.log = log
        running = RunningRequests()
        token = request.token.flatMap(ScanToken.init)
        let point = request.cursor.map(ResumePoint.init)
        try point?.apply(to: &self.section)
        if let known = point?.detected {
            detection = Detection(paging: DetectedPaging(members: known.members), records: known.records)
        }
        marks = ListingMarks.Collector(isPossible: point == nil && section.keepsMarks)
        markedURL = section.keepsMarks ? client.markedURL(section) : nil
        if case .automatic = section.paging.style { wasAutomatic = true } else { wasAutomatic = false }
        if point == nil, let earlier = token?.marks { check = ListingCheck(earlier, section, requester, running) }
        pageNumber = point?.page ?? 1
        pager = try Pager(self.section.paging, cursor: point?.position, isDetected: point?.detected != nil)
        position = pager.first
        place = position
    }

    deinit { running.cancel() }

    func cancel() { running.cancel() }

    func next(into writer: RecordBatchWriter) throws -> Page {
        guard !isOver else {
            var page = Page(isPageEnd: true, isEnd: true, isComplete: isComplete)
            page.isPositional = isComplete && pager.isPositional
            return page
        }
        do {
            if let answer = try checkListing() { return answer }
            if current == nil, let end = try open() { return end }
            return try read(into: writer)
        } catch {
            // The host may retry: then the page starts again.
            current = nil
            reader?.end()
            running.drop()
            // The request was cut off at the end of the scan's time.
            if (error as? BridgeError)?.code == .timeout { try checkTime() }
            throw error
        }
    }

    var asked: String { "page \(pageNumber) of \(section.entity)" }
    var isDelta: Bool { delta != nil }
    /// Whether a record may be only a part of its object.
    ///
    /// A delta contains the changed values, and MediaWiki's `continue` splits one object across several replies.
    private var bringsParts: Bool {
        if case .members = section.paging.style { return true }
        return isDelta
    }
    /// The remote's token from an earlier scan.
    private var delta: String? { section.incremental == nil ? nil : token?.delta }
    /// Whether no reply is known to lack records.
    private var repliesAreWhole: Bool { openEnd == nil && leftOut == nil }
    /// Whether the requests are for all objects, and no reply lacks any.
    private var bringsAll: Bool { !section.isPartial && !isDelta && repliesAreWhole }
    private var isComplete: Bool { pager.isComplete && bringsAll }

    private var warnings: [String] {
        [expiry].compactMap(\.self) + pager.warnings + (reader?.warnings ?? []) + [openEnd, leftOut].compactMap(\.self)
    }
    /// What passes although records may be left out: a page that a rule of the section ignores, or a failure beside the
    /// records of a reply.
    var leftOut: String?

    // MARK: Checking for Changes

    /// Returns a page for the host while the listing is checked for changes, or nil if it has to be read.
    private func checkListing() throws -> Page? {
        guard let check else { return nil }
        try checkTime()
        switch try check.step(asked: { "page \($0) of \(section.entity)" }) {
        case .open: return Page(isPageEnd: false, isEnd: false)
        case .moved:
            self.check = nil
            return nil
        case .unchanged:
            var page = finished(location: markedURL)
            page.isUnchanged = true
            page.isComplete = false
            page.token = token?.text
            return page
        }
    }

    // MARK: Opening a Page

    /// Waits for the page at the position.
    ///
    /// Returns a final page if there is nothing to read.
    private func open() throws -> Page? {
        try checkTime()
        let exchange = try located(nil) { try running.take(position) ?? start(position) }
        try running.attach(exchange)
        let response = try exchange.response()
        guard let proof = try proof(exchange, response) else { return try take(exchange, response, nil) }
        guard let trial, trial.validate(response.status < 300 ? proof : nil) == .tryNext else {
            self.trial = nil
            return try take(exchange, response, proof)
        }
        try tryNext(trial)
        return try open()
    }

    /// - Parameter body: The reply's body, if it was already read.
    private func take(
        _ exchange: HTTPExchange, _ response: HTTPResponse, _ body: HTTPExchange.PaddedBody?
    ) throws -> Page? {
        if isDelta, pageNumber == 1, !section.responses.contains(where: { $0.covers(response.status) }),
            try ExpiredToken.isMeant(by: response, exchange, asked: asked)
        {
            try startOver(response)
            return try open()
        }
        let validate = ReplyClassifier(section: section, asked: asked, isConfirming: pager.isConfirming)
        let verdict = try validate.verdict(exchange, response) { [client] in
            guard !hasRenewed, try client.renewCredentials() else { return false }
            hasRenewed = true
            return true
        }
        switch verdict {
        case .renewed:
            running.drop()
            return try open()
        case .end:
            if pager.isConfirming { _ = pager.confirmEnd() }
            var page = finished(location: response.location)
            page.pushed = section.pushed
            if section.isBounded { page.skipped = [.everything] }
            if pager.isComplete, repliesAreWhole { page.token = tokenText(marks: nil) }
            return page
        case .empty:
            running.detach()
            current = OpenPage(response: response, content: .nothing, isLast: true, isAccepted: true, isToldEmpty: true)
        case .ignored(let read, let byBody):
            running.detach()
            let facts = try factsOfIgnored(response, read ?? body)
            noteIgnored(response, byBody: byBody)
            current = OpenPage(
                response: response, content: .nothing, facts: facts, isAccepted: true,
                isToldEmpty: [404, 410].contains(response.status))
        case .good(let early, let isAccepted, let mayLack):
            try begin(exchange, response, early ?? body, isAccepted: isAccepted)
            current?.mayLackRecords = mayLack
        }
        return nil
    }

    /// Begins a scan of everything, because the remote does not know the token any more.
    private func startOver(_ response: HTTPResponse) throws {
        expiry =
            "the remote does not know the token of the last sync any more (it answers \(response.status)): everything was requested"
        token = nil
        running.drop()
        (pageURL, requestURL) = (nil, nil)
        pager = try Pager(section.paging, cursor: nil)
        position = pager.first
        place = position
    }

    private func begin(
        _ exchange: HTTPExchange, _ response: HTTPResponse, _ early: HTTPExchange.PaddedBody?, isAccepted: Bool
    ) throws {
        // The following pages can be requested before this one arrives.
        for ahead in pager.ahead(of: position, limit: lookahead)
        where !running.has(ahead) {
            try running.add(start(ahead), at: ahead)
        }
        pageURL = HTTPURL(response.url)
        if response.status == 204 {
            running.detach()
            let facts = try factsOfNoContent(response)
            let isLast = pageNumber == 1 && section.paging.needsNext && !facts.saysMore
            current = OpenPage(response: response, content: .nothing, facts: facts, isLast: isLast)
            return
        }
        let isLines =
            section.format == .ndjson || (section.format == .automatic && LineReader.isSpoken(response.mediaType))
        let table = try section.table ?? (isLines && early == nil ? packedLines(exchange) : nil)
        if isLines, early == nil, table == nil {
            if case .automatic = section.paging.style { try detect(nil, response, nil) }
            if section.paging.isSingle, !section.paging.isWhole { lookForMore(nil, response) }
            let lines = try LineReader(exchange, fields: section.recordFields(response), limits: limits)
            current = OpenPage(response: response, content: .lines(lines), isAccepted: isAccepted)
            return
        }
        if let table {
            if case .automatic = section.paging.style { try detect(nil, response, nil) }
            if section.paging.isSingle, !section.paging.isWhole { lookForMore(nil, response) }
            let rows = try rows(of: early.map { ReplyFile($0) } ?? ReplyFile(exchange, response), response, table)
            current = OpenPage(response: response, content: .rows(rows), isAccepted: isAccepted)
            return
        }
        let body = try early ?? exchange.paddedBody()
        running.detach()
        if section.preset == .graphQL {
            do {
                try GraphQLErrors.check(body, asked: asked, response: response)
            } catch let error as BridgeError where isAccepted {
                // Missing data does not mean deleted data.
                leftOut =
                    "\(error.message)\(error.remote.map { ": \($0)" } ?? ""); responses accepts it, and nothing counts as deleted"
            }
        }
        if reader == nil {
            try prepare(body, response, isAccepted: isAccepted)
            reader = try PageReader(section, limits: limits)
        }
        current = OpenPage(response: response, content: .records, isAccepted: isAccepted)
        try reader?.begin(body, response, asked: asked)
    }

    // MARK: Requests

    func start(_ position: PagePosition) throws -> HTTPExchange {
        let asked = try section.request(at: position, after: pageURL, delta: delta)
        if requestURL == nil { requestURL = asked.url }
        return try requester.send(asked, of: section, remaining: remainingTime)
    }

    // MARK: Reading a Page

    private func read(into writer: RecordBatchWriter) throws -> Page {
        writer.limit(bytes: limits.batchMemory)
        guard var open = current else { return finished(location: nil) }
        var facts = PageFacts()
        var rejected: [Page.Rejected] = []
        var page = Page(isPageEnd: true, isEnd: false, location: open.response.location)
        page.isPartial = bringsParts
        if case .nothing = open.content {
            facts = open.facts
        } else {
            let hasMore: Bool
            if case .lines(let lines) = open.content {
                (hasMore, rejected) = try lines.read(into: writer, asked: asked, location: open.response.location)
            } else if case .rows(let rows) = open.content {
                (hasMore, rejected) = try rows.read(into: writer)
            } else {
                guard let reader else { throw BridgeError(.internal, "a page without a reader") }
                (hasMore, rejected) = try reader.read(
                    into: writer, isAccepted: open.isAccepted, mayLack: open.mayLackRecords)
            }
            open.digest.add(writer)
            // Pages without a record that the filter selects differ in those that it leaves out.
            if case .records = open.content, !hasMore, let reader, reader.isFiltered { open.digest.add(reader.body) }
            if hasMore {
                current = open
                page = Page(
                    isPageEnd: false, isEnd: false, location: open.response.location, rejected: rejected)
                page.isPartial = bringsParts
                if case .records = open.content { page.deleted = reader?.tombstones() ?? [] }
                return page
            }
            if case .records = open.content, let reader {
                facts = reader.facts()
                if !open.isAccepted { noteSigns(reader, facts) }
                if reader.lacksRecords { noteLack(open.response) }
                page.deleted = try reader.tombstones() + reader.listedDeletions()
                keep(reader.said, in: &page)
            } else {
                running.detach()
                if !open.endsItself { noteEnd(of: open.response) }
                let said = ReplyFacts(section, open.response)
                facts = said.paging()
                facts.count = open.streamedCount
                keep(said, in: &page)
            }
        }
        facts.digest = open.digest.value
        marks.add(place, open.response)
        page.rejected = rejected
        page.total = facts.total.map(Int64.init)
        if pageNumber == 1, let note { page.metadata["paging"] = note }
        let step = open.isLast ? .end : try located(open.response) { try pager.after(position, facts) }
        if !open.isAccepted, case .rows(let rows) = open.content { noteTable(rows, open.response) }
        if !open.isAccepted { noteStatus(of: open.response, facts, isEnd: step == .end) }
        if !open.isAccepted, page.total == nil { noteNumbers(open.response, reader, facts) }
        // A detection on trial is reported once it is confirmed.
        if let found, trial == nil || step == .end {
            page.metadata["found"] = found
            self.found = nil
        }
        if case .go(let next) = step {
            let stored = storable(next)
            try go(to: next, open.response)
            place = stored
            // A scan must not resume from a guess before the second page confirms it, from a page without the column
            // names, or from a page after one that may lack records: a resumed scan would take the listing for complete.
            // Nor from one of a scan that started over, as if it had asked for changes, or where pages may have no end.
            let isPlace =
                trial == nil && !section.namesAreRecord && repliesAreWhole && expiry == nil && !pager.mayNotEnd
            page.cursor = isPlace ? stored.map { resumePoint($0, pageNumber).text } : nil
        } else {
            finish(&page, open, count: facts.count)
        }
        reader?.end()
        current = nil
        return page
    }

    private func keep(_ said: ReplyFacts, in page: inout Page) {
        page.metadata = said.metadata()
        if let delta = said.delta() { newDelta = delta }
    }

    private func go(to next: PagePosition, _ response: HTTPResponse) throws {
        if !running.has(next) {
            // The guess was wrong, or the reply named the position: send the request before returning the records.
            running.drop()
            running.add(try located(response) { try start(next) }, at: next)
        }
        position = next
        pageNumber += 1
    }

    private func finish(_ page: inout Page, _ open: OpenPage, count: Int) {
        isOver = true
        running.drop()
        page.isEnd = true
        let hasAllPages = open.isLast || pager.isComplete
        if count == 0, page.deleted.isEmpty, !open.isToldEmpty {
            var isRead = false
            if case .records = open.content { isRead = true }
            noteNoObject(open.response, isRead ? reader : nil)
        }
        page.isComplete = hasAllPages && bringsAll
        if section.isBounded { page.skipped = [.everything] }
        page.isPositional = page.isComplete && pager.isPositional
        page.repeatsObjects = section.paging.repeats
        page.warnings = warnings
        page.pushed = section.pushed
        // A later scan would not return the records missing from this one.
        guard hasAllPages, repliesAreWhole else { return }
        page.token = tokenText(marks: newMarks(open, count: count))
    }

    /// Returns the token for a later scan, or nil if it is empty or holds a secret.
    private func tokenText(marks: ListingMarks?) -> String? {
        var token = ScanToken()
        token.marks = marks
        token.delta = newDelta
        return token.isEmpty || client.redactor.holdsSecret(token.text) ? nil : token.text
    }

    private func newMarks(_ open: OpenPage, count: Int) -> ListingMarks? {
        guard let markedURL else { return nil }
        let readsHead = wasAutomatic && detection == nil || section.paging.readsHead
        return marks.marks(
            url: markedURL, last: lastPage(open), only: readsHead ? OnlyPage(count: count) : nil,
            detected: detection.map { _ in resumePoint(.only, 1).text })
    }

    private func lastPage(_ open: OpenPage) -> LastPage? {
        switch open.content {
        case .records: reader.map { LastPage($0.body, open.response, section) }
        case .nothing: LastPage(.empty, open.response, section)
        case .lines, .rows: nil
        }
    }

    private func finished(location: String?) -> Page {
        isOver = true
        running.drop()
        var page = Page(
            isPageEnd: true, isEnd: true, isComplete: isComplete, location: location, warnings: warnings)
        page.isPositional = isComplete && pager.isPositional
        page.repeatsObjects = section.paging.repeats
        return page
    }

    /// Adds the page to the errors of the scan.
    private func located<Result>(_ response: HTTPResponse?, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch var error as BridgeError {
            error.message = "\(asked): \(error.message)"
            error.location = error.location ?? response?.location
            throw error
        }
    }
}
