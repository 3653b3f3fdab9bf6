internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import RecordBatch
internal import Synchronization

/// A walk over a listing, page after page, with requests for the next pages under way while one is handed out.
final class RESTSource: RecordSource {
    private let client: HTTPClient
    var section: RESTSection
    private let requester: PageRequester
    let log: BridgeContext
    private var reader: PageReader?
    var pager: Pager
    var position: Position
    var pageNumber = 1
    private var pageURL: HTTPURL?
    var requestURL: HTTPURL?
    private var current: OpenPage?
    private var isOver = false
    let running: RunningRequests
    private let isResumed: Bool
    private let token: WalkToken?
    /// Whether the listing moved since an earlier walk; nil once that is known.
    private var check: ListingCheck?
    private var marks: ListingMarks.Collector
    /// What the marks belong to, and the place of the page that is read as it can be stored.
    private let markedURL: String?
    /// Whether the first reply tells how the listing goes on, and not the section.
    private let wasAutomatic: Bool
    private var place: Position?
    /// The delta token or link that the walk leaves for the next one.
    private var newDelta: String?
    var detection: Detection?
    var note: String?
    /// The parameter that takes the cursor is a guess that the second page's reply has to prove.
    var trial: CursorTrial?
    /// What the first reply told, until a page has said it.
    var found: String?
    private let began = ContinuousClock.now
    /// A rule has asked for new credentials: once a walk is enough.
    private var hasRenewed = false

    /// How many requests run ahead where the number of pages is known.
    private static let lookahead = 8

    /// What the first reply told, to be kept with the cursor.
    struct Detection {
        var paging: PagingDetector.Detected
        var records: String?
    }

    /// A page of which some records may be out already.
    private struct OpenPage {
        enum Content {
            case records
            case lines(LineReader)
            case nothing
        }

        let response: HTTPResponse
        let content: Content
        /// No page follows, whatever the paging says.
        var isLast = false
        /// A rule of the section has called the reply a success.
        var isAccepted = false
        var digest = BatchDigest()
    }

