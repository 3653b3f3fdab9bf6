internal import BMO
internal import Mapping
internal import RecordBatch
internal import StoreContract
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
        /// The number of rows that a held sweep would have deleted; nil if an older version of bmo made the report.
        let heldDeletions: Int?

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
    /// Whether the numbers of rows are those of a moment ago, and are being counted again.
    var isCounting = false

    func status(of entity: String) -> EntityStatus? { entities.first { $0.name == entity } }

    /// The edits that need a decision, in order.
    var undecided: [OutboxEntry] { outbox.filter { [.refused, .unknown, .conflict].contains($0.state) } }

    /// - Parameter entities: The entities as counted before; nil counts them.
    init(_ store: any Store, entities: [EntityStatus]? = nil) throws {
        let entities = try entities ?? store.status()
        self.entities = entities
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
                        code: error?["code"]?.text, message: error?["message"]?.text, remedy: error?["remedy"]?.text,
                        heldDeletions: error?["held"]?.integer.map { Int($0) })
                )
            }
        }
    }
}

/// The overview, which is read again only after the database has changed.
///
/// Counting the rows scans an index of each table. In a large database it happens beside the pages, which show the earlier
/// numbers until it is done.
final class KeptOverview: Sendable {
    private struct Kept: Sendable {
        let store: any Store
        let file: FileIdentity?
        /// The database's version when the overview was read.
        var version: Int64
        /// The version when the rows were counted.
        var counted: Int64
        var overview: DatabaseOverview
        /// Whether the rows are being counted.
        var isCounting = false
    }

    private let workspace: Workspace
    private let readers: StoreReaders
    private let countedAtOnce: Int
    private let kept = Mutex<Kept?>(nil)

    /// - Parameter countedAtOnce: The number of rows up to which a page waits for their count.
    init(_ workspace: Workspace, _ readers: StoreReaders, countedAtOnce: Int = 100_000) {
        self.workspace = workspace
        self.readers = readers
        self.countedAtOnce = countedAtOnce
    }

    /// Returns the overview of the current state; its rows may be those of a moment ago, which it says.
    ///
    /// - Throws: ``PageFailure`` if the database does not exist; `StoreError`.
    func now() async throws -> DatabaseOverview {
        let (overview, counts) = try await readers.run { [self] in try nowHere() }
        if let version = counts { Task { await count(at: version) } }
        return overview
    }

    /// Returns the overview, and the version whose rows the caller has to count.
    private func nowHere() throws -> (DatabaseOverview, counts: Int64?) {
        let path = workspace.configuration.databasePath
        return try kept.withLock { kept in
            if let old = kept, old.file != FileIdentity(path) {
                try? old.store.close()
                kept = nil
            }
            guard var now = kept else {
                let first = try opened(path)
                kept = first
                return (first.overview, nil)
            }
            let version = try now.store.dataVersion()
            if version != now.version {
                let isLarge = now.overview.entities.reduce(0) { $0 + $1.rows } > countedAtOnce
                now.overview = try DatabaseOverview(now.store, entities: isLarge ? now.overview.entities : nil)
                now.version = version
                if !isLarge { now.counted = version }
            }
            now.overview.isCounting = now.counted != version
            let counts = now.overview.isCounting && !now.isCounting ? version : nil
            if counts != nil { now.isCounting = true }
            kept = now
            return (now.overview, counts)
        }
    }

    private func opened(_ path: String) throws -> Kept {
        guard workspace.stores.exists(path) else { throw PageFailure.noDatabase }
        let file = FileIdentity(path)
        let store = try workspace.openStoreForReading()
        let version = try store.dataVersion()
        let overview = try DatabaseOverview(store)
        return Kept(store: store, file: file, version: version, counted: version, overview: overview)
    }

    /// Counts the rows, for the pages after this one.
    private func count(at version: Int64) async {
        let file = kept.withLock { $0?.file }
        // The next page tries again after an error.
        let entities = try? await readers.read { try $0.status() }
        kept.withLock { kept in
            guard kept?.file == file else { return }
            kept?.isCounting = false
            guard let entities else { return }
            kept?.overview.entities = entities
            kept?.counted = version
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
