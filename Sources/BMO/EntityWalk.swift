internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import SQLiteStore

/// The walk over one entity: fetch, import, commit, until the end or the first thing that fails.
struct EntityWalk {
    let workspace: Workspace
    let store: SQLiteStore
    let connections: Connections
    let thread: ImportThread
    let gate: PageGate
    let entity: Entity
    let index: Int
    let restart: Bool
    let report: @Sendable (SyncEvent) -> Void

    /// Never throws: what happened is in the result, with the counts of all entities that the walk touched.
    func run() async -> (entity: SyncReport.Entity, counts: ImportCounts) {
        let clock = ContinuousClock()
        let start = clock.now
        var result = SyncReport.Entity(
            name: entity.name, bridge: entity.bridge, outcome: .finished, pages: 0, resumedAfterPage: nil,
            counts: ImportCounts.Entity(), warnings: [], duration: .zero)
        var counts = ImportCounts(entityCount: workspace.model.entities.count)
        var page = 0
        do {
            do {
                try await walk(&result, &counts, &page, start, fromBeginning: restart)
            } catch let refusal as ResumeRefused {
                let words =
                    "the walk cannot go on after page \(page - 1) (\(refusal.reason)); it begins at the beginning"
                result.warnings.append(words)
                result.resumedAfterPage = nil
                report(.warning(entity: entity.name, message: words))
                try await walk(&result, &counts, &page, start, fromBeginning: true)
            }
            // The records of a listing may all be of sub-entities.
            let own = counts.sum(of: workspace.model.family(of: index))
            if own.quarantined > 0, own.inserted + own.updated + own.unchanged == 0 {
                throw NothingFits(count: own.quarantined)
            }
        } catch {
            result.outcome = outcome(error, page: page)
        }
        result.counts = counts[index]
        result.duration = clock.now - start
        report(.ended(result))
        return (result, counts)
    }

    private func outcome(_ error: any Error, page: Int) -> SyncReport.Entity.Outcome {
        if Task.isCancelled || error is CancellationError { return .interrupted }
        if let failure = error as? BridgeFailure, failure.code == .cancelled { return .interrupted }
        return .failed(SyncFailure(error, entity: entity, page: page > 0 ? page : nil))
    }

    private func walk(
        _ result: inout SyncReport.Entity, _ counts: inout ImportCounts, _ page: inout Int,
        _ start: ContinuousClock.Instant, fromBeginning: Bool
    ) async throws {
        let began = Clock.now()
        var encoder = ConfigEncoder(directory: workspace.configuration.directory)
        let section = try encoder.batch(entity.section)
        let request = self.request
        let saved = try await thread.run { [store, entity] in try store.progress(of: entity.name) }
        // A resume point belongs to the request that it came from.
        let progress = fromBeginning || saved?.request != request ? nil : saved
        if saved != nil, progress == nil { try await forgetProgress() }
        result.resumedAfterPage = progress?.page
        report(.began(entity: entity.name, bridge: entity.bridge, resumedAfterPage: progress?.page))

        let connection = try await connections.connection(for: entity.bridge)
        page = (progress?.page ?? 0) + 1
        let stream: RecordStream
        do {
            stream = try await connection.fetch(
                FetchRequest(entity: entity.name, section: section, cursor: progress?.cursor))
        } catch {
            if progress != nil, error.blamesCursor { throw ResumeRefused(error) }
            throw error
        }
        let writer = PageWriter(
            workspace, store, entity: index, request: request, thread: thread, gate: gate, firstPage: page - 1)
        var isComplete = false
        do {
            while let fetched = try await next(stream, writer) {
                isComplete = fetched.page.complete
                for warning in fetched.page.warnings {
                    result.warnings.append(warning)
                    report(.warning(entity: entity.name, message: warning))
                }
                guard let state = try await writer.take(fetched) else { continue }
                result.pages += 1
                counts = state.counts
                report(
                    .page(
                        SyncEvent.PageEvent(
                            entity: entity.name, page: state.page, records: state.records, total: fetched.page.total,
                            counts: state.counts[index], elapsed: ContinuousClock.now - start)))
                page = state.page + 1
            }
        } catch {
            await writer.takeBack()
            await stream.close()
            if progress != nil, result.pages == 0, let failure = error as? BridgeFailure, failure.blamesCursor {
                throw ResumeRefused(failure)
            }
            throw error
        }
        await stream.close()
        // What a walk did not look at may still be bad.
        if progress == nil, isComplete {
            // Through the gate: an open page of another walk would take this into its own transaction.
            try await gate.pass {
                try await thread.run { [store, entity] in
                    try store.releaseQuarantine(of: entity.name, notSeenSince: began)
                }
            }
        }
    }

