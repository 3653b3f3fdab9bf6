internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import SQLiteStore

/// Takes the batches of one walk to the store: page by page, on the import thread.
final class PageWriter: @unchecked Sendable {
    // `holdsGate`, `recordsHandedOver`, `recordsOfOpenPage`, `mapper` and what `extent` has belong to the task of the walk;
    // `open`, `failure`, `state`, `recordsInPage` and `keysInPage` are touched on `thread` only, which runs one piece of work at
    // a time.
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
    private let extent: Extent
    private let observer: PageObserver?
    private var open: PageImport?
    private var holdsGate = false
    /// How many records the pages had that were handed over to their end.
    private(set) var recordsHandedOver = 0
    private var recordsOfOpenPage = 0
    /// Why nothing more of this walk goes in.
    private var failure: (any Error)?

    /// How much of a listing the walk brings, and so what it may say about the rest.
    enum Extent {
        /// All of it, or what moved since an earlier walk.
        case listing
        /// All of it once more: a row has to be missing in this one too before it is deleted.
        case confirmation
        /// What meets conditions; it leaves nothing for the next walk.
        case part(RecordFilter)
        /// The pages that a request asked for, which leave nothing either; with the keys of their objects or without.
        case pages(keepsKeys: Bool)

        /// Whether the next walk goes on as if this one had not been.
        var leavesNothing: Bool {
            switch self {
            case .listing, .confirmation: false
            case .part, .pages: true
            }
        }
    }

    /// What the walk did so far.
    struct State: Sendable {
        var page = 0
        var records = 0
        /// The keys of the records' objects, in their order, where they are wanted; those of records that were put aside are
        /// not among them.
        var keys: [[StoredValue]] = []
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

    /// When the walk began with its first page.
    private let began: String
    private var state: State
    private var recordsInPage = 0
    private var keysInPage: [[StoredValue]] = []

    /// - Parameter acknowledged: The newest edit that the remote had taken when the walk began; see ``WalkTarget``.
    init(
        _ extent: Extent, of request: WalkRequest, _ context: SyncContext, parent: ParentObject? = nil,
        after progress: WalkProgress? = nil, acknowledged: Int64
    ) {
        self.extent = extent
        let plan = request.plan
        model = context.workspace.model
        self.request = request
        self.parent = parent
        isResumed = progress != nil
        began = progress?.began ?? request.began
        target =
            if case .pages = extent {
                plan.target(ofRequestAfter: acknowledged)
            } else {
                WalkTarget(
                    scope: plan.scope(parent: parent), entity: plan.index, isListing: plan.isListing,
                    parent: parent.flatMap { parent in parent.relationship.map { ($0, parent.key) } },
                    acknowledged: acknowledged)
            }
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
    }

    /// What became of a batch.
    typealias Job = Promise<Result<Void, any Error>>

    /// A batch with its records mapped.
    private struct Prepared: Sendable {
        let page: PageInfo
        let received: Int
        var records: (mapped: MappedBatch, count: Int)?
        var deleted: MappedBatch?
        var keys: [[StoredValue]] = []

        /// Whether the bridge only says that it is at work.
        var isNothing: Bool {
            !page.pageEnd && !page.end && records == nil && deleted == nil && page.rejected.isEmpty
                && page.spared.isEmpty
                && page.warnings.isEmpty
        }
    }

    /// Maps a batch and hands it to the import thread, which commits when it ends a page; does not wait for that.
    ///
    /// After a batch that failed all others fail, and nothing of its page stays.
    ///
    /// - Parameter onFailure: Is called when the batch did not go in.
    func start(
        _ fetched: FetchedBatch, _ listener: Listener, onFailure: @escaping @Sendable () -> Void
    ) async throws -> Job {
        // Here, where another batch may be on its way into the store meanwhile.
        let batch = try prepare(fetched)
        if !holdsGate, batch.isNothing {
            // No page begins yet, which would keep all others from theirs: the bridge is still looking.
            let job = Job()
            job.fulfil(.success(()))
            return job
        }
        if !holdsGate {
            await gate.enter()
            holdsGate = true
        }
        let job = thread.start { try self.importBatch(batch, listener, onFailure) }
        recordsOfOpenPage += batch.received
        if batch.page.pageEnd || batch.page.end {
            recordsHandedOver += recordsOfOpenPage
            recordsOfOpenPage = 0
            await leaveGate()
        }
        return job
    }

    private func prepare(_ fetched: FetchedBatch) throws -> Prepared {
        var batch = Prepared(page: fetched.page, received: fetched.records?.count ?? 0)
        let plan = request.plan.mapping
        if let all = fetched.records {
            var records = all
            if case .part(let filter) = extent { records = try filter.passing(all, parent: parent?.key) }
            if case .pages(keepsKeys: true) = extent {
                batch.keys = (0..<records.count).compactMap { mapper.key(of: records[$0], as: plan) }
            }
            batch.records = (MappedBatch(records, by: mapper, as: plan, parent: parent?.key), records.count)
        }
        if let deleted = fetched.page.deleted, target.isListing, request.plan.policy.mode != .ignore {
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
            self.keysInPage = []
        }
        recordsOfOpenPage = 0
        await leaveGate()
    }

    private func leaveGate() async {
        holdsGate = false
        await gate.leave()
    }

    private func importBatch(_ batch: Prepared, _ listener: Listener, _ onFailure: () -> Void) throws {
        if let failure { throw failure }
        do {
            listener.begins(batch.page)
            if let state = try add(batch) { listener.committed(state, batch.page) }
        } catch {
            open?.rollback()
            open = nil
            failure = error
            onFailure()
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
            keysInPage += batch.keys
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
        try commit(page, info)
        observer?.committed(page, number: state.page + 1, info)
        state.page += 1
        state.records += recordsInPage
        recordsInPage = 0
        state.keys += keysInPage
        keysInPage = []
        state.counts += page.counts
        return state
    }

    /// Commits a page with what the walk leaves: its place, or at its end what the next one goes on from.
    private func commit(_ page: PageImport, _ info: PageInfo) throws {
        let listing: SweepRule.Listing
        switch extent {
        case .part, .pages: return try page.commitKeepingProgress()
        case .listing: listing = info.positional ? .first : .only
        case .confirmation: listing = .second
        }
        guard info.end else {
            return try page.commit(
                progress: info.cursor.map {
                    WalkProgress(
                        cursor: $0, page: state.page + 1, request: request.fingerprint, newest: state.newest,
                        began: began)
                })
        }
        var end = request.end(
            isComplete: info.complete, isUnchanged: info.unchanged, token: info.token, newest: state.newest,
            isResumed: isResumed, hasParent: parent != nil, listing: listing)
        if state.sparesEverything { end.sweep = nil }
        state.sweep = try page.commit(end: end)
    }

    private func beginPage() throws -> PageImport {
        var origin = PageImport.Origin(bridge: request.plan.bridge, page: state.page + 1, walk: target)
        if !extent.leavesNothing { origin.watched = request.plan.watched.map { ($0, limit) } }
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
