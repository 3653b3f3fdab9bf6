internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract
internal import SystemCalls

/// Passes the batches of one scan to the store, page by page, on the import thread.
final class PageWriter: @unchecked Sendable {
    // `holdsGate`, `hasHandedOver`, `recordsHandedOver`, `recordsOfOpenPage`, `batches` and the content of `extent`
    // belong to the scan's task; `open`, `shared`, `failure`, `state`, `recordsInPage`, `keysInPage` and `begins` are used
    // only on `thread`, which works serially, as does `replay`.
    let model: CompiledModel
    let request: ScanRequest
    let target: ScanTarget
    let parent: ParentObject?
    private let isResumed: Bool
    let store: any Store
    private let thread: ImportThread
    private let gate: PageGate
    private let batches: BatchMapper
    private let extent: Extent
    private let observer: (any PageObserver)?
    let quarantine: ListingQuarantine
    private let look: ScanAttempt
    /// How often the first of two listings had an object again.
    private let firstRepeats: Int
    /// What the request adds, if the pages are of one.
    private let terms: ScanTerms
    /// Maps recognised batches that have to be merged after all; used only on `thread`.
    private lazy var lateMapper = {
        let mapper = Mapper(model, knownMembers: batches.knownMembers)
        mapper.reportsMembersOfEachBatch = true
        return mapper
    }()
    /// The fields that the records had, among those that the configuration reads; belongs to the scan's task.
    var present: PresentFields { batches.present }
    private var open: PageImport?
    /// The transaction in which the next page is one of several; nil if it has one of its own.
    private var shared: (any PageTransaction)?
    /// Whether the store has yet to be told that the scan begins.
    private var begins: Bool
    /// The pages of other parents with which the scan's page may share a transaction; nil if it may not.
    private let membership: PageGroup.Member?
    private var holdsGate = false
    /// Whether a batch of the scan was handed over.
    private var hasHandedOver = false
    /// The number of records on pages that were completely enqueued.
    private(set) var recordsHandedOver = 0
    private var recordsOfOpenPage = 0
    /// The members of the enqueued records; see ``ListedMember``.
    var members: Set<ListedMember> { batches.members }
    /// The error that stopped the scan's import.
    private(set) var failure: (any Error)?
    /// Removes secrets from what is kept of records besides their values; set it before the first batch.
    var redaction = Redaction.none { didSet { batches.redaction = redaction } }

    /// Whether the scan has ended at what is known, so that later batches are dropped; see ``State/endsAtKnown``.
    let isOver = Mutex(false)

    /// When the first page of the scan began.
    private let began: String
    private(set) var state: State
    /// What the open page needs to be written again; see ``PageReplay``.
    private var replay = PageReplay<PreparedBatch, State>()
    private var recordsInPage = 0
    private var keysInPage: [[StoredValue]] = []

    /// The spans of the scan's pages, before the first.
    var spans: PageSpans {
        PageSpans(entity: model.entities[target.entity].name, bridge: request.plan.bridge)
    }