    /// What the walk asks for and what becomes of it, as the config has it: secrets are named and not told.
    ///
    /// A resume point is good for just this: after a change of the url or of the mapping, the pages before it are others.
    private var request: String {
        let bridge = workspace.configuration.bridge(named: entity.bridge)
        return "\(bridge?.plugin ?? "") \(bridge?.options.json ?? "") \(entity.section.json) "
            + "mapping \(MappingFingerprint.text(of: workspace.model.model))"
    }

    private func forgetProgress() async throws {
        try await gate.pass {
            try await thread.run { [store, entity] in try store.forgetProgress(of: entity.name) }
        }
    }

    /// The next batch; a page that broke in its middle is taken back and fetched again.
    private func next(_ stream: RecordStream, _ writer: PageWriter) async throws -> FetchedBatch? {
        while true {
            do {
                return try await stream.next()
            } catch {
                // Not `catch where`: Swift 6.3.1 crashes on it after a typed throw.
                guard error.breaksPage, error.isRetryable else { throw error }
                await writer.takeBack()
                try await stream.reopen()
            }
        }
    }
}

extension SyncFailure {
    /// An error on its way to the user, whatever threw it.
    init(_ error: any Error, entity: Entity, page: Int?) {
        self.init(
            entity: entity.name, bridge: entity.bridge, page: page, code: "internal", message: "\(error)",
            remedy: nil, location: nil, remote: nil)
        switch error {
        case let failure as BridgeFailure:
            code = failure.code.rawValue
            message = failure.message
            remedy = failure.remedy
            location = failure.location
            remote = failure.remote
        case let failure as StoreError:
            code = "database"
            message = failure.message
            remedy = failure.remedy
        case let failure as SecretError:
            code = "configuration"
            message = failure.message
            remedy = failure.remedy
        case is NothingFits:
            code = "quarantine"
            remedy = "`bmo quarantine \(entity.name)` shows why"
        default: break
        }
    }
}

extension BridgeFailure {
    /// Whether a resume point that is no good any more may be the reason.
    fileprivate var blamesCursor: Bool {
        !isRetryable && [.notFound, .remote, .configuration, .malformed, .conflict].contains(code)
    }
}

/// The first page after a resume point failed in a way that the point may be the reason of.
private struct ResumeRefused: Error {
    let reason: String

    init(_ failure: BridgeFailure) { reason = "\(failure.code.rawValue): \(failure.message)" }
}

/// All records of a walk went to quarantine: that is no success.
private struct NothingFits: Error, CustomStringConvertible {
    let count: Int

    var description: String {
        count == 1 ? "the only record could not be imported" : "none of the \(count) records could be imported"
    }
}

/// The connections of a sync: one per bridge, made when first wanted.
actor Connections {
    private let workspace: Workspace
    private var tasks: [String: Task<BridgeConnection, any Error>] = [:]

    init(_ workspace: Workspace) {
        self.workspace = workspace
    }

    func connection(for bridge: String) async throws -> BridgeConnection {
        if let task = tasks[bridge] { return try await Self.value(of: task) }
        guard let configuration = workspace.configuration.bridge(named: bridge) else {
            throw BridgeFailure(.configuration, "the config has no bridge `\(bridge)`", bridge: bridge)
        }
        let task = Task { [workspace] in try await workspace.connect(to: configuration) }
        tasks[bridge] = task
        return try await Self.value(of: task)
    }

    /// What ends one walk ends all: a connection that is being made is given up with it.
    private static func value(of task: Task<BridgeConnection, any Error>) async throws -> BridgeConnection {
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    func close() async {
        for task in tasks.values {
            if let connection = try? await task.value { await connection.close() }
        }
        tasks = [:]
    }
}
