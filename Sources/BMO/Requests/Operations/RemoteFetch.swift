internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import StoreContract

/// The remote part of a request: chooses the bridge's request and runs it, with retries while the remote is
/// unreachable.
struct RemoteFetch: Sendable {
    let request: ObjectRequest
    let session: ImportSession
    let reader: ObjectReader
    let availability: AvailabilityPolicy
    /// The clock of the pauses.
    let stopwatch: Stopwatch
    let detailLimit: Int
    /// Watches for the network to come back; nil to fail at once without one.
    var network: NetworkFollower?
    let report: @Sendable (RequestEvent) -> Void

    private var model: CompiledModel { session.workspace.model }

    /// The entity and the part of its listing to fetch.
    private struct Target {
        let entity: Entity
        let index: Int
        let plan: ScanPlan
        let filters: [FetchRequest.Filter]
        let recordLimit: Int?
        let extent: RemotePlan.Extent
        let terms: ScanTerms

        /// The whole listing instead of pages.
        var listing: Target {
            Target(
                entity: entity, index: index, plan: plan, filters: [], recordLimit: nil, extent: .listing, terms: terms)
        }

        var remotePlan: RemotePlan {
            RemotePlan(
                entity: entity.name, bridge: plan.bridge, extent: extent,
                filters: filters.map { "\($0.attribute) \($0.comparison) \($0.value ?? "null")" },
                hasUserInfo: terms.userInfo != nil)
        }
    }

    /// Fetches the request's records.
    ///
    /// - Throws: ``RequestError``, or `CancellationError`.
    func run() async throws -> FetchResult {
        let start = stopwatch.elapsed
        var tries = 0
        var networkTries = NetworkTries(network, session.workspace)
        while true {
            do {
                return try await runOnce()
            } catch let failure as RequestError {
                let error = failure.adding(request.userInfo)
                try Task.checkCancellation()
                if error.isUnreachable, let bridge = error.bridge {
                    let isBack = try await networkTries.goesOn(afterUnreachable: bridge) { limit in
                        report(.waitingForNetwork(atMost: limit, error))
                    }
                    if isBack { continue }
                }
                tries += 1
                let pause = await availability.pause(after: error, tries: tries, elapsed: stopwatch.elapsed - start)
                guard let pause else { throw error }
                report(.waiting(pause, error))
                try await stopwatch.sleep(for: pause)
            }
        }
    }

    private func runOnce() async throws -> FetchResult {
        let (entity, index) = try scanned(request.entity)
        let observer = RequestObserver(store: session.store, reader: reader, limit: detailLimit, report: report)
        let began = Clock.now()
        do {
            try await session.refuseFaults(of: index)
            var target = try target(entity, index)
            // Pages of their own, even if the remote applies no filter: a sync's scan would take them for the listing.
            if !target.terms.changesListing, try await !sortsOut(target) { target = target.listing }
            observer.translated(target.remotePlan)
            try await session.perform { [target] in
                switch target.extent {
                case .listing: try await scan(target, observer)
                case .pages:
                    var pages = PageFetch(plan: target.plan, session: session, observer: observer)
                    pages.filters = target.filters
                    pages.terms = target.terms
                    pages.recordLimit = target.recordLimit
                    let outcome = try await pages.run()
                    // The filters and the limit are part of the request.
                    observer.change { $0.isComplete = outcome.isAtEnd }
                }
            }
        } catch {
            if Task.isCancelled || error is CancellationError { throw CancellationError() }
            if let failure = error as? BridgeFailure, failure.code == .cancelled { throw CancellationError() }
            throw RequestError(error, entity: entity, bridge: entity.bridge, at: observer.step)
        }
        return try await withQuarantine(observer.result, since: began)
    }

    /// Returns the entity whose records contain the request's objects.
    private func scanned(_ name: String) throws -> (Entity, Int) {
        guard let index = model.index(of: name) else {
            throw RequestError(
                .requested, entity: name, code: "request", "there is no entity \"\(name)\"",
                remedy: "there are: \(model.entities.map(\.name).joined(separator: ", "))")
        }
        let entity = model.model.entities[index]
        guard let scanned = model.model.lineage(of: entity).last(where: \.isScanned),
            let scannedIndex = model.index(of: scanned.name)
        else {
            throw RequestError(
                .translating, entity: name, code: "unsupported",
                "no listing returns objects of \(name): they are nested in others",
                remedy: "fetch the entity whose records contain them, or use the fetch type .never")
        }
        return (scanned, scannedIndex)
    }

    /// Whether the bridge receives the request's user info.
    var hasUserInfo: Bool {
        guard let (entity, _) = try? scanned(request.entity) else { return false }
        return ScanTerms.hasUserInfo(request, of: entity.bridge, in: session.workspace)
    }

    private func target(_ entity: Entity, _ index: Int) throws -> Target {
        let plan = try ScanPlan(entity, index, source: nil, in: session.workspace)
        let terms = try ScanTerms(request, plan, in: session.workspace)
        func target(
            _ extent: RemotePlan.Extent, _ filters: [FetchRequest.Filter] = [], limit: Int? = nil
        ) -> Target {
            Target(
                entity: entity, index: index, plan: plan, filters: filters, recordLimit: limit, extent: extent,
                terms: terms)
        }
        // Only a sync's scan supports scans per parent, or through several bridges.
        guard plan.parent == nil, entity.sources.isEmpty else { return target(.listing) }
        let filters = filters(plan)
        // A local predicate may drop records that the limit counted: a limit applies only without a predicate.
        let limit = request.predicate == nil ? request.recordLimit : nil
        return filters.isEmpty && limit == nil && !terms.changesListing
            ? target(.listing) : target(.pages, filters, limit: limit)
    }

