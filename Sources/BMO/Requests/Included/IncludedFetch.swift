internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import StoreContract

/// Fetches the objects of a request's included relationships, after its own objects.
///
/// Objects that come only nested in others are left out. A listing is scanned as by a sync; one by parent is scanned for
/// the request's objects alone, and nothing is deleted then.
struct IncludedFetch: Sendable {
    let fetch: RemoteFetch

    private var request: ObjectRequest { fetch.request }
    private var session: ImportSession { fetch.session }
    private var reader: ObjectReader { fetch.reader }
    private var model: Model { session.workspace.model.model }

    /// A listing with objects of a relationship.
    private struct Target {
        /// The relationships that lead to the objects.
        let path: [String]
        let entity: Entity
        let index: Int
        /// The column that has the owner's key, if the listing is by the relationship's owners.
        let ownerColumn: String?
    }

    /// Fetches the objects, and adds what changed to the result.
    ///
    /// - Throws: ``RequestError``, `CancellationError`.
    func run(after own: FetchResult) async throws -> FetchResult {
        var result = own
        var related = RelatedList(own.related)
        var scanned: Set<Int> = []
        for path in paths {
            guard let target = try target(of: path) else { continue }
            guard let column = target.ownerColumn else {
                // Several relationships may lead to one listing.
                if scanned.insert(target.index).inserted { try await scan(target, for: nil, &result, &related) }
                continue
            }
            for owner in try await owners(of: target) {
                let key = owner.key.first?.description
                try await scan(
                    target, for: (owner, LocalCondition(field: column, comparison: .equal, value: key)), &result,
                    &related)
            }
        }
        result.related = related.statements
        return result
    }

    /// The paths of the included relationships and of those on the way, each once and after those that lead to it.
    private var paths: [[String]] {
        var paths: [[String]] = []
        for text in request.including {
            let names = text.split(separator: ".").map(String.init)
            guard !names.isEmpty else { continue }
            for count in 1...names.count where !paths.contains(Array(names.prefix(count))) {
                paths.append(Array(names.prefix(count)))
            }
        }
        return paths
    }

    /// Returns the listing of a relationship's objects; nil where they come only nested.
    private func target(of path: [String]) throws -> Target? {
        var schema = try reader.schema(of: request.entity)
        var owner = schema
        for name in path {
            owner = schema
            guard
                let index = schema.toOne(name)?.target ?? schema.toMany(name).map({ schema.layout.toMany[$0].target })
            else { return nil }
            schema = try reader.schema(of: reader.model.entities[index].name)
        }
        guard let definition = model.entity(named: schema.layout.name),
            let entity = model.lineage(of: definition).last(where: \.isScanned),
            let index = session.workspace.model.index(of: entity.name)
        else { return nil }
        let layout = session.workspace.model.entities[index]
        let parent = entity.parent?.relationship.flatMap { name in layout.toOne.first { $0.name == name } }
        var column: String?
        if let parent, parent.fieldCount == 1,
            session.workspace.model.family(of: parent.target).contains(owner.layout.index)
        {
            column = layout.fields[parent.firstField].name
        }
        return Target(path: path, entity: entity, index: index, ownerColumn: column)
    }

    /// Returns the objects that have a relationship's list, without stubs.
    private func owners(of target: Target) async throws -> [ObjectID] {
        let before = target.path.dropLast()
        var own = request
        own.including = before.isEmpty ? [] : [before.joined(separator: ".")]
        var objects = try await reader.objects(own)
        for name in before { objects = objects.flatMap { $0.included[name] ?? [] } }
        var seen: Set<ObjectID> = []
        return objects.filter { !$0.isStub && seen.insert($0.id).inserted }.map(\.id)
    }

    private func scan(
        _ target: Target, for owner: (id: ObjectID, condition: LocalCondition)?, _ result: inout FetchResult,
        _ related: inout RelatedList
    ) async throws {
        try Task.checkCancellation()
        let room = max(0, fetch.detailLimit - result.listedCount)
        let observer = RequestObserver(
            store: session.store, reader: reader, limit: room,
            metadata: NestedMetadata.Room(
                lists: max(0, fetch.detailLimit - related.statements.count),
                bytes: max(0, RelatedList.maxSize - related.size)),
            report: fetch.report)
        let began = Clock.now()
        do {
            try await session.refuseFaults(of: target.index)
            let plan = try ScanPlan(target.entity, target.index, source: nil, in: session.workspace)
            let terms = ScanTerms(alongWith: request, plan, in: session.workspace)
            observer.translated(
                RemotePlan(
                    entity: target.entity.name, bridge: plan.bridge, extent: owner == nil ? .listing : .pages,
                    filters: owner.map { [$0.condition.text] } ?? [], hasUserInfo: terms.userInfo != nil))
            try await session.perform {
                try await fetch.scan(
                    target.entity, target.index, terms, where: owner.map { [$0.condition] } ?? [], observer)
            }
        } catch {
            if Task.isCancelled || error is CancellationError { throw CancellationError() }
            throw RequestError(error, entity: target.entity, bridge: target.entity.bridge, at: observer.step)
        }
        let changes = try await fetch.withQuarantine(observer.result, since: began)
        result.add(changes)
        let path = target.path.joined(separator: ".")
        related.merge(FetchResult.Related(relationship: path, owner: owner?.id, metadata: changes.metadata))
        for var statement in changes.related {
            statement.relationship = "\(path).\(statement.relationship)"
            related.add(statement)
        }
    }
}

extension FetchResult {
    /// How many objects the lists have.
    fileprivate var listedCount: Int { inserted.count + updated.count + deleted.count }

    /// Adds the changes of a relationship's objects.
    fileprivate mutating func add(_ changes: FetchResult) {
        inserted += changes.inserted
        updated += changes.updated
        deleted += changes.deleted
        quarantined += changes.quarantined
        pageCount += changes.pageCount
        // The fetch of each owner's list may warn of the same.
        for warning in changes.warnings where !warnings.contains(warning) { warnings.append(warning) }
        isTruncated = isTruncated || changes.isTruncated
        for (entity, count) in changes.counts {
            var sum = ImportCounts(entityCount: 1)
            sum[0] = counts[entity] ?? ImportCounts.Entity()
            var more = ImportCounts(entityCount: 1)
            more[0] = count
            sum += more
            counts[entity] = sum[0]
        }
    }
}
