internal import BMO
internal import Mapping
internal import RecordBatch
internal import StoreContract
internal import Synchronization
internal import SystemCalls

/// The state of the whole database; each page shows a part of it.
struct DatabaseOverview: Sendable {
    /// What the newest recorded sync reported about an entity.
    struct EntityReport: Sendable {
        let run: Int64
        let outcome: String
        let isIncomplete: Bool
        /// The kind of failure, such as `brake`; nil without one.
        let code: String?
        let message: String?
        let remedy: String?

        /// Whether the sync deleted nothing because it would have exceeded the deletion limit.
        var isHeld: Bool { code == "brake" }
    }

    /// The number of runs that are read.
    static let runLimit = 100

    var entities: [EntityStatus]
    var cursors: [ScanCursor?]
    var runs: [RunRecord]
    var reports: [String: EntityReport]
    var outbox: [OutboxEntry]
    var conflicts: Int

    func status(of entity: String) -> EntityStatus? { entities.first { $0.name == entity } }

    /// The edits that need a decision, in order.
    var undecided: [OutboxEntry] { outbox.filter { [.refused, .unknown, .conflict].contains($0.state) } }

    init(_ store: any Store) throws {
        entities = try store.status()
        cursors = try entities.map { try store.cursor(of: ScanScope(entity: $0.name)) }
        runs = try store.runs(limit: Self.runLimit)
        outbox = try store.outbox()
        conflicts = try store.conflicts().count
        reports = [:]
        for run in runs where run.kind == "sync" {
            for (entity, report) in Self.reports(in: run) where reports[entity] == nil { reports[entity] = report }
        }
    }

    private static func reports(in run: RunRecord) -> [(String, EntityReport)] {
        guard let summary = run.summary, let batch = try? JSONParser.batch(summary), batch.count == 1 else { return [] }
        return withExtendedLifetime(batch) {
            (batch[0]["entities"]?.elements ?? []).compactMap { entity in
                guard let name = entity["entity"]?.text, let outcome = entity["outcome"]?.text else { return nil }
                let error = entity["error"]
                return (
                    name,
                    EntityReport(
                        run: run.id, outcome: outcome, isIncomplete: entity["incomplete"]?.bool ?? false,
                        code: error?["code"]?.text, message: error?["message"]?.text, remedy: error?["remedy"]?.text)
                )
            }
        }
    }
}

/// The overview, which is read again only after the database has changed.
///
/// Counting the rows scans an index of each table; the database's version shows whether the counts are still valid.
final class KeptOverview: Sendable {
    private struct Kept: Sendable {
        let store: any Store
        let file: FileIdentity?
        var version: Int64
        var overview: DatabaseOverview
    }

    private let workspace: Workspace
    private let readers: StoreReaders
    private let kept = Mutex<Kept?>(nil)

    init(_ workspace: Workspace, _ readers: StoreReaders) {
        self.workspace = workspace
        self.readers = readers
    }

    /// Returns the overview of the current state.
    ///
    /// - Throws: ``PageFailure`` if the database does not exist; `StoreError`.
    func now() async throws -> DatabaseOverview { try await readers.run { [self] in try nowHere() } }

    private func nowHere() throws -> DatabaseOverview {
        let path = workspace.configuration.databasePath
        return try kept.withLock { kept in
            if let old = kept, old.file != FileIdentity(path) {
                try? old.store.close()
                kept = nil
            }
            if var old = kept {
                let version = try old.store.dataVersion()
                guard version != old.version else { return old.overview }
                old.overview = try DatabaseOverview(old.store)
                old.version = version
                kept = old
                return old.overview
            }
            guard workspace.stores.exists(path) else { throw PageFailure.noDatabase }
            let file = FileIdentity(path)
            let store = try workspace.openStoreForReading()
            let version = try store.dataVersion()
            let overview = try DatabaseOverview(store)
            kept = Kept(store: store, file: file, version: version, overview: overview)
            return overview
        }
    }

    /// Closes the store.
    func close() {
        kept.withLock { kept in
            try? kept?.store.close()
            kept = nil
        }
    }
}
