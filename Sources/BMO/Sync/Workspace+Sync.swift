internal import BridgeHost
internal import Importer
internal import Mapping
public import Model
public import StoreContract
internal import Tracing

extension Workspace {
    /// The options of a sync.
    public struct SyncOptions: Sendable {
        /// The entities to sync; nil for all.
        public var entities: [String]?
        /// Starts interrupted scans from the beginning.
        public var restart: Bool
        /// Requests everything, even where `incremental` would request only changes.
        public var full: Bool
        /// Deletes all objects that the listings lack, regardless of deletion limits.
        public var allowsDeletes: Bool
        /// The number of rows that a sweep may delete in place of the deletion limits, such as a person has been shown; nil
        /// for the limits.
        package var agreedDeletions: Int?
        /// Conditions that all fetched and imported records must meet.
        ///
        /// Conditions that the configuration maps go to the API; all are checked before the import. Such a scan covers
        /// a part of the listing: it deletes nothing, leaves no cursor, and uses no further source.
        public var conditions: [LocalCondition]
        /// How many entities are fetched at a time.
        public var concurrency: Int
        /// How long to wait for the database's lock, where the store does not hold it yet.
        ///
        /// Unless it is set, a `RequestManager` waits as long as its own options say, and others do not wait.
        public var lockTimeout: LockTimeout {
            get { ownLockTimeout ?? LockTimeout.none }
            set { ownLockTimeout = newValue }
        }
        /// The ``lockTimeout`` if it is set.
        private(set) var ownLockTimeout: LockTimeout?
        /// The part of the scans to do; nil for all.
        public var shard: SyncShard?
        /// Whether the conditions are the key of one object, which the entity's `read_one` then requests.
        var readsOne = false

        /// Creates options.
        public init(
            entities: [String]? = nil, restart: Bool = false, full: Bool = false, allowsDeletes: Bool = false,
            conditions: [LocalCondition] = [], concurrency: Int = 4, shard: SyncShard? = nil
        ) {
            self.entities = entities
            self.restart = restart
            self.full = full
            self.allowsDeletes = allowsDeletes
            self.conditions = conditions
            self.concurrency = concurrency
            self.shard = shard
        }

        /// Creates options with a time to wait for the lock.
        public init(
            entities: [String]? = nil, restart: Bool = false, full: Bool = false, allowsDeletes: Bool = false,
            conditions: [LocalCondition] = [], concurrency: Int = 4, lockTimeout: LockTimeout,
            shard: SyncShard? = nil
        ) {
            self.init(
                entities: entities, restart: restart, full: full, allowsDeletes: allowsDeletes, conditions: conditions,
                concurrency: concurrency, shard: shard)
            ownLockTimeout = lockTimeout
        }

        /// Returns the options with a time to wait for the lock if they have none.
        func waiting(_ timeout: LockTimeout) -> SyncOptions {
            var options = self
            options.ownLockTimeout = ownLockTimeout ?? timeout
            return options
        }
    }

    /// Fetches entities through their bridges and imports them.
    ///
    /// Each page is committed with its position in the scan; a failure of one entity does not affect the others. When
    /// the task is cancelled, open pages are rolled back and the report says `interrupted`.
    ///
    /// - Parameters:
    ///   - store: The database; see ``openLockedStore(command:timeout:rehearsing:onWait:)``. A store without the file
    ///     lock takes it for the duration of the sync.
    ///   - options: The options.
    ///   - report: Called for progress, from any thread.
    /// - Returns: The report, which contains failed entities; they are not thrown.
    /// - Throws: `ConfigurationErrors` for faults that `bmo check` finds in these entities, before anything is
    ///   fetched; `StoreError`: `request` for an invalid condition, before anything is fetched; `busy` when another
    ///   process is writing the file; others when the run cannot be recorded.
    public func sync(
        into store: any Store, _ options: SyncOptions = SyncOptions(),
        report: @escaping @Sendable (SyncEvent) -> Void = { _ in }
    ) async throws -> SyncReport {
        try await withSpan("bmo.sync") { span in
            let summary = try await syncEntities(into: store, options, report)
            span.note(summary)
            if ProgramMetrics.isUsed { try? await ImportThread().run { ProgramMetrics.note(summary, store) } }
            return summary
        }
    }

