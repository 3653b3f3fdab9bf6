internal import BridgeHost
internal import Importer
internal import Mapping
public import Model
public import SQLiteStore

extension Workspace {
    /// What a sync should do.
    public struct SyncOptions: Sendable {
        /// The entities to sync; nil is all.
        public var entities: [String]?
        /// Begins interrupted walks at their beginning.
        public var restart: Bool
        /// Asks for everything, also where `incremental` would ask for what changed.
        public var full: Bool
        /// Deletes what the listings lack, however much that is.
        public var allowsDeletes: Bool
        /// Only records that meet all these conditions are fetched and imported.
        ///
        /// Those that the configuration maps go to the API; all are checked before the import. Such a walk is a part of
        /// the listing: it deletes nothing, leaves no cursor, and asks no further source.
        public var conditions: [LocalCondition]
        /// How many entities are fetched at a time.
        public var concurrency: Int
        /// How long to wait for the database's lock, where the store does not have it yet.
        public var patience: FileLock.Patience

        /// The usual options.
        public init(
            entities: [String]? = nil, restart: Bool = false, full: Bool = false, allowsDeletes: Bool = false,
            conditions: [LocalCondition] = [], concurrency: Int = 4, patience: FileLock.Patience = .none
        ) {
            self.entities = entities
            self.restart = restart
            self.full = full
            self.allowsDeletes = allowsDeletes
            self.conditions = conditions
            self.concurrency = concurrency
            self.patience = patience
        }
    }

    /// Fetches entities through their bridges and imports them.
    ///
    /// Each page is committed with its place in the walk; what fails for one entity leaves the others alone. When the
    /// task is cancelled, open pages are taken back and the report says `interrupted`.
    ///
    /// - Parameters:
    ///   - store: The database; see ``openLockedStore(command:patience:onWait:)``. One without the lock of its file takes
    ///     it for the time of the sync.
    ///   - options: What to sync.
    ///   - report: Called for progress, from any thread.
    /// - Returns: What was done. A failed entity is in the report, not thrown.
    /// - Throws: ``StoreError``: `request` for a condition that makes no sense, before anything is asked; `busy` when another
    ///   process is writing the file; others when the run cannot be recorded.
    public func sync(
        into store: SQLiteStore, _ options: SyncOptions = SyncOptions(),
        report: @escaping @Sendable (SyncEvent) -> Void = { _ in }
    ) async throws -> SyncReport {
        for index in syncOrder(options.entities) { try check(options.conditions, on: index) }
        let lock =
            store.hasLock
            ? nil
            : try await FileLock.take(
                of: configuration.databasePath, command: Self.programName,
                patience: options.patience)
        defer { lock?.release() }
        let start = ContinuousClock.now
        let began = Clock.now()
        let connections = Connections(self)
        let thread = ImportThread()
        let context = SyncContext(
            workspace: self, store: store, connections: connections, thread: thread, gate: PageGate(),
            options: options, report: report)
        try await thread.run { try store.beginRun(kind: "sync") }
        let (walked, counts) = await walk(context)
        var results = walked
        await connections.close()
        do {
            try noteUnknownFields(in: store, since: began, &results, report)
        } catch {
            _ = try? await thread.run { try store.endRun(outcome: "failed", summary: nil, always: false) }
            throw error
        }
        var summary = makeReport(results, counts, ContinuousClock.now - start)
        // A run that finished and changed nothing leaves the file as it is, byte for byte.
        summary.run = try await thread.run { [summary] in
            try store.endRun(
                outcome: summary.outcomeWord, summary: summary.json, always: summary.hasNews,
                keeping: configuration.history)
        }
        return summary
    }

    /// Begins to load the plugins that a sync of these entities will use, while the database is being opened.
    package func preloadPlugins(for entities: [String]?) {
        for name in Set(syncOrder(entities).map { model.model.entities[$0].bridge }) {
            guard let bridge = configuration.bridge(named: name), bridge.isolation ?? .inProcess == .inProcess,
                let plugin = plugins[bridge.plugin]
            else { continue }
            host.preload(plugin)
        }
    }

    /// Walks the entities, several at a time, and the objects of a parent before those that are walked by it.
    private func walk(_ context: SyncContext) async -> ([String: SyncReport.Entity], ImportCounts) {
        var counts = ImportCounts(entityCount: model.entities.count)
        var results: [String: SyncReport.Entity] = [:]
        await withTaskGroup(of: (entity: SyncReport.Entity, counts: ImportCounts).self) { group in
            var waiting = syncOrder(context.options.entities)
            var running: Set<Int> = []
            func start() {
                // A recording has the order of the requests.
                while running.count < (session == nil ? max(1, context.options.concurrency) : 1) {
                    // Parents in a circle: somebody has to be first.
                    let free =
                        waiting.firstIndex { index in
                            parents(of: index).isDisjoint(with: running.union(waiting).subtracting([index]))
                        } ?? (running.isEmpty ? waiting.indices.first : nil)
                    guard let free else { return }
                    let index = waiting.remove(at: free)
                    running.insert(index)
                    let walk = EntityWalk(context: context, entity: model.model.entities[index], index: index)
                    group.addTask { await walk.run() }
                }
            }
            start()
            for await result in group {
                results[result.entity.name] = result.entity
                counts += result.counts
                if let index = model.index(of: result.entity.name) { running.remove(index) }
                start()
            }
        }
        return (results, counts)
    }

    /// The entities whose walks bring the objects that the walks of `index` go by.
    private func parents(of index: Int) -> Set<Int> {
        let entity = model.model.entities[index]
        let layout = model.entities[index]
        let names = ([entity.parent] + entity.sources.map(\.parent)).compactMap { $0?.relationship }
        let targets = layout.toOne.filter { names.contains($0.name) }.map(\.target)
        return Set(targets.flatMap { model.family(of: $0) })
    }

    /// The name of this program, for those who wait for it.
    static var programName: String {
        CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "a program"
    }

    private func makeReport(
        _ results: [String: SyncReport.Entity], _ counts: ImportCounts, _ duration: Duration
    ) -> SyncReport {
        let entities = model.model.entities.enumerated().compactMap { index, entity -> SyncReport.Entity? in
            if var result = results[entity.name] {
                result.counts = counts[index]
                return result
            }
            guard counts[index] != ImportCounts.Entity() else { return nil }
            return SyncReport.Entity(
                name: entity.name, bridge: entity.bridge, outcome: .nested, pages: 0, resumedAfterPage: nil,
                counts: counts[index], warnings: [], duration: .zero)
        }
        return SyncReport(entities: entities, duration: duration, wasInterrupted: Task.isCancelled)
    }

    /// The indexes of the entities to walk: those that others refer to come first, so that few stubs are needed.
    func syncOrder(_ names: [String]?) -> [Int] {
        var order: [Int] = []
        var visited: Set<Int> = []
        func visit(_ index: Int) {
            guard visited.insert(index).inserted else { return }
            for relationship in model.entities[index].toOne { visit(relationship.target) }
            order.append(index)
        }
        for index in model.entities.indices { visit(index) }
        order.removeAll { !model.model.entities[$0].isWalked }
        guard let names else { return order }
        // A sub-entity without a listing of its own comes with that of its super-entity.
        let walked = names.compactMap { name in
            model.model.entity(named: name).flatMap { model.model.lineage(of: $0).last { $0.isWalked } }?.name
        }
        let wanted = Set(walked.compactMap(model.index(of:)))
        return order.filter(wanted.contains)
    }
}