    /// Creates a writer for one scan.
    ///
    /// - Parameters:
    ///   - acknowledged: The newest edit that the remote had accepted when the scan began; see ``ScanTarget``.
    ///   - begins: Whether the writer tells the store that the scan begins, before its first page.
    ///   - group: The pages of other parents with which a page that is the whole listing may share a transaction.
    init(
        _ extent: Extent, of request: ScanRequest, _ context: SyncContext, parent: ParentObject? = nil,
        after progress: ScanProgress? = nil, look: ScanAttempt = .first, firstRepeats: Int = 0, acknowledged: Int64,
        members: Set<ListedMember> = [], quarantine: ListingQuarantine? = nil, recognition: BatchRecognition? = nil,
        begins: Bool = false, group: PageGroup.Member? = nil
    ) {
        self.extent = extent
        self.begins = begins
        membership = group
        self.look = look
        self.firstRepeats = firstRepeats
        terms = context.terms
        let plan = request.plan
        model = context.workspace.model
        self.request = request
        self.parent = parent
        self.quarantine = quarantine ?? ListingQuarantine(QuarantineBudget(of: plan.entity))
        isResumed = progress != nil
        began = progress?.began ?? request.began
        target =
            if case .pages = extent {
                plan.target(ofRequestAfter: acknowledged)
            } else {
                ScanTarget(
                    scope: extent.leavesNothing ? plan.scope(ofPartFor: parent) : plan.scope(parent: parent),
                    entity: plan.index, isListing: plan.isListing,
                    parent: parent.flatMap { parent in parent.relationship.map { ($0, parent.key) } },
                    acknowledged: acknowledged)
            }
        store = context.store
        thread = context.thread
        gate = context.gate
        observer = context.observer
        batches = BatchMapper(
            request, target, context, parent: parent, members: members, recognition: recognition,
            filter: extent.filter, keepsKeys: extent.keepsKeys)
        state = State(
            page: progress?.page ?? 0, counts: ImportCounts(entityCount: model.entities.count),
            watermark: ScanWatermark(
                known: progress?.newest, start: plan.watched?.settled(before: began),
                limit: plan.watched?.limit(now: request.began), isResumed: isResumed,
                // Without a key, what the next scan returns again would be stored again.
                isAppendOnly: model.entities[plan.index].key.isEmpty))
    }

    /// Maps a batch and enqueues it on the import thread, which commits when it ends a page; does not wait for the
    /// import.
    ///
    /// After a failed batch all later ones fail, and its page is rolled back.
    ///
    /// - Parameter onFailure: Called when the batch was not imported.
    func start(
        _ fetched: FetchedBatch, _ listener: Listener, onFailure: @escaping @Sendable () -> Void
    ) async throws -> Job {
        let isOnly = mayShare && !hasHandedOver && fetched.page.end && !fetched.page.positional
        if isOnly, let membership, membership.group.hasRoom { membership.received() }
        // Mapped here, while another batch may be importing.
        let batch = try batches.prepare(fetched)
        if !holdsGate, batch.isNothing || isOver.withLock({ $0 }) {
            // The bridge is still searching: a page does not begin yet, because it would block all others.
            let done = Promise<Result<Void, any Error>>()
            done.fulfil(.success(()))
            return Job(result: done, recognizedBytes: 0)
        }
        defer { hasHandedOver = true }
        if isOnly, let membership {
            recordsHandedOver += batch.received
            return await share(batch, listener, onFailure, in: membership.group)
        }
        if !holdsGate {
            await gate.enter(priority: terms.priority)
            holdsGate = true
        }
        let result = thread.start { try self.importBatch(batch, listener, onFailure) }
        recordsOfOpenPage += batch.received
        if batch.page.pageEnd || batch.page.end {
            recordsHandedOver += recordsOfOpenPage
            recordsOfOpenPage = 0
            leaveGate()
        }
        return Job(result: result, recognizedBytes: batch.recognizedBytes)
    }

    /// Whether a page that is the whole listing may share a transaction; one by position may be asked for once more.
    private var mayShare: Bool {
        guard case .listing = extent, membership != nil else { return false }
        return !isResumed
    }

    /// Enqueues the only batch of a scan with those of other parents that wait for a transaction.
    private func share(
        _ batch: PreparedBatch, _ listener: Listener, _ onFailure: @escaping @Sendable () -> Void,
        in group: PageGroup
    ) async -> Job {
        let result = Promise<Result<Void, any Error>>()
        let page = PageGroup.Page(
            writer: self, batch: batch, listener: listener, onFailure: onFailure, result: result)
        if group.add(page) {
            await gate.enter(priority: terms.priority)
            thread.runLater { group.importAll() }
            gate.leave()
        }
        return Job(result: result, recognizedBytes: nil)
    }

