internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import RecordBatch
internal import Synchronization

/// A walk over a listing, page after page, with requests for the next pages under way while one is handed out.
final class RESTSource: RecordSource {
    private let client: HTTPClient
    private var section: RESTSection
    private let requester: PageRequester
    private let log: BridgeContext
    private var reader: PageReader?
    private var pager: Pager
    private var position: Position
    private var pageNumber = 1
    private var pageURL: HTTPURL?
    private var requestURL: HTTPURL?
    private var current: OpenPage?
    private var isOver = false
    private let running: RunningRequests
    private let isResumed: Bool
    private let token: WalkToken?
    /// Whether the listing moved since an earlier walk; nil once that is known.
    private var check: ListingCheck?
    private var marks: ListingMarks.Collector
    /// What the marks belong to, and the place of the page that is read as it can be stored.
    private let markedURL: String?
    private var place: Position?
    /// The delta token or link that the walk leaves for the next one.
    private var newDelta: String?
    private var detection: Detection?
    private var note: String?
    /// The parameter that takes the cursor is a guess that the second page's reply has to prove.
    private var trial: CursorTrial?
    /// What the first reply told, until a page has said it.
    private var found: String?
    private let began = ContinuousClock.now
    /// A rule has asked for new credentials: once a walk is enough.
    private var hasRenewed = false

    /// How many requests run ahead where the number of pages is known.
    private static let lookahead = 8

    /// What the first reply told, to be kept with the cursor.
    private struct Detection {
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

    private var asked: String { "page \(pageNumber) of \(section.entity)" }
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
            current = OpenPage(response: response, content: .lines(try LineReader(exchange)))
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

    // MARK: What the first reply tells

    private func prepare(
        _ body: HTTPExchange.PaddedBody, _ response: HTTPResponse, isAccepted: Bool
    ) throws {
        var isAutomatic = false
        if case .automatic = section.paging.style { isAutomatic = true }
        guard section.records == nil || isAutomatic else { return }
        let isPage = RemoteWords.isPage(Array(body.bytes.prefix(min(body.count, 512))), mediaType: response.mediaType)
        let survey = isPage ? nil : ReplySurvey(body)
        var found: String?
        if section.records == nil, !isAccepted, let survey, !survey.isArray,
            let failure = DisguisedFailure(survey, isSingleObject: true), !section.judges(failure.path),
            try RecordsFinder.isSingle(survey, asked: asked, location: response.location)
        {
            throw failure.error(asked: asked, response: response, body: body)
        }
        if section.records == nil, let survey {
            let isEmpty = !isAccepted && EmptyListing.isObject(body) && EmptyListing.isAll(survey)
            let path =
                isEmpty
                ? EmptyListing.records
                : try RecordsFinder.path(
                    survey, asked: asked, location: response.location, hasColumns: section.columns != nil)
            section.records = try JSONPath(path, option: "records")
            if !isEmpty { found = path }
        }
        if isAutomatic { try detect(survey, response, body, records: found) }
        try section.checkPaths()
        guard found.map({ $0 != "$" }) ?? false || note != nil else { return }
        let parts = [found.flatMap { $0 == "$" ? nil : "records: \($0)" }, note.map { "paging: \($0)" }].compactMap(
            \.self)
        self.found = parts.joined(separator: ", ")
        log.log(.info, "\(section.entity): found in the first reply: \(parts.joined(separator: ", "))")
    }

    private func detect(
        _ survey: ReplySurvey?, _ response: HTTPResponse, _ body: HTTPExchange.PaddedBody?, records: String? = nil
    ) throws {
        var detector = PagingDetector(
            survey: survey, response: response, url: requestURL ?? section.url,
            count: { [records = section.records] in
                guard let body, let records else { return nil }
                return try? PageReader.records(at: records, in: body)?.count
            },
            given: section.givenParameters.union(section.openVariables), records: section.records)
        detector.sendsJSON = section.body?.format == .json
        detector.bodyNumbers = section.bodyNumbers
        detector.openVariables = section.openVariables
        guard var detected = detector.detect() else {
            section.paging = PagingRule()
            pager = Pager(
                detected: section.paging, first: position, promise: detector.promise(), limit: detector.limit(),
                isUntold: survey != nil && section.preset == nil)
            return
        }
        if let name = section.cursorVariable {
            detected.members = detected.members.map { $0 == ("parameter", "after") ? ("parameter", name) : $0 }
        }
        let bodyPrefix: [String]? =
            section.preset == .graphQL ? ["variables"] : section.body?.format == .json ? [] : nil
        if let bodyPrefix, detected.members.contains(where: { $0.name.hasSuffix("parameter") }) {
            // Kept with the cursor: so it must say by itself where the parameters go.
            let moved = detected.members.filter { $0.name.hasSuffix("parameter") }
            detected.members.removeAll { $0.name.hasSuffix("parameter") }
            detected.members += moved.map { ($0.name, (bodyPrefix + [$0.value]).joined(separator: ".")) }
            detected.members.append(("in", "body"))
        }
        if detected.isStartUnknown, let body, try countsFromZero(detected, body) {
            detected.members = detected.members.map { $0.name == "start" ? ("start", "0") : $0 }
            detected.first = .page(0)
        }
        if let body, let guess = detector.byOffset(detected), takes(guess, body) { detected = guess }
        section.paging = try PagingRule(detected.options, pageSize: nil, bodyPrefix: nil)
        if let first = detected.first { position = first }
        var isUnpaged = false
        if case .none = section.paging.style { isUnpaged = true }
        pager = Pager(
            detected: section.paging, first: detected.first, promise: isUnpaged ? detector.promise() : nil,
            isEndUnknown: detected.isEndUnknown)
        detection = Detection(paging: detected, records: records)
        note = detected.description
        if let body, let records = section.records, section.preset != .graphQL {
            trial = CursorTrial(detected, given: section.givenParameters, records: records, body: body)
        }
    }

