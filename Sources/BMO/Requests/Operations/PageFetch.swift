internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract
internal import SystemCalls

/// A fetch of some pages of an entity, by filters or from a cursor.
///
/// Each page is imported and committed; records that are absent from it are not deleted.
struct PageFetch: Sendable {
    let plan: ScanPlan
    let session: ImportSession
    let observer: RequestObserver
    var filters: [FetchRequest.Filter] = []
    var cursor: String?
    var pageSize: Int?
    /// What the request adds to the bridge's.
    var terms = ScanTerms()
    /// The number of records after which the fetch ends, with the page of the last of them.
    var recordLimit: Int?
    /// Whether it ends after one page.
    var isSingle = false
    /// Whether to return the objects' keys in the order of the records.
    var keepsOrder = false

    /// The result of a fetch.
    struct Outcome: Sendable {
        /// The keys of the records' objects, in their order, without those of quarantined records.
        var keys: [[StoredValue]] = []
        /// Where the pages began, as it was requested.
        var begin: String?
        /// Where the next page begins; nil after the last page, or where the bridge cannot begin there.
        var cursor: String?
        /// Whether the last page was received.
        var isAtEnd = false
        /// The newest edit that the remote had accepted when it was queried; see ``ScanTarget``.
        var acknowledged: Int64 = 0
    }

    /// Fetches and imports the pages.
    ///
    /// - Throws: Errors of the bridge or the store; earlier pages are committed.
    func run() async throws -> Outcome {
        try await session.refuseFaults(of: plan.index)
        let connection = try await session.connections.connection(for: plan.bridge)
        observer.contacting(plan.bridge)
        let (acknowledged, members) = try await session.thread.run { [session, plan] in
            (try session.store.newestAcknowledged(), try session.store.members(of: plan.memberListing))
        }
        var fetch = FetchRequest(
            entity: plan.entity.name, section: plan.section, cursor: cursor)
        fetch.filters = filters
        fetch.fieldPaths = plan.fieldPaths
        terms.apply(to: &fetch)
        if let pageSize { fetch.pageSize = pageSize }
        fetch.surroundings = plan.surroundings
        fetch.prefetches = !isSingle
        fetch.patience = plan.retryFor
        let stream = try await connection.fetch(fetch)
        var context = session.context(observer)
        context.terms = terms
        let writer = PageWriter(
            .pages(keepsKeys: keepsOrder), of: ScanRequest(plan, saved: nil, isFull: true),
            context, acknowledged: acknowledged, members: members)
        writer.redaction = connection.redaction
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
