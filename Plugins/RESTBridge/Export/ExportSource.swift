internal import BridgeHTTP
internal import BridgeJSON
internal import BridgeKit
internal import BridgePaging
internal import RecordBatch

/// A scan over the files of a job that the API runs: creates the job, waits until it is done, and reads the files.
///
/// A resumed scan continues with the same job if it still exists, and with a new one if it is gone, has failed, or is
/// older than the time limit and still not done.
final class ExportSource: ListingSource {
    let client: HTTPClient
    let section: RESTSection
    let rule: ExportRule
    let base: HTTPURL
    let log: BridgeContext
    let running = RunningRequests()
    var stage = Stage.create
    var job: Job?
    /// The files of the job, once it is done.
    var files: [HTTPURL] = []
    /// The files that the job named before; nil if that is not known.
    private var known: ExportFiles?
    /// The values of the links' parameters so far.
    var linkValues: Set<String> = []
    private var rows: TableReader?
    /// The index of the file being read, or of the next.
    private var index = 0
    /// The number of that file's rows that the host has committed.
    private var committed = 0
    /// The bytes of that file that had arrived with those rows.
    private var mark: ByteMark?
    /// Whether the pages end only with files, because a file had other bytes when it was requested again.
    private var isWhole = false
    /// The jobs whose scans start over.
    private let startedOver: StartedOverJobs
    /// Whether the job's state was asked for again because the file's link was refused.
    private var hasRenewed = false
    /// The number of calls without records since a page ended.
    private var calls = 0
    /// The reason why the files may lack rows, or nil if each is whole.
    private var doubt: String?
    /// The reason by which the job itself says so; each resumed scan asks for its state again.
    private var jobDoubt: String?
    private let began: ContinuousClock.Instant

    /// What the scan does next.
    enum Stage {
        case create, wait, read, over
    }

    struct Job: Sendable {
        /// The id, or the URL of the status.
        let name: String
        /// When it was created, in seconds since 1970.
        let created: Int64
        let digest: String
        /// Whether the name holds no secret, so that the host may store it.
        let isStorable: Bool
        /// Whether an earlier scan created it.
        var isResumed: Bool
        /// Whether an earlier scan created it, and its state is not known yet.
        var isOld: Bool
        /// When to ask for its state.
        var due: ContinuousClock.Instant
        /// When this scan created it, or found it again.
        let start = ContinuousClock.now
        /// Whether the host has stored it.
        var isStored: Bool
    }

    /// The number of rows after which a page ends within a file.
    private static let rowsPerPage = 10_000
    /// The most seconds that one call waits.
    private static let callSeconds = 5.0
    /// The seconds after which the host stores a position again if nothing has changed.
    private static let storedAfter = 1.1
    /// The number of calls without records after which a page ends; the host accepts a thousand.
    private static let callsPerPage = 500

    init(
        client: HTTPClient, section: RESTSection, rule: ExportRule, base: HTTPURL, request: FetchRequest,
        log: BridgeContext, began: ContinuousClock.Instant, startedOver: StartedOverJobs
    ) throws {
        self.client = client
        self.section = section
        self.rule = rule
        self.base = base
        self.log = log
        self.began = began
        self.startedOver = startedOver
        guard let point = request.cursor.flatMap(ExportPoint.init),
            point.digest == ExportPoint.digest(of: try create().request)
        else { return }
        job = Job(
            name: point.job, created: point.created, digest: point.digest, isStorable: true, isResumed: true,
            isOld: true, due: .now,
            isStored: true)
        index = point.file
        committed = point.rows
        mark = point.mark
        isWhole = point.isWhole
        known = point.files
        stage = .wait
    }

    deinit { running.cancel() }

    func cancel() { running.cancel() }