    // MARK: A cursor without the name of its parameter

    /// The body by which the guess is proved; nil where there is nothing to prove, or the reply speaks of something else.
    private func proof(_ exchange: HTTPExchange, _ response: HTTPResponse) throws -> HTTPExchange.PaddedBody? {
        guard trial != nil, pageNumber == 2 else { return nil }
        if [400, 404, 422].contains(response.status), section.responses.isEmpty { return .empty }
        guard (200..<300).contains(response.status), response.status != 204 else { return nil }
        return try exchange.paddedBody()
    }

    private func tryNext(_ judged: CursorTrial) throws {
        var next = judged
        trial = next.advance() ? next : nil
        guard var found = detection?.paging else { return }
        found.members = found.members.map { $0.name == "parameter" ? ($0.name, next.name) : $0 }
        section.paging = try PagingRule(found.options, pageSize: nil, bodyPrefix: nil)
        detection?.paging = found
        if let note { self.found = self.found?.replacing(note, with: found.description) }
        note = found.description
        running.drop()
        guard trial != nil else { return }
        log.log(.info, "\(section.entity): its cursor is not taken by that name; trying paging: \(found.description)")
    }

    /// Whether page 1 is another one than that which came without a number: then that was page 0.
    ///
    /// Costs a request; guessed wrong, a whole page would be left out without a word.
    private func countsFromZero(_ detected: PagingDetector.Detected, _ body: HTTPExchange.PaddedBody) throws -> Bool {
        guard let records = section.records, let mine = try PageReader.records(at: records, in: body), mine.count > 0
        else { return false }
        guard let theirs = try probe(.page(1), detected), theirs.count > 0 else { return true }
        return withExtendedLifetime((mine, theirs)) { mine[0].json != theirs[0].json }
    }

    /// Whether the server takes an offset that it never spoke of: the records from there on are others, by their ids.
    ///
    /// Costs a request. A page that differs is not enough: one may tell the time beside the same records.
    private func takes(_ guess: PagingDetector.Detected, _ body: HTTPExchange.PaddedBody) -> Bool {
        guard section.method == "GET", let records = section.records,
            let mine = try? PageReader.records(at: records, in: body), let known = RecordIdentities(mine),
            let theirs = try? probe(.offset(mine.count), guess), let others = RecordIdentities(theirs, by: known.name)
        else { return false }
        return known.values.isDisjoint(with: others.values)
    }

    /// The records of a page that is asked for to learn from it alone; nil where it is not there.
    private func probe(_ position: Position, _ detected: PagingDetector.Detected) throws -> RecordBatch? {
        guard let records = section.records else { return nil }
        let saved = (section, requestURL)
        section.paging = try PagingRule(detected.options, pageSize: nil, bodyPrefix: nil)
        defer { (section, requestURL) = saved }
        let exchange = try start(position)
        try running.attach(exchange)
        defer { running.detach() }
        guard (200..<300).contains(try exchange.response().status) else { return nil }
        return try PageReader.records(at: records, in: exchange.paddedBody())
    }

    // MARK: Requests

    private func start(_ position: Position) throws -> HTTPExchange {
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
            // Until the second page has proved it, a guess is nothing to go on from.
            page.cursor = trial != nil ? nil : stored.map { resumePoint($0, pageNumber).text }
        } else {
            finish(&page, open)
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

    private func finish(_ page: inout Page, _ open: OpenPage) {
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
        token.marks = newMarks(open)
        token.delta = newDelta
        if !token.isEmpty, !client.redactor.holdsSecret(token.text) { page.token = token.text }
    }

    private func newMarks(_ open: OpenPage) -> ListingMarks? {
        guard let markedURL else { return nil }
        var last: LastPage?
        switch open.content {
        case .records: last = reader.map { LastPage($0.body, open.response, section) }
        case .nothing: last = LastPage(.empty, open.response, section)
        case .lines: break
        }
        return marks.marks(
            url: markedURL, last: last, detected: detection.map { _ in resumePoint(.only, 1).text })
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