    init(
        client: HTTPClient, section: RESTSection, origin: HTTPURL.Origin, request: FetchRequest, log: BridgeContext
    ) throws {
        self.client = client
        self.section = section
        requester = PageRequester(client: client, origin: origin)
        self.log = log
        running = RunningRequests()
        token = request.token.flatMap(WalkToken.init)
        isResumed = request.cursor != nil
        let point = request.cursor.map(ResumePoint.init)
        try point?.apply(to: &self.section)
        if let known = point?.detected {
            detection = Detection(paging: PagingDetector.Detected(members: known.members), records: known.records)
        }
        marks = ListingMarks.Collector(isPossible: point == nil && section.keepsMarks)
        markedURL = client.markedURL(section)
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
            // The host may ask again: then the page begins anew.
            current = nil
            reader?.end()
            running.drop()
            throw error
        }
    }

    var asked: String { "page \(pageNumber) of \(section.entity)" }
    private var isDelta: Bool { delta != nil }
    /// The remote's token of an earlier walk.
    private var delta: String? { section.incremental == nil ? nil : token?.delta }
    private var isComplete: Bool { pager.isComplete && !section.isPartial && !isDelta }

    private var warnings: [String] { pager.warnings + (reader?.warnings ?? []) }

    // MARK: Whether there is anything to read

    /// What to hand out while the listing is compared with what an earlier walk brought; nil where it is to be read.
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

    // MARK: A page's beginning

    /// Waits for the page at the position; a page to hand out at once where there is nothing to read.
    private func open() throws -> Page? {
        try checkTime()
        let exchange = try located(nil) { try running.take(position) ?? start(position) }
        try running.attach(exchange)
        let response = try exchange.response()
        guard let proof = try proof(exchange, response) else { return try take(exchange, response, nil) }
        guard let trial, trial.judge(response.status < 300 ? proof : nil) == .tryNext else {
            self.trial = nil
            return try take(exchange, response, proof)
        }
        try tryNext(trial)
        return try open()
    }

    /// - Parameter body: The reply's body, if it was read already.
    private func take(
        _ exchange: HTTPExchange, _ response: HTTPResponse, _ body: HTTPExchange.PaddedBody?
    ) throws -> Page? {
        let judge = ReplyJudge(section: section, asked: asked, isConfirming: pager.isConfirming)
        let verdict = try judge.verdict(exchange, response) { [client] in
            guard !hasRenewed, client.renewCredentials() else { return false }
            hasRenewed = true
            return true
        }
        switch verdict {
        case .renewed:
            running.drop()
            return try open()
        case .end:
            if pager.isConfirming { _ = pager.confirmEnd() }
            return finished(location: response.location)
        case .empty:
            running.detach()
            current = OpenPage(response: response, content: .nothing, isLast: true)
        case .ignored:
            running.detach()
            current = OpenPage(response: response, content: .nothing)
        case .good(let early, let isAccepted):
            try begin(exchange, response, early ?? body, isAccepted: isAccepted)
        }
        return nil
    }

    private func begin(
        _ exchange: HTTPExchange, _ response: HTTPResponse, _ early: HTTPExchange.PaddedBody?, isAccepted: Bool
    ) throws {
        // What follows can be asked for before this page is even here.
        for ahead in pager.ahead(of: position, limit: client.keepsOrder ? 0 : Self.lookahead)
        where !running.has(ahead) {
            try running.add(start(ahead), at: ahead)
        }
        pageURL = HTTPURL(response.url)
        if response.status == 204 {
            running.detach()
            current = OpenPage(response: response, content: .nothing)
            return
        }
        let isLines =
            section.format == .ndjson || (section.format == .automatic && LineReader.isSpoken(response.mediaType))
        if isLines, early == nil {
            if case .automatic = section.paging.style { try detect(nil, response, nil) }
            let lines = try LineReader(exchange, fields: section.recordFields(response))
            current = OpenPage(response: response, content: .lines(lines))
            return
        }
        let body = try early ?? exchange.paddedBody()
        running.detach()
        if section.preset == .graphQL {
            try GraphQLErrors.check(body, asked: asked, response: response)
        }
        if reader == nil {
            try prepare(body, response, isAccepted: isAccepted)
            reader = try PageReader(section)
        }
        current = OpenPage(response: response, content: .records, isAccepted: isAccepted)
        try reader?.begin(body, response, asked: asked)
    }

    // MARK: Requests

    func start(_ position: Position) throws -> HTTPExchange {
        if requestURL == nil { requestURL = try section.request(at: position, after: pageURL, delta: delta).1 }
        return try requester.start(section, position, after: pageURL, delta: delta)
    }

    private func checkTime() throws {
        guard let limit = client.totalTime, ContinuousClock.now - began > limit else { return }
        throw BridgeError(
            .limit, "\(asked): the walk takes longer than limits.total_time (\(limit.components.seconds) s)",
            remedy: "raise it, or ask for less")
    }

    // MARK: A page's records and end

    private func read(into writer: RecordBatchWriter) throws -> Page {
        guard var open = current else { return finished(location: nil) }
        var facts = PageFacts()
        var rejected: [Page.Rejected] = []
        var page = Page(isPageEnd: true, isEnd: false, location: open.response.location)
        if case .nothing = open.content {
        } else {
            let hasMore: Bool
            if case .lines(let lines) = open.content {
                (hasMore, rejected) = try lines.read(into: writer, asked: asked, location: open.response.location)
            } else {
                guard let reader else { throw BridgeError(.internal, "a page without a reader") }
                (hasMore, rejected) = try reader.read(into: writer, isAccepted: open.isAccepted)
            }
            open.digest.add(writer)
            if hasMore {
                current = open
                return Page(
                    isPageEnd: false, isEnd: false, location: open.response.location, rejected: rejected)
            }
            if case .records = open.content, let reader {
                facts = reader.facts()
                page.deleted = try reader.deleted()
                keep(reader.said, in: &page)
            } else if case .lines(let lines) = open.content {
                running.detach()
                let said = ReplyFacts(section, open.response)
                facts = said.paging()
                facts.count = lines.count
                keep(said, in: &page)
            }
        }
        facts.digest = open.digest.value
        marks.add(place, open.response)
        page.rejected = rejected
        page.total = facts.total.map(Int64.init)
        if pageNumber == 1, let note { page.metadata["paging"] = note }
        let step = open.isLast ? .end : try located(open.response) { try pager.after(position, facts) }
        // What is still on trial is told when it is proved.
        if let found, trial == nil || step == .end {
            page.metadata["found"] = found
            self.found = nil
        }
        if case .go(let next) = step {
            let stored = storable(next)
            try go(to: next, open.response)
            place = stored
            // Until the second page has proved it, a guess is nothing to go on from. Nor is a page that lacks the names.
            page.cursor = trial != nil || section.namesAreRecord ? nil : stored.map { resumePoint($0, pageNumber).text }
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

    private func go(to next: Position, _ response: HTTPResponse) throws {
        if !running.has(next) {
            // A wrong guess, or the reply named it: ask before the records are handed out.
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
        page.isComplete = open.isLast ? !section.isPartial && !isDelta : isComplete
        page.isPositional = page.isComplete && pager.isPositional
        page.warnings = warnings
        page.pushed = section.pushed
        // What a walk left out would not come again.
        guard open.isLast || pager.isComplete else { return }
        var token = WalkToken()
        token.marks = newMarks(open, count: count)
        token.delta = newDelta
        if !token.isEmpty, !client.redactor.holdsSecret(token.text) { page.token = token.text }
    }

    private func newMarks(_ open: OpenPage, count: Int) -> ListingMarks? {
        guard let markedURL else { return nil }
        var last: LastPage?
        switch open.content {
        case .records: last = reader.map { LastPage($0.body, open.response, section) }
        case .nothing: last = LastPage(.empty, open.response, section)
        case .lines: break
        }
        let readsHead = wasAutomatic && detection == nil || section.paging.readsHead
        return marks.marks(
            url: markedURL, last: last, only: readsHead ? OnlyPage(count: count) : nil,
            detected: detection.map { _ in resumePoint(.only, 1).text })
    }

    private func finished(location: String?) -> Page {
        isOver = true
        running.drop()
        var page = Page(
            isPageEnd: true, isEnd: true, isComplete: isComplete, location: location, warnings: warnings)
        page.isPositional = isComplete && pager.isPositional
        return page
    }

    /// Adds the page to errors of the walk.
    private func located<Result>(_ response: HTTPResponse?, _ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch var error as BridgeError {
            error.message = "\(asked): \(error.message)"
            error.location = error.location ?? response?.location
            throw error
        }
    }

    /// A place as it can be stored: it must hold no secret, and a URL must be absolute.
    private func storable(_ next: Position) -> Position? {
        var next = next
        if case .url(let text) = next {
            guard let url = HTTPURL(text, relativeTo: pageURL ?? section.url) else { return nil }
            next = .url(client.withoutCredentials(url).text)
        }
        return client.redactor.holdsSecret(url: next.text) ? nil : next
    }

    private func resumePoint(_ position: Position, _ page: Int) -> ResumePoint {
        let detected = detection.map {
            AutomaticCursor(members: $0.paging.members, records: $0.records, position: position.text)
        }
        return ResumePoint(page: page, detected: detected, position: position.text)
    }
}