    func next(into writer: RecordBatchWriter) throws -> Page {
        do {
            try checkTime()
            switch stage {
            case .create: return try createJob()
            case .wait: return try wait()
            case .read: return try read(into: writer)
            case .over: return Page(isPageEnd: true, isEnd: true, isComplete: isComplete)
            }
        } catch {
            // The host may retry: then the file starts again.
            rows = nil
            running.drop()
            throw error
        }
    }

    private func create() throws -> (request: HTTPRequest, url: HTTPURL) {
        try rule.create.request(section.variables, base: base, shared: section.headers)
    }

    // MARK: The Job

    private func createJob() throws -> Page {
        var (request, url) = try create()
        let asked = "creating the export of \(section.entity)"
        let digest = ExportPoint.digest(of: request)
        if let kept = startedOver.take(digest) {
            job = kept
            isWhole = true
            stage = .wait
            return Page(cursor: cursor, isPageEnd: true, isEnd: false)
        }
        // A request that is repeated would make another job.
        request.isSentOnce = request.method != "GET"
        let reply = try send(request, asked: asked)
        let place = rule.statusURL ?? rule.id
        guard var name = reply.value(place)?.plainText, !name.isEmpty else {
            throw BridgeError(
                .malformed, "\(asked): the reply has nothing at \(place)",
                remedy: "correct export.create.\(rule.statusURL == nil ? "id" : "status_url")",
                location: reply.response.location, remote: reply.words)
        }
        if rule.statusURL != nil {
            guard let status = HTTPURL(name, relativeTo: url), !status.hasUserInfo, status.origin == base.origin else {
                throw BridgeError(
                    .permission, "\(asked): the URL of the status is not below the origin of url",
                    remedy: "set that origin as the bridge's url if you trust it",
                    location: reply.response.location, remote: client.redactor.clean(url: name))
            }
            url = status
            name = status.text
        }
        job = Job(
            name: name, created: TimeText.now() / 1_000_000, digest: digest,
            isStorable: !client.redactor.holdsSecret(url: name), isResumed: false, isOld: false,
            due: .now + .seconds(min(reply.retryAfter ?? 0, rule.timeLimit)), isStored: false)
        index = 0
        known = nil
        stage = .wait
        // Without records: the page ends only so that the host stores the job.
        return Page(cursor: cursor, isPageEnd: true, isEnd: false, location: reply.response.location)
    }

    private func wait() throws -> Page {
        guard var job else { throw BridgeError(.internal, "an export without a job") }
        let left = (job.due - .now) / .seconds(1)
        if left > 0, !client.isReplaying {
            let untilStored = job.isStored ? Self.callSeconds : Self.storedAfter - (.now - job.start) / .seconds(1)
            let most = min(Self.callSeconds, max(untilStored, 0.1))
            try running.pause(seconds: min(left, most))
            if left > most { return again() }
        }
        let isOld = job.isOld
        job.isOld = false
        var variables = section.variables
        variables.slice["id"] = job.name
        let given = rule.statusURL == nil ? nil : HTTPURL(job.name)
        let (request, url) = try rule.status.request(variables, base: base, at: given, shared: section.headers)
        let reply = try send(request, asked: asked, accepting: isOld ? [404, 410] : [])
        if [404, 410].contains(reply.response.status) { return begin("does not exist any more") }
        guard let state = reply.value(rule.state) else {
            throw BridgeError(
                .malformed, "\(asked): the reply has nothing at \(rule.state)", remedy: "correct export.status.state",
                location: reply.response.location, remote: reply.words)
        }
        let word = state.plainText ?? "null"
        if rule.done.contains(word) {
            self.job = job
            files = try locate(reply, url, variables)
            // The list may have another order now, and would lead to files that are read already.
            if let known, index > 0 || committed > 0 {
                guard let same = known.arrange(files) else { return try restart() }
                files = same
            }
            known = ExportFiles(files)
            jobDoubt = jobDoubt ?? reply.failureSign(beside: rule).map(warning)
            stage = .read
            return again()
        }
        if rule.failed.contains(word) {
            if isOld { return begin("has failed") }
            throw BridgeError(
                .remote, "\(asked): the job's state is \(client.redactor.clean(word))",
                remedy: "the next sync creates a new job", location: reply.response.location,
                remote: rule.message.flatMap { reply.value($0)?.plainText }.map {
                    String(client.redactor.clean($0).prefix(300))
                })
        }
        let age =
            job.isResumed
            ? Double(TimeText.now() / 1_000_000 - job.created) : (ContinuousClock.now - job.start) / .seconds(1)
        if age >= rule.timeLimit, !client.isReplaying {
            if isOld { return begin("is older than export.status.time_limit and not done") }
            throw BridgeError(
                .timeout,
                "\(asked): the job is not done after \(Int(rule.timeLimit)) s; its state is \(client.redactor.clean(word))",
                remedy:
                    "raise export.status.time_limit; the next sync asks for this job once more, and creates a new one if it is still not done",
                location: reply.response.location)
        }
        job.due = .now + .seconds(min(max(rule.interval, reply.retryAfter ?? 0), max(rule.timeLimit - age, 0.1)))
        self.job = job
        return again()
    }