    private func syncEntities(
        into store: any Store, _ options: SyncOptions, _ report: @escaping @Sendable (SyncEvent) -> Void
    ) async throws -> SyncReport {
        try checkListings(of: options.entities)
        for index in syncOrder(options.entities) { try check(options.conditions, on: index) }
        let shards = try options.shard.map { try ShardPlan($0, model) }
        let lock =
            store.hasLock
            ? nil
            : try await stores.lock(
                configuration.databasePath, command: Self.programName, timeout: options.lockTimeout)
        defer { lock?.release() }
        let thread = ImportThread()
        if let shard = options.shard { try await thread.run { [self] in try check(shard, in: store) } }
        let start = ContinuousClock.now
        let began = Clock.now()
        let connections = Connections(self)
        do {
            try await refuseFaults(of: syncOrder(options.entities), over: connections)
        } catch let errors as ConfigurationErrors {
            await connections.close()
            throw errors
        } catch {
            // The sync was cancelled, and the report says so.
        }
        let context = SyncContext(
            workspace: self, store: store, connections: connections, thread: thread, gate: PageGate(),
            options: options, report: report, shards: shards)
        try await thread.run { try store.beginRun(kind: "sync") }
        let (results, counts) = await scan(context)
        await connections.close()
        let unknown: [UnknownFieldRecord]
        do {
            if options.full, options.conditions.isEmpty {
                _ = try await thread.run { try store.removeAbandonedStubs() }
            }
            unknown = try await thread.run { try store.unknownFields(since: began) }
        } catch {
            _ = try? await thread.run { try store.endRun(outcome: "failed", summary: nil, always: false) }
            throw error
        }
        var summary = makeReport(results, counts, ContinuousClock.now - start)
        summary.noteUnknownFields(unknown, of: model.model, report)
        summary.shard = options.shard
        summary.requests = await connections.takeRequests()
        // A finished run without changes leaves the file unchanged, byte for byte.
        summary.run = try await thread.run { [summary] in
            try store.endRun(
                outcome: summary.outcomeWord, summary: summary.json, always: summary.hasNews,
                keeping: configuration.history)
        }
        return summary
    }

    /// Scans the entities, several at a time; an entity scanned by parent follows the parent's entity.
    private func scan(_ context: SyncContext) async -> ([String: SyncReport.Entity], ImportCounts) {
        var counts = ImportCounts(entityCount: model.entities.count)
        var results: [String: SyncReport.Entity] = [:]
        await withTaskGroup(of: EntityScan.Result.self) { group in
            var waiting = syncOrder(context.options.entities).filter { context.shards?.scans($0) ?? true }
            let parents = Dictionary(uniqueKeysWithValues: waiting.map { ($0, self.parents(of: $0)) })
            var running: Set<Int> = []
            // The entities that wait or run.
            var open = Set(waiting)
            func start() {
                // A recording keeps the order of the requests.
                while running.count < (session == nil ? max(1, context.options.concurrency) : 1) {
                    // Where parents form a cycle, the first waiting entity starts.
                    let free =
                        waiting.firstIndex { index in
                            !(parents[index] ?? []).contains { $0 != index && open.contains($0) }
                        } ?? (running.isEmpty ? waiting.indices.first : nil)
                    guard let free else { return }
                    let index = waiting.remove(at: free)
                    running.insert(index)
                    let scan = EntityScan(context: context, entity: model.model.entities[index], index: index)
                    group.addTask { await scan.run() }
                }
            }
            start()
            for await result in group {
                results[result.entity.name] = result.entity
                counts += result.counts
                if let index = model.index(of: result.entity.name) {
                    running.remove(index)
                    open.remove(index)
                }
                start()
            }
        }
        return (results, counts)
    }

    /// Returns the entities whose scans import the parent objects for the scans of `index`.
    func parents(of index: Int) -> Set<Int> {
        let entity = model.model.entities[index]
        let layout = model.entities[index]
        let names = ([entity.parent] + entity.sources.map(\.parent)).compactMap { $0?.relationship }
        let targets = layout.toOne.filter { names.contains($0.name) }.map(\.target)
        return Set(targets.flatMap { model.family(of: $0) })
    }

    /// The name of this program, shown to processes that wait for it.
    static var programName: String {
        CommandLine.arguments.first?.split(separator: "/").last.map(String.init) ?? "a program"
    }

    func makeReport(
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

    /// Checks that each entity has a listing.
    ///
    /// - Throws: ``StoreError`` of the code `request` for an entity without a listing.
    func checkListings(of names: [String]?) throws {
        for name in names ?? [] {
            guard let entity = model.model.entity(named: name),
                !model.model.lineage(of: entity).contains(where: \.isScanned)
            else { continue }
            throw StoreError(
                .request,
                "\(name) has no listing (\"listing: none\"): its objects are nested in those of other entities",
                remedy: "sync the entities whose records contain them")
        }
    }

    /// Returns the indexes of the entities to scan; referenced entities come first, so that few stubs are needed.
    func syncOrder(_ names: [String]?) -> [Int] {
        var order: [Int] = []
        var visited: Set<Int> = []
        func visit(_ index: Int) {
            guard visited.insert(index).inserted else { return }
            for relationship in model.entities[index].toOne { visit(relationship.target) }
            order.append(index)
        }
        for index in model.entities.indices { visit(index) }
        order.removeAll { !model.model.entities[$0].isScanned }
        guard let names else { return order }
        // A sub-entity without its own listing comes with its super-entity's.
        let scanned = names.compactMap { name in
            model.model.entity(named: name).flatMap { model.model.lineage(of: $0).last { $0.isScanned } }?.name
        }
        let wanted = Set(scanned.compactMap(model.index(of:)))
        return order.filter(wanted.contains)
    }
}
