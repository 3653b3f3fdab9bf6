internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
public import StoreContract

extension Workspace {
    /// Returns the requests of a sync with these options, without calling the API itself.
    ///
    /// Bridges are opened; one whose API describes itself (SOAP) may read that description.
    ///
    /// - Parameters:
    ///   - options: As for ``sync(into:_:report:)``.
    ///   - store: The database, for cursors and parents; nil where it does not exist yet. It is only read.
    /// - Returns: A plan; a scan that cannot be planned contains its failure.
    /// - Throws: `ConfigurationErrors` for faults that `bmo check` finds in these entities; `StoreError`.
    public func plan(_ options: SyncOptions = SyncOptions(), in store: (any Store)?) async throws -> SyncPlan {
        var plan = try await scanPlan(options, in: store)
        plan.writes = try plannedWrites(of: options.entities, in: store).writes
        return plan
    }

    /// Returns the plan of a sync without the edits that a push would send.
    package func scanPlan(_ options: SyncOptions = SyncOptions(), in store: (any Store)?) async throws -> SyncPlan {
        let connections = Connections(self)
        var plan = SyncPlan()
        do {
            try checkListings(of: options.entities)
            try await refuseFaults(of: syncOrder(options.entities), over: connections)
            for index in syncOrder(options.entities) {
                let entity = model.model.entities[index]
                for source in [nil] + (options.conditions.isEmpty ? entity.sources.map(Optional.some) : []) {
                    plan.scans.append(
                        try await ScanPlanner(
                            workspace: self, options: options, store: store, connections: connections, entity: entity,
                            index: index, source: source
                        ).scan())
                }
            }
        } catch {
            await connections.close()
            throw error
        }
        await connections.close()
        return plan
    }

    /// Returns the edits that a push would send, in order.
    ///
    /// - Parameter limit: The number of edits whose requests are made, about a millisecond each; nil for all.
    /// - Returns: The first edits, and the number of all.
    package func plannedWrites(
        of entities: [String]?, in store: (any Store)?, limit: Int? = nil
    ) throws -> (writes: [PlannedWrite], total: Int) {
        guard let store else { return ([], 0) }
        let pending = try pendingRequests(of: entities, in: store, limit: limit)
        return (pending.requests.map(PlannedWrite.init), pending.total)
    }
}

/// Plans one scan.
private struct ScanPlanner {
    let workspace: Workspace
    let options: Workspace.SyncOptions
    let store: (any Store)?
    let connections: Connections
    let entity: Entity
    let index: Int
    let source: EntitySource?

    private var layout: EntityLayout { workspace.model.entities[index] }
    private var isPartial: Bool { !options.conditions.isEmpty }

    func scan() async throws -> SyncPlan.Scan {
        let bridge = source?.bridge ?? entity.bridge
        var scan = SyncPlan.Scan(
            entity: entity.name, source: source?.name, bridge: bridge, extent: .full(reason: "nothing is known yet"))
        scan.conditions = options.conditions.map { SyncPlan.Condition(text: $0.text, isPushed: false) }
        // Faults in the conditions are the user's, and end the command.
        _ = try options.conditions.map { try FieldCondition($0, on: layout) }
        do {
            let plan = try ScanPlan(entity, index, source: source, in: workspace)
            var parent: ParentObject?
            if let parentScan = plan.parent {
                // There may be millions of objects.
                let found = try await ImportThread(label: "bmo.plan").run { try parents(parentScan, plan) }
                (scan.parents, parent) = (found.told, found.first)
            }
            let scope = plan.scope(parent: scan.parents?.example == nil ? nil : parent)
            let isKnown = scan.parents == nil || scan.parents?.example != nil
            let saved = isKnown && !isPartial ? try store?.cursor(of: scope) : nil
            let place = isKnown && !isPartial && !options.restart ? try store?.progress(of: scope) : nil
            let request = ScanRequest(plan, saved: saved, isFull: options.full || isPartial, parent: parent)
            let progress = place?.request == request.fingerprint ? place : nil
            scan.extent = extent(request, plan, saved)
            scan.resumesAfterPage = progress?.page
            if plan.isListing, !isPartial, request.since == nil, request.known == nil { scan.deletes = plan.policy }
            try await explain(&scan, plan, request, cursor: progress?.cursor, parent)
        } catch let error as StoreError {
            throw error
        } catch {
            if error is CancellationError { throw error }
            scan.failure = SyncFailure(error, entity: entity, bridge: bridge, page: nil)
        }
        return scan
    }