    /// A page without records: it ends only so that the host stores the job, and knows that the bridge is at work.
    private func again() -> Page {
        calls += 1
        let isNew = job.map { !$0.isStored && ContinuousClock.now - $0.start >= .seconds(Self.storedAfter) } ?? false
        guard isNew || calls >= Self.callsPerPage else { return Page(isPageEnd: false, isEnd: false) }
        job?.isStored = true
        calls = 0
        return Page(cursor: cursor, isPageEnd: true, isEnd: false)
    }

    /// Begins again with a new job.
    private func begin(_ reason: String) -> Page {
        log.log(.info, "\(section.entity): the export job of an earlier sync \(reason): a new one is created")
        job = nil
        jobDoubt = nil
        known = nil
        index = 0
        committed = 0
        mark = nil
        stage = .create
        return Page(isPageEnd: false, isEnd: false)
    }

    /// Begins again because the job names other files than before.
    ///
    /// - Throws: ``BridgeError`` if this scan created the job, whose rows would be imported a second time.
    private func restart() throws -> Page {
        if job?.isResumed == true { return begin("names other files than before") }
        throw BridgeError(
            .malformed, "\(asked): the job names other files than before", remedy: "run the sync again")
    }

    /// Returns the error by which the host forgets the rows of a file that has other bytes when it is requested again.
    ///
    /// The job is kept for the scan that starts over, which reads each file whole.
    private func writtenAnew() -> BridgeError {
        if var job {
            job.isResumed = true
            job.isOld = true
            job.isStored = false
            job.due = .now
            startedOver.keep(job)
        }
        return BridgeError(
            .conflict,
            "\(fileName) has other bytes than when some of its rows were imported, so all files are read again, and each whole",
            remedy: "sync again; if the file is often replaced while it is read, export less at a time",
            location: files.indices.contains(index) ? ExportSource.location(files[index], client) : nil,
            startsOver: true)
    }

    private var asked: String { "the export of \(section.entity)" }

    /// The cursor at the next file, or nil if the scan cannot be resumed there.
    private var cursor: String? {
        guard let job, job.isStorable, doubt == nil else { return nil }
        return ExportPoint(
            file: index, files: known, rows: committed, mark: mark, isWhole: isWhole, created: job.created,
            digest: job.digest, job: job.name
        ).text
    }

    private func checkTime() throws {
        guard let limit = client.totalTime, ContinuousClock.now - began > limit else { return }
        throw BridgeError(
            .limit, "\(asked): the scan takes longer than limits.total_time (\(limit.components.seconds) s)",
            remedy: "raise it, or request less")
    }

    // MARK: The Files

    private var fileName: String { "file \(index + 1) of \(files.count) of \(asked)" }