    /// Imports records; those of a recognised batch are mapped after all if its rows are not as it left them.
    private func add(_ content: PreparedBatch.Content, to page: PageImport, location: String?) throws {
        switch content {
        case .mapped(let mapped, let remembered): try page.add(mapped, location: location, remembered: remembered)
        case .recognized(let batch):
            if try page.repeatBatch(batch.digest, batch.summary) {
                state.recognized += batch.summary.records
                return
            }
            let mapped = MappedBatch(batch.batch, by: lateMapper, as: request.plan.mapping, extent: .whole)
            let summary = mapped.summary(of: target.entity, absenceContext: batch.absenceContext)
            try page.add(mapped, location: location, remembered: summary.map { (batch.digest, $0) })
        }
    }

    /// Rolls back an open page.
    func takeBack() async {
        guard holdsGate else { return }
        _ = try? await thread.run {
            self.open?.rollback()
            self.open = nil
            self.replay = PageReplay()
            self.recordsInPage = 0
            self.keysInPage = []
        }
        recordsOfOpenPage = 0
        leaveGate()
    }

    private func leaveGate() {
        holdsGate = false
        gate.leave()
    }

    func importBatch(_ batch: PreparedBatch, _ listener: Listener, _ onFailure: () -> Void) throws {
        if let failure { throw failure }
        if state.endsAtKnown { return }
        do {
            try beginScan()
            listener.begins(batch.page)
            if open == nil { replay = PageReplay(from: state) }
            replay.add(batch)
            if let state = try addOrReplay(batch) { listener.committed(state, batch.page) }
        } catch {
            open?.rollback()
            open = nil
            let reason = kept(of: error)
            failure = reason
            onFailure()
            throw reason
        }
    }

    /// Tells the store that the scan begins, if that is due.
    func beginScan() throws {
        guard begins else { return }
        try store.beginScan(target.scope, afterPage: nil)
        begins = false
    }

    /// Imports the only batch of a scan as a part of a transaction, which the caller commits or rolls back.
    ///
    /// If it is rolled back, call ``takeBackShared(to:)`` with the state before.
    func addShared(_ batch: PreparedBatch, to transaction: any PageTransaction) throws {
        shared = transaction
        defer { shared = nil }
        do {
            _ = try add(batch)
        } catch {
            open = nil
            throw error
        }
    }

    /// Goes back to the state before a page whose shared transaction was rolled back.
    func takeBackShared(to before: State) {
        (state, recordsInPage, keysInPage) = (before, 0, [])
        quarantine.startOver()
    }

    /// Keeps the first records of a page with too many faulty ones; returns the error for the scan.
    private func kept(of error: any Error) -> any Error {
        guard let overflow = error as? QuarantineOverflow else { return error }
        do {
            let page = try beginPage()
            page.quarantineRoom = nil
            do {
                try page.keep(overflow.samples)
            } catch {
                page.rollback()
                throw error
            }
            try page.commitKeepingProgress()
        } catch {
            return error
        }
        return QuarantineFull(overflow, limit: quarantine.limit)
    }

    /// Imports a batch; if that fails for a transient reason, imports the page's batches again in a new transaction.
    private func addOrReplay(_ batch: PreparedBatch) throws -> State? {
        observer?.received(page: state.page + 1, records: batch.received)
        do {
            return try add(batch)
        } catch let error as StoreError where error.isTransient {
            guard let (before, batches) = replay.content else { throw error }
            TransientRetry.usual.pause(after: 1)
            return try TransientRetry.usual.run {
                open?.rollback()
                (open, state, recordsInPage, keysInPage) = (nil, before, 0, [])
                var ended: State?
                for batch in batches { ended = try add(batch) }
                return ended
            }
        }
    }

