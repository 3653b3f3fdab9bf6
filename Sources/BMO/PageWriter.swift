internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import SQLiteStore

/// Takes the batches of one walk to the store: page by page, on the import thread.
final class PageWriter: @unchecked Sendable {
    // `holdsGate` belongs to the task of the walk; all other state is touched on `thread` only, which runs one piece of
    // work at a time, and the task waits for it.
    private let model: CompiledModel
    private let entity: Int
    private let bridge: String
    private let request: String
    private let store: SQLiteStore
    private let thread: ImportThread
    private let gate: PageGate
    private let mapper: Mapper
    private var open: PageImport?
    private var holdsGate = false

    /// What the walk did so far.
    struct State: Sendable {
        var page = 0
        var records = 0
        var counts: ImportCounts
    }

    private var state: State
    private var recordsInPage = 0

    init(
        _ workspace: Workspace, _ store: SQLiteStore, entity: Int, request: String, thread: ImportThread,
        gate: PageGate, firstPage: Int
    ) {
        model = workspace.model
        self.entity = entity
        bridge = workspace.model.model.entities[entity].bridge
        self.request = request
        self.store = store
        self.thread = thread
        self.gate = gate
        mapper = Mapper(workspace.model)
        state = State(page: firstPage, counts: ImportCounts(entityCount: workspace.model.entities.count))
    }

    /// Imports a batch, and commits when it ends a page; returns the state after a page.
    func take(_ fetched: FetchedBatch) async throws -> State? {
        if !holdsGate {
            await gate.enter()
            holdsGate = true
        }
        do {
            let ended = try await thread.run { try self.importBatch(fetched) }
            if ended != nil { await leaveGate() }
            return ended
        } catch {
            await takeBack()
            throw error
        }
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

    private func importBatch(_ fetched: FetchedBatch) throws -> State? {
        let page =
            try open
            ?? PageImport(
                entity, of: model, from: PageImport.Origin(bridge: bridge, page: state.page + 1), mapper: mapper,
                into: store)
        open = page
        if let records = fetched.records {
            try page.add(records, location: fetched.page.location)
            recordsInPage += records.count
        }
        for rejected in fetched.page.rejected {
            recordsInPage += 1
            try page.reject(
                record: rejected.index, reason: rejected.reason, representation: rejected.representation,
                location: fetched.page.location)
        }
        guard fetched.page.pageEnd || fetched.page.end else { return nil }
        let progress =
            fetched.page.end
            ? nil
            : fetched.page.cursor.map {
                WalkProgress(cursor: $0, page: state.page + 1, request: request)
            }
        open = nil
        try page.commit(progress: progress)
        state.page += 1
        state.records += recordsInPage
        recordsInPage = 0
        state.counts += page.counts
        return state
    }
}