    private func read(into writer: RecordBatchWriter) throws -> Page {
        guard index < files.count else {
            // A job without files exported no records.
            if index == 0, committed == 0 { return end(Page(isPageEnd: true, isEnd: true)) }
            return try restart()
        }
        if rows == nil {
            switch try open() {
            case .rows: break
            case .refused: return again()
            // Rows that an earlier reply had do not count as passed over.
            case .nothing where mark != nil: throw writtenAnew()
            case .nothing: return advance(Page(isPageEnd: true, isEnd: false))
            }
        }
        guard let rows else { throw BridgeError(.internal, "a file without a reader") }
        let hasMore: Bool
        let rejected: [Page.Rejected]
        do {
            (hasMore, rejected) = try rows.read(into: writer, rows: Self.rowsPerPage)
        } catch is ReplyFile.Changed {
            throw writtenAnew()
        }
        var page = Page(isPageEnd: !hasMore, isEnd: false, location: rows.location, rejected: rejected)
        if hasMore {
            calls = writer.recordCount > 0 || !rejected.isEmpty ? 0 : calls + 1
            // A scan can resume after a number of rows if the bytes before are the same ones then.
            let reached = isWhole ? nil : rows.mark
            if reached != nil && rows.count - committed >= Self.rowsPerPage || calls >= Self.callsPerPage {
                calls = 0
                if let reached, rows.count > committed { (committed, mark) = (rows.count, reached) }
                page.isPageEnd = true
                page.cursor = cursor
            }
            return page
        }
        if mark != nil, rows.mark == nil { throw writtenAnew() }
        if !rows.endsItself, !rows.response.tellsEnd, doubt == nil {
            doubt =
                "\(fileName): the reply says neither how long it is nor where it ends, so a truncated one would look the "
                + "same: its records are imported, but missing ones do not count as deleted"
        }
        self.rows = nil
        return advance(page)
    }

    /// Ends a file's last page, and goes on to the next file.
    private func advance(_ page: Page) -> Page {
        var page = page
        running.detach()
        index += 1
        committed = 0
        mark = nil
        hasRenewed = false
        if index == files.count { return end(page) }
        page.cursor = cursor
        return page
    }

    private var isComplete: Bool { !section.isPartial && doubt == nil && jobDoubt == nil }

    private func end(_ page: Page) -> Page {
        var page = page
        stage = .over
        page.isEnd = true
        page.isComplete = isComplete
        if section.isBounded { page.skipped = [.everything] }
        page.warnings = [jobDoubt, doubt].compactMap(\.self)
        page.pushed = section.pushed
        return page
    }

    /// Requests the file.
    private func open() throws -> Opened {
        let url = files[index]
        let exchange = try download(url)
        try running.attach(exchange)
        let response = try exchange.response()
        let location = ExportSource.location(url, client)
        guard (200..<300).contains(response.status) else {
            var error = try exchange.statusError(asked: fileName)
            error.location = location
            guard [401, 403, 404, 410].contains(response.status), !error.isRetryable, case .named = rule.files else {
                throw error
            }
            if !hasRenewed {
                hasRenewed = true
                job?.due = .now
                stage = .wait
                exchange.cancel()
                return .refused
            }
            error.remedy =
                "the link of the file is refused, also the new one that the job gave; if its host needs the API's credentials, name it "
                + "under export.files.credentials_for"
            throw error
        }
        if response.status == 204 {
            _ = try exchange.paddedBody()
            return .nothing
        }
        let reason = try doubt(about: response, fileName, location: location)
        doubt = doubt ?? reason
        guard let table = section.table else { throw BridgeError(.internal, "an export without a format") }
        rows = try TableReader(
            ReplyFile(exchange, response, isMarked: !isWhole, expecting: mark), response, table,
            name: HTTPURL(response.url)?.path ?? "the file",
            fields: section.recordFields(response), keys: section.keyPaths, read: section.readFields,
            limits: client.rowLimits, skipping: committed, asked: fileName, location: location)
        return .rows
    }
}