    /// Imports a batch, and returns the state if the batch ends a page.
    private func add(_ batch: PreparedBatch) throws -> State? {
        let info = batch.page
        let page = try open ?? beginPage()
        open = page
        if let (content, count) = batch.records {
            try add(content, to: page, location: info.location)
            recordsInPage += count
            keysInPage += batch.keys
        }
        if let deleted = batch.deleted { try page.delete(deleted, location: info.location) }
        for rejected in info.rejected {
            recordsInPage += 1
            try page.reject(
                record: rejected.index, reason: rejected.reason, representation: rejected.representation,
                location: info.location)
        }
        if !info.skipped.isEmpty { try markSkipped(info.skipped, page) }
        guard info.pageEnd || info.end else { return nil }
        open = nil
        state.watermark = page.watermark ?? state.watermark
        state.watermark.endPage()
        state.late += page.lateRecords
        state.totals.add(info)
        state.badTombstones += page.badTombstones
        state.order.add(last: page.last, rises: page.rises)
        try commit(page, info)
        if state.endsAtKnown { isOver.withLock { $0 = true } }
        replay = PageReplay()
        quarantine.take(page)
        observer?.committed(page, number: state.page + 1, info)
        state.page += 1
        state.records += recordsInPage
        recordsInPage = 0
        state.keys += keysInPage
        keysInPage = []
        state.counts += page.counts
        return state
    }

    /// Commits a page with the state that the scan leaves: its position, or at its end the starting point of the next
    /// scan.
    private func commit(_ page: PageImport, _ reported: PageInfo) throws {
        let listing: SweepRule.Listing
        var info = reported
        if !info.end, info.pageEnd, state.order.hasPassed(request.known) {
            state.endsAtKnown = true
            // The bridge says only at the end of a listing whether its pages are identified by position.
            (info.end, info.complete, info.positional) = (true, true, state.page > 0)
        }
        switch extent {
        case .part where info.end:
            // Rows outside of the part are left to a scan over everything.
            _ = try page.commit(end: ScanEnd(defersSweep: true))
            return
        case .part, .pages: return try page.commitKeepingProgress()
        case .listing: listing = info.positional ? .first : .only
        case .confirmation: listing = .second
        }
        guard info.end else {
            return try page.commit(
                progress: info.cursor.map {
                    ScanProgress(
                        cursor: $0, page: state.page + 1, request: request.fingerprint, newest: state.watermark.settled,
                        began: began)
                })
        }
        state.isPositional = info.positional
        let rows = try listedRows(page, info)
        state.looksAgain = looksAgain(page, info, rows)
        var end = request.end(
            isComplete: info.complete, isUnchanged: info.unchanged, token: info.token,
            newest: info.positional ? look.known ?? state.watermark.settled : state.watermark.settled,
            isResumed: isResumed, hasParent: parent != nil, listing: listing)
        // The remote would not report the missed changes again.
        if state.looksAgain || state.badTombstones > 0 { end.cursor = nil }
        if state.skipsEverything || state.endsAtKnown { end.sweep = nil }
        let lacking = info.repeatsObjects ? LackingObjects() : try lacking(page, rows, sweeps: end.sweep != nil)
        if lacking.count > 0 {
            // The next scan would not request them.
            end.cursor = nil
            if isConfirmation { end.sweep = nil }
        }
        let sweep = try page.commit(end: end)
        state.sweep = sweep
        // A further scan shows whether they are still lacking.
        state.lacking = state.looksAgain || sweep.unconfirmed > 0 ? LackingObjects() : lacking
    }

    private var isConfirmation: Bool { if case .confirmation = extent { true } else { false } }

    /// The number of records of the entity that are in quarantine so far.
    private func quarantined(_ page: PageImport) -> Int {
        state.counts[target.entity].quarantined + page.counts[target.entity].quarantined
    }

    /// Returns the rows that a listing with pages by position, or the second of two, has listed; nil for others.
    private func listedRows(_ page: PageImport, _ info: PageInfo) throws -> ListedRows? {
        guard info.positional || isConfirmation, info.complete, !info.unchanged else { return nil }
        let rows = try page.listedRows()
        state.repeats = rows?.repeats ?? 0
        return rows
    }

