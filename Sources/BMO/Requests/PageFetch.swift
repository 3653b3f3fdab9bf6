internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import SQLiteStore

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
        var records = 0
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
        let writer = PageBatchWriter(self, acknowledged)
        do {
            let outcome = try await pages(of: stream, to: writer)
            await stream.close()
            return outcome
        } catch {
            await writer.takeBack()
            await stream.close()
            throw error
        }
    }

    private func pages(of stream: RecordStream, to writer: PageBatchWriter) async throws -> Outcome {
        while true {
            let fetched: FetchedBatch?
            do {
                fetched = try await stream.next()
            } catch {
                // Not `catch where`: Swift 6.3.1 crashes on it after a typed throw.
                guard error.breaksPage, error.isRetryable else { throw error }
                await writer.takeBack()
                try await stream.reopen()
                continue
            }
            guard let fetched else { return await writer.outcome(isAtEnd: true) }
            for warning in fetched.page.warnings { observer.warn(warning) }
            try Task.checkCancellation()
            guard try await writer.take(fetched) else { continue }
            let outcome = await writer.outcome(isAtEnd: fetched.page.end)
            if fetched.page.end || isSingle { return outcome }
            if let recordLimit, outcome.records >= recordLimit { return outcome }
        }
    }
}

/// Takes the batches of a ``PageFetch`` to the store.
private actor PageBatchWriter {
    private let fetch: PageFetch
    private let importer: Importing
    private var holdsGate = false

    init(_ fetch: PageFetch, _ acknowledged: Int64) {
        self.fetch = fetch
        importer = Importing(fetch, acknowledged)
    }

    /// Imports a batch; whether that ended a page, which is committed then.
    func take(_ fetched: FetchedBatch) async throws -> Bool {
        if !holdsGate {
            await fetch.session.gate.enter()
            holdsGate = true
        }
        do {
            let ended = try await fetch.session.thread.run { [importer] in try importer.take(fetched) }
            if ended { await leave() }
            return ended
        } catch {
            await takeBack()
            throw error
        }
    }

    func takeBack() async {
        guard holdsGate else { return }
        _ = try? await fetch.session.thread.run { [importer] in importer.takeBack() }
        await leave()
    }

    private func leave() async {
        holdsGate = false
        await fetch.session.gate.leave()
    }

    func outcome(isAtEnd: Bool) async -> PageFetch.Outcome {
        var outcome = (try? await fetch.session.thread.run { [importer] in importer.outcome }) ?? PageFetch.Outcome()
        outcome.isAtEnd = isAtEnd
        return outcome
    }

    /// The page that is open.
    final class Importing: @unchecked Sendable {
        // Touched on the session's import thread only, which runs one piece of work at a time.
        private let fetch: PageFetch
        private let mapper: Mapper
        private var open: PageImport?
        private var number = 0
        private var openKeys: [[StoredValue]] = []
        private var openRecords = 0
        private(set) var outcome = PageFetch.Outcome()

        init(_ fetch: PageFetch, _ acknowledged: Int64) {
            self.fetch = fetch
            outcome.acknowledged = acknowledged
            mapper = Mapper(fetch.session.workspace.model)
        }

        func take(_ fetched: FetchedBatch) throws -> Bool {
            let info = fetched.page
            let page = try open ?? begin()
            open = page
            fetch.observer.received(page: number + 1, records: fetched.records?.count ?? 0)
            if let records = fetched.records {
                try page.add(records, location: info.location, plan: fetch.plan.mapping)
                if fetch.keepsOrder {
                    for index in 0..<records.count {
                        if let key = mapper.key(of: records[index], as: fetch.plan.mapping) { openKeys.append(key) }
                    }
                }
                openRecords += records.count
            }
            for rejected in info.rejected {
                try page.reject(
                    record: rejected.index, reason: rejected.reason, representation: rejected.representation,
                    location: info.location)
            }
            guard info.pageEnd || info.end else { return false }
            open = nil
            try page.commitKeepingProgress()
            number += 1
            outcome.keys += openKeys
            outcome.records += openRecords
            outcome.cursor = info.end ? nil : info.cursor
            openKeys = []
            openRecords = 0
            fetch.observer.committed(page, number: number, info)
            return true
        }

        private func begin() throws -> PageImport {
            let plan = fetch.plan
            let target = WalkTarget(
                scope: WalkScope(entity: plan.entity.name, source: "request"), entity: plan.index, isListing: false,
                acknowledged: outcome.acknowledged)
            fetch.observer.pageBegins()
            let page = try PageImport(
                plan.index, of: fetch.session.workspace.model,
                from: PageImport.Origin(bridge: plan.bridge, page: number + 1, walk: target), mapper: mapper,
                into: fetch.session.store)
            page.insertionLimit = fetch.observer.roomForInsertions
            return page
        }

        func takeBack() {
            open?.rollback()
            open = nil
            openKeys = []
            openRecords = 0
        }
    }
}
