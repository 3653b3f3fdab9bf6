internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import SQLiteStore
internal import Synchronization

/// Some pages of an entity, by filters or from a cursor on: each is imported and committed, and says nothing about what did
/// not come.
struct PageFetch: Sendable {
    let plan: WalkPlan
    let session: ImportSession
    let observer: PageObserver
    var filters: [FetchRequest.Filter] = []
    var cursor: String?
    var pageSize: Int?
    /// Ends after so many records, with the page that has the last of them.
    var recordLimit: Int?
    /// Ends after one page.
    var isSingle = false
    /// Whether the objects' keys are wanted, in the order of the records.
    var keepsOrder = false

    /// What came.
    struct Outcome: Sendable {
        /// The keys of the records' objects, in their order; those of records that were put aside are not among them.
        var keys: [[StoredValue]] = []
        /// Where the next page begins; nil when there is none, or the bridge cannot begin there.
        var cursor: String?
        /// Whether the last page came.
        var isAtEnd = false
        /// The newest edit that the remote had taken when it was asked; see ``WalkTarget``.
        var acknowledged: Int64 = 0
    }

    /// - Throws: What the bridge or the store throws; the pages before are in.
    func run() async throws -> Outcome {
        let connection = try await session.connections.connection(for: plan.bridge)
        observer.contacting(plan.bridge)
        let acknowledged = try await session.thread.run { [session] in try session.store.newestAcknowledged() }
        var fetch = FetchRequest(
            entity: plan.entity.name, section: plan.section, cursor: cursor, pageSize: pageSize)
        fetch.filters = filters
        fetch.prefetches = !isSingle
        let stream = try await connection.fetch(fetch)
        let writer = PageWriter(
            .pages(keepsKeys: keepsOrder), of: WalkRequest(plan, saved: nil, isFull: true, ignoresBrake: false),
            session.context(observer), acknowledged: acknowledged)
        return try await pages(of: stream, to: writer, acknowledged)
    }

    private func pages(
        of stream: RecordStream, to writer: PageWriter, _ acknowledged: Int64
    ) async throws -> Outcome {
        let outcome = Mutex(Outcome(acknowledged: acknowledged))
        let listener = PageWriter.Listener(
            begins: { [observer] page in for warning in page.warnings { observer.warn(warning) } },
            committed: { state, page in
                outcome.withLock { outcome in
                    outcome.keys = state.keys
                    outcome.cursor = page.end ? nil : page.cursor
                    outcome.isAtEnd = page.end
                }
            })
        try await writer.importAll(
            of: stream, listener, until: { records in isSingle || recordLimit.map { records >= $0 } ?? false })
        return outcome.withLock { $0 }
    }
}
