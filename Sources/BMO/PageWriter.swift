internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import SQLiteStore

/// Takes the batches of one walk to the store: page by page, on the import thread.
final class PageWriter: @unchecked Sendable {
    // `holdsGate`, `mapper` and `filter` belong to the task of the walk; `open`, `failure`, `state` and `recordsInPage` are
    // touched on `thread` only, which runs one piece of work at a time.
    private let model: CompiledModel
    private let request: WalkRequest
    private let target: WalkTarget
    private let parent: ParentObject?
    private let isResumed: Bool
    private let limit: StoredValue?
    private let store: SQLiteStore
    private let thread: ImportThread
    private let gate: PageGate
    private let mapper: Mapper
    /// What a walk over a part of the listing wants; such a walk leaves nothing for the next one.
    private let filter: RecordFilter?
    private let observer: PageObserver?
    private var open: PageImport?
    private var holdsGate = false
    /// Why nothing more of this walk goes in.
    private var failure: (any Error)?

    /// What the walk did so far.
    struct State: Sendable {
        var page = 0
        var records = 0
        var counts: ImportCounts
        /// The newest value of the watched field.
        var newest: Watermark?
        /// Values of the watched field that are too far ahead to be true.
        var valuesBeyondLimit = 0
        /// What became of the rows that the listing lacked, after the last page.
        var sweep: SweepResult?
        /// The bridge says nothing about what the listing lacks.
        var sparesEverything = false
        /// Objects that the bridge passed by, by a field that no attribute has as it is.
        var unknownSparedField: String?
        /// What was passed by.
        var spared = SparedRecords()
    }

    private let confirms: Bool
    /// When the walk began with its first page.
    private let began: String
    private var state: State
    private var recordsInPage = 0

    /// - Parameters:
    ///   - acknowledged: The newest edit that the remote had taken when the walk began; see ``WalkTarget``.
    ///   - confirms: The walk is the second one, which has to lack a row too before that is deleted.
    init(
        _ request: WalkRequest, _ context: SyncContext, parent: ParentObject?, after progress: WalkProgress?,
        acknowledged: Int64, confirms: Bool, filter: RecordFilter? = nil
    ) {
        self.confirms = confirms
        self.filter = filter
        let plan = request.plan
        model = context.workspace.model
        self.request = request
        self.parent = parent
        isResumed = progress != nil
        began = progress?.began ?? request.began
        target = WalkTarget(
            scope: plan.scope(parent: parent), entity: plan.index, isListing: plan.isListing,
            parent: parent.flatMap { parent in parent.relationship.map { ($0, parent.key) } },
            acknowledged: acknowledged)
        limit = plan.watched?.limit(now: request.began)
        store = context.store
        thread = context.thread
        gate = context.gate
        observer = context.observer
        mapper = Mapper(model)
        state = State(
            page: progress?.page ?? 0, counts: ImportCounts(entityCount: model.entities.count),
            newest: progress?.newest)
    }

    /// Who is told of each batch on the import thread, in the order in which they go in.
    struct Listener: Sendable {
        /// A batch is about to be imported.
        let begins: @Sendable (PageInfo) -> Void
        /// A page is in.
        let committed: @Sendable (State, PageInfo) -> Void
        /// A batch did not go in, and none after it will.
        let failed: @Sendable () -> Void
    }

    /// What became of a batch.
    typealias Job = Promise<Result<Void, any Error>>

    /// A batch with its records mapped.
    private struct Prepared: Sendable {
        let page: PageInfo
        let received: Int
        var records: (mapped: MappedBatch, count: Int)?
        var deleted: MappedBatch?
    }

    /// Maps a batch and hands it to the import thread, which commits when it ends a page; does not wait for that.
    ///
    /// After a batch that failed all others fail, and nothing of its page stays.
    func start(_ fetched: FetchedBatch, _ listener: Listener) async throws -> Job {
        // Here, where another batch may be on its way into the store meanwhile.
        let batch = try prepare(fetched)
        if !holdsGate {
            await gate.enter()
            holdsGate = true
        }
        let job = thread.start { try self.importBatch(batch, listener) }
        if batch.page.pageEnd || batch.page.end { await leaveGate() }
        return job
    }