    /// Returns whether the remote applies any of the filters, according to the bridge.
    ///
    /// If not, the whole listing would be returned, which a scan imports better.
    private func sortsOut(_ target: Target) async throws -> Bool {
        let plugin = session.workspace.configuration.bridge(named: target.plan.bridge)?.plugin
        guard !target.filters.isEmpty, plugin.flatMap({ session.workspace.plugins[$0] })?.can("plan") == true else {
            return true
        }
        let connection = try await session.connections.connection(for: target.plan.bridge)
        var question = FetchRequest(entity: target.entity.name, section: target.plan.section)
        question.filters = target.filters
        question.explains = true
        let stream = try await connection.fetch(question)
        var isAny = false
        do {
            while let answer = try await stream.next() { isAny = isAny || !answer.page.pushed.isEmpty }
        } catch {
            await stream.close()
            throw error
        }
        await stream.close()
        return isAny
    }

    /// Returns the plan and filters for fetching a list of the request's entity page by page.
    func listing() throws -> (plan: ScanPlan, filters: [FetchRequest.Filter], terms: ScanTerms) {
        let (entity, index) = try scanned(request.entity)
        do {
            let plan = try ScanPlan(entity, index, source: nil, in: session.workspace)
            guard plan.parent == nil else {
                throw RequestError(
                    .translating, entity: entity.name, code: "unsupported",
                    "\(entity.name) is listed per parent, not as one list", remedy: "fetch it as a whole")
            }
            return (plan, filters(plan), try ScanTerms(request, plan, in: session.workspace))
        } catch {
            throw RequestError(error, entity: entity, bridge: entity.bridge, at: .translating)
        }
    }

    /// Returns the comparisons that the bridge receives, if it can filter at all.
    private func filters(_ plan: ScanPlan) -> [FetchRequest.Filter] {
        let plugin = session.workspace.configuration.bridge(named: plan.bridge)?.plugin
        guard plugin.flatMap({ session.workspace.plugins[$0] })?.can("filter") == true else { return [] }
        return (request.predicate?.conjunction.parts ?? []).compactMap { filter($0, plan.attributes) }
    }

    /// Returns the bridge's form of a comparison; nil where the remote's value differs from the local one.
    private func filter(
        _ part: (name: String, comparison: Comparison, value: LocalValue), _ attributes: [Attribute]
    ) -> FetchRequest.Filter? {
        guard let attribute = attributes.first(where: { $0.name == part.name }), attribute.transformers.isEmpty,
            case .path(let path) = attribute.source, ![.json, .data].contains(attribute.type),
            let comparison = FetchRequest.Filter.Comparison(rawValue: part.comparison.rawValue)
        else { return nil }
        return FetchRequest.Filter(
            attribute: part.name, path: path.components.joined(separator: "."), comparison: comparison,
            value: part.value.isNull ? nil : part.value.description)
    }

    /// Scans the listing as a sync does.
    private func scan(_ target: Target, _ observer: RequestObserver) async throws {
        try await scan(target.entity, target.index, target.terms, where: [], observer)
    }

    /// Scans an entity's listing as a sync does, or those of its records that meet conditions.
    func scan(
        _ entity: Entity, _ index: Int, _ terms: ScanTerms, where conditions: [LocalCondition],
        _ observer: RequestObserver
    ) async throws {
        var options = Workspace.SyncOptions()
        options.conditions = conditions
        var context = session.context(observer, options) { event in
            switch event {
            case .began(_, let bridge, _): observer.contacting(bridge)
            case .warning(_, let message): observer.warn(message)
            case .page, .note, .detail, .ended: break
            }
        }
        context.terms = terms
        let result = try await session.listing(index, priority: terms.priority) { [context] in
            try Task.checkCancellation()
            return await EntityScan(context: context, entity: entity, index: index).run().entity
        }
        // Deletions after the last page.
        try await session.gate.pass { try await session.thread.run { observer.collect() } }
        switch result.outcome {
        case .finished, .nested: return
        case .interrupted: throw CancellationError()
        case .failed(let failure): throw failure
        }
    }

    /// Returns the result with the records that were quarantined since a moment.
    func withQuarantine(_ result: FetchResult, since began: String) async throws -> FetchResult {
        guard result.counts.values.contains(where: { $0.quarantined > 0 }) else { return result }
        var result = result
        let names = result.counts.filter { $0.value.quarantined > 0 }.keys
        let limit = detailLimit
        let records = try? await session.thread.run { [store = reader.store] in
            try names.flatMap { try store.quarantined(entity: $0) }.filter { $0.lastSeen >= began }
        }
        result.quarantined = (records ?? []).prefix(limit).map {
            FetchResult.Quarantined(
                entity: $0.record.entity, reason: $0.record.reason, representation: $0.record.representation)
        }
        return result
    }
}