    private func extent(_ request: ScanRequest, _ plan: ScanPlan, _ saved: ScanCursor?) -> SyncPlan.Extent {
        if isPartial { return .part }
        if let since = request.since { return .since(since) }
        if let known = request.known { return .newestFirst(until: known.description) }
        if request.token != nil { return .token(from: saved?.fullAt ?? "") }
        if options.full { return .full(reason: "as requested") }
        guard plan.incremental != nil else { return .full(reason: "no incremental is set") }
        guard let saved else { return .full(reason: "nothing is known yet") }
        return .full(
            reason: plan.isOwn(saved)
                ? "full_every is due, or the last scan left no cursor"
                : "the configuration has changed since the last scan")
    }

    /// Asks the bridge for its requests.
    private func explain(
        _ scan: inout SyncPlan.Scan, _ plan: ScanPlan, _ request: ScanRequest, cursor: String?, _ parent: ParentObject?
    ) async throws {
        let connection = try await connections.connection(for: plan.bridge)
        guard connection.plugin.can("plan") else {
            throw BridgeFailure(
                .unsupported, "the bridge `\(connection.plugin.name)` cannot say what it would request",
                bridge: plan.bridge)
        }
        var fetch = request.fetch(from: cursor, of: parent)
        fetch.explains = true
        var places: [Int] = []
        if connection.plugin.can("filter") {
            for (place, condition) in options.conditions.enumerated() {
                guard let filter = condition.filter(plan, in: layout) else { continue }
                fetch.filters.append(filter)
                places.append(place)
            }
        }
        let stream = try await connection.fetch(fetch)
        do {
            while let fetched = try await stream.next() {
                for pushed in fetched.page.pushed where places.indices.contains(pushed) {
                    scan.conditions[places[pushed]].isPushed = true
                }
                // With a token, only the bridge knows whether the scan lists everything or only changes.
                if request.token != nil, fetched.page.end, !fetched.page.complete { scan.deletes = nil }
                // The bridge says of everything that its absence means nothing.
                if fetched.page.skipped.contains(where: \.field.isEmpty) { scan.deletes = nil }
                if let text = fetched.page.metadata, let batch = try? JSONParser.batch(text), batch.count == 1 {
                    scan.paging = withExtendedLifetime(batch) { batch[0]["paging"]?.text } ?? scan.paging
                }
                guard let records = fetched.records else { continue }
                withExtendedLifetime(records) {
                    for index in 0..<records.count {
                        guard let text = records[index]["request"]?.text else { continue }
                        scan.requests.append(SyncPlan.Request(text: text, body: records[index]["body"]?.text))
                    }
                }
            }
        } catch {
            await stream.close()
            throw error
        }
        await stream.close()
    }

    /// Returns the objects with a scan each, and the first of them or a placeholder whose values are attribute names.
    private func parents(
        _ scan: ParentScan, _ plan: ScanPlan
    ) throws -> (told: SyncPlan.Parents, first: ParentObject) {
        let relationship = scan.relationship.flatMap { name in layout.toOne.firstIndex { $0.name == name } }
        let target = workspace.model.entities[relationship.map { layout.toOne[$0].target } ?? index]
        let rows = ParentRows(
            scan, options.conditions, of: layout, target: target, relationship: relationship)
        var told = SyncPlan.Parents(
            entity: target.name, count: nil, concurrency: scan.concurrency, conditions: rows.words, example: nil)
        var first: ParentObject?
        if let store {
            var count = 0
            var due = 0
            let rule = DueScans(plan: plan, isFull: options.full || isPartial)
            var last = Int64.min
            while case let chunk = try store.parents(of: target.index, where: rows.conditions, after: last, limit: 1000),
                let end = chunk.last
            {
                let known = chunk.filter { !$0.values.isEmpty }
                count += known.count
                if scan.skipsUnchanged {
                    let parents = try known.map { row in
                        var parent = try ParentObject(row.values, target, relationship: relationship)
                        parent.state = plan.state(of: row.values, target)
                        return parent
                    }
                    let found = try rule.due(parents, store.cursors)
                    due += found.count
                    if first == nil { first = found.first }
                } else if first == nil, let row = known.first {
                    first = try ParentObject(row.values, target, relationship: relationship)
                }
                last = end.row
            }
            told.count = count
            if scan.skipsUnchanged { told.due = due }
        }
        if let first {
            told.example = first.text
            return (told, first)
        }
        return (told, try workspace.placeholder(scan, of: index))
    }
}