    private func prepare(_ fetched: FetchedBatch) throws -> Prepared {
        var batch = Prepared(page: fetched.page, received: fetched.records?.count ?? 0)
        let plan = request.plan.mapping
        if let all = fetched.records {
            let records = try filter?.passing(all, parent: parent?.key) ?? all
            batch.records = (MappedBatch(records, by: mapper, as: plan, parent: parent?.key), records.count)
        }
        if let deleted = fetched.page.deleted, request.plan.isListing, request.plan.policy.mode != .ignore {
            batch.deleted = MappedBatch(deleted, by: mapper, as: plan, parent: parent?.key)
        }
        return batch
    }

    /// Takes an open page back.
    func takeBack() async {
        guard holdsGate else { return }
        _ = try? await thread.run {
            self.open?.rollback()
            self.open = nil
            self.recordsInPage = 0
        }
        await leaveGate()
    }

    private func leaveGate() async {
        holdsGate = false
        await gate.leave()
    }

    private func importBatch(_ batch: Prepared, _ listener: Listener) throws {
        if let failure { throw failure }
        do {
            listener.begins(batch.page)
            if let state = try add(batch) { listener.committed(state, batch.page) }
        } catch {
            open?.rollback()
            open = nil
            failure = error
            listener.failed()
            throw error
        }
    }

    /// The state after a page that the batch ends.
    private func add(_ batch: Prepared) throws -> State? {
        let info = batch.page
        let page = try open ?? beginPage()
        open = page
        observer?.received(page: state.page + 1, records: batch.received)
        if let (mapped, count) = batch.records {
            try page.add(mapped, location: info.location)
            recordsInPage += count
        }
        if let deleted = batch.deleted { try page.delete(deleted, location: info.location) }
        for rejected in info.rejected {
            recordsInPage += 1
            try page.reject(
                record: rejected.index, reason: rejected.reason, representation: rejected.representation,
                location: info.location)
        }
        if !info.spared.isEmpty { try spare(info.spared, page) }
        guard info.pageEnd || info.end else { return nil }
        open = nil
        state.newest = Watermark.newer(state.newest, page.newest)
        state.valuesBeyondLimit += page.valuesBeyondLimit
        if filter != nil {
            try page.commitKeepingProgress()
        } else if info.end {
            var end = request.end(
                isComplete: info.complete, isUnchanged: info.unchanged, token: info.token, newest: state.newest,
                isResumed: isResumed, hasParent: parent != nil,
                listing: confirms ? .second : info.positional ? .first : .only)
            if state.sparesEverything { end.sweep = nil }
            state.sweep = try page.commit(end: end)
        } else {
            try page.commit(
                progress: info.cursor.map {
                    WalkProgress(
                        cursor: $0, page: state.page + 1, request: request.fingerprint, newest: state.newest,
                        began: began)
                })
        }
        observer?.committed(page, number: state.page + 1, info)
        state.page += 1
        state.records += recordsInPage
        recordsInPage = 0
        state.counts += page.counts
        return state
    }

    private func beginPage() throws -> PageImport {
        var origin = PageImport.Origin(bridge: request.plan.bridge, page: state.page + 1, walk: target)
        origin.watched = request.plan.watched.map { ($0, limit) }
        observer?.pageBegins()
        let page = try PageImport(target.entity, of: model, from: origin, into: store)
        page.insertionLimit = observer?.roomForInsertions ?? 0
        return page
    }

    private func spare(_ spared: [SparedObjects], _ page: PageImport) throws {
        let layout = model.entities[target.entity]
        var rows: [SparedRows] = []
        for objects in spared {
            state.spared.add(objects)
            guard !objects.field.isEmpty else {
                state.sparesEverything = true
                continue
            }
            guard let field = request.plan.field(ofRemote: objects.field, in: layout) else {
                state.unknownSparedField = objects.field
                return try page.spare(nil)
            }
            rows.append(SparedRows(field: field, value: objects.value, isPrefix: objects.isPrefix))
        }
        if !rows.isEmpty { try page.spare(rows) }
    }
}