    /// Returns the objects that the listing lacks because others came more than once, as happens if the remote sorts
    /// its pages by a value that is not unique.
    ///
    /// - Parameter sweeps: Whether rows that the listing lacks may be deleted.
    private func lacking(_ page: PageImport, _ rows: ListedRows?, sweeps: Bool) throws -> LackingObjects {
        guard let rows, rows.repeats > 0 else { return LackingObjects() }
        let records = state.records + recordsInPage
        let byTotal = LackingObjects(count: state.totals.lacking(rows, records: records), isByTotal: true)
        if isConfirmation, sweeps, byTotal.count > 0 { return byTotal }
        // A listing that has an object twice on one page has it so on purpose, and its total counts both.
        guard rows.repeatedOnPage == 0 else { return LackingObjects() }
        if isConfirmation, sweeps, !request.plan.isDivided, !state.totals.prove(rows, quarantined: quarantined(page)) {
            // Each place that a record took a second time may have cost another record its only one.
            let missing = try page.unconfirmedRows()
            if missing > 0, missing <= min(firstRepeats, rows.repeats) { return LackingObjects(count: missing) }
        }
        return !isResumed && state.totals.areReached(by: records) ? byTotal : LackingObjects()
    }

    /// Returns whether records may have moved between pages and been missed, which a scan for later changes would not
    /// return.
    private func looksAgain(_ page: PageImport, _ info: PageInfo, _ rows: ListedRows?) -> Bool {
        // Objects without a key would be duplicated with each scan.
        guard info.positional, info.complete, !info.unchanged, !model.entities[request.plan.index].key.isEmpty
        else { return false }
        let isWatched = if case .field? = request.plan.incremental { true } else { false }
        // The children of a parent that does not change are not requested again either.
        guard isWatched || parent?.state != nil else { return false }
        switch look {
        case .first:
            // With several pages a total proves nothing: it stays the same if as many are added as are removed.
            return isResumed || state.page > 0 || !state.totals.prove(rows, quarantined: quarantined(page))
        case .again where !isWatched:
            return state.counts[target.entity].inserted + page.counts[target.entity].inserted > 0
        case .again:
            // Objects that share a key change one row repeatedly: these are not missed records.
            return state.late > rows?.repeated ?? 0
        }
    }

    private func beginPage() throws -> PageImport {
        var origin = PageImport.Origin(bridge: request.plan.bridge, page: state.page + 1, scan: target)
        origin.source = request.plan.source?.name ?? ""
        origin.parent = parent?.text
        origin.replacesQuarantined = terms.fieldPaths == nil
        origin.listing = request.plan.memberListing
        if case .pages = extent { origin.listing = nil }
        if !extent.leavesNothing { origin.watched = request.plan.watched.map { ($0, state.watermark) } }
        origin.known = look.known?.local
        observer?.pageBegins()
        origin.redaction = redaction
        let page =
            if let shared {
                try PageImport(target.entity, of: model, from: origin, sharing: shared)
            } else {
                try PageImport(target.entity, of: model, from: origin, into: store)
            }
        page.insertionLimit = observer?.roomForInsertions ?? 0
        if let observer { page.listMetadata.room = observer.roomForMetadata }
        page.quarantineRoom = quarantine.room
        return page
    }

    private func markSkipped(_ skipped: [SkippedObjects], _ page: PageImport) throws {
        let layout = model.entities[target.entity]
        var rows: [SkippedRows] = []
        for objects in skipped {
            state.skipped.add(objects)
            guard !objects.field.isEmpty else {
                state.skipsEverything = true
                continue
            }
            guard let field = request.plan.field(ofRemote: objects.field, in: layout) else {
                state.unknownSkippedField = objects.field
                return try page.markSkipped(nil)
            }
            rows.append(SkippedRows(field: field, value: objects.value, isPrefix: objects.isPrefix))
        }
        if !rows.isEmpty { try page.markSkipped(rows) }
    }
}
