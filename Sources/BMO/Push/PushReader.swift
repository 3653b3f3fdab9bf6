internal import BridgeContract
internal import BridgeHost
internal import Importer
internal import Mapping
internal import Model
internal import RecordBatch
internal import StoreContract

/// Reads one object from the remote, to determine whether an edit arrived, or what a conflict is about.
///
/// It uses the entity's `read_one`; else conditions on its listing where the bridge accepts them; else a search through
/// the listing, up to a limit.
struct PushReader {
    /// The result of a read.
    enum Found {
        /// The object.
        case object(RemoteObject)
        /// The remote has no such object.
        case gone
        /// The state is unknown, and why.
        case cannotTell(String)
    }

    /// The limit of records read from a listing.
    static let maxRecords = 10_000

    let workspace: Workspace
    let connections: Connections
    let entity: Int
    let object: RecordBatch
    /// The object before the edit; nil where `read_one` asks for both in the same way.
    let objectBefore: RecordBatch?
    let parent: ParentObject?
    /// What the program said about the edit, if the bridge takes it.
    let userInfo: BridgeOptions?

    private var model: CompiledModel { workspace.model }
    private var definition: Entity { model.model.scanned(model.model.entities[entity]) }

    init(_ workspace: Workspace, _ connections: Connections, _ entity: Int, _ request: PushRequest) {
        self.workspace = workspace
        self.connections = connections
        self.entity = entity
        object = request.object
        objectBefore = request.objectBefore
        parent = request.parent
        userInfo = request.userInfo
    }

    /// Returns the object with a key.
    ///
    /// - Throws: ``BridgeFailure`` where the remote cannot be queried now.
    func object(key: [StoredValue]) async throws -> Found {
        let plan = OutgoingPlan(of: entity, in: model)
        let remote = try plan.key(key)
        if let section = definition.readOne {
            var fetch = FetchRequest(entity: definition.name, section: try PushRequest.section(section, workspace))
            fetch.readsOne = true
            let attributes = model.model.attributes(of: model.model.entities[entity])
            fetch.keyPaths = model.keyPaths(of: entity, in: attributes)
            fetch.userInfo = userInfo
            fetch.patience = definition.retryFor
            // Where the address has values that the edit sets, it depends on whether the edit has arrived.
            var answer = Found.gone
            for object in [object, objectBefore].compactMap(\.self) {
                fetch.parent = BridgeOptions(batch: object)
                let found = try await first(of: fetch, conditions: 0, isReadOne: true) { $0 == key }
                switch found {
                case .object: return found
                case .cannotTell: answer = found
                case .gone: break
                }
            }
            return answer
        }
        let fetch = try listing(remote, plan)
        return try await first(of: fetch, conditions: remote.count) { $0 == key }
    }

    /// Remote objects that may be a created one.
    struct Candidates {
        /// The objects that have all sent values, with their keys; at most two, because only a single match is
        /// conclusive.
        var found: [RemoteObject] = []
        /// The key of an object that matches and is a different one, and the evidence.
        var other: (key: [StoredValue], why: String)?
        /// Whether all matches have been seen.
        var isSure = false
    }

    /// Returns the objects that have these values; nulls are ignored.
    ///
    /// - Parameters:
    ///   - values: The identifying values.
    ///   - edit: The create, with all sent values; those that the remote does not show cannot be compared.
    ///   - isKnown: Whether the object of a key was in the database before.
    func objects(
        like values: [String: StoredValue], createdBy edit: OutboxEntry, isKnown: ([StoredValue]) async -> Bool
    ) async throws -> Candidates {
        let sent = Dictionary(edit.changes.map { ($0.name, $0.new ?? .null) }, uniquingKeysWith: { $1 })
        let plan = OutgoingPlan(of: entity, in: model)
        var conditions: [(name: String, value: OutgoingValue)] = []
        for (name, value) in values.sorted(by: { $0.key < $1.key }) where value != .null {
            guard case .object(let members) = try plan.object([name: value]) else { continue }
            conditions.append((name, Self.leaf(members)))
        }
        let fetch = try listing(conditions, plan)
        var candidates = Candidates()
        let layout = model.entities[entity]
        let end = try await scan(fetch, conditions: conditions.count) { mapper, batch in
            let page = mapper.map(batch, as: entity, parent: parent?.key)
            var record = -1
            for row in page.rows {
                // A record's own row precedes the rows nested in it, which are other objects.
                let isTop = row.record != record
                record = row.record
                guard isTop, !row.isReference, layout.root == model.entities[row.entity].root else { continue }
                let cells = page.cells[row.firstCell..<row.firstCell + layout.fields.count]
                let fits = zip(layout.fields, cells).allSatisfy { field, cell in
                    values[field.name].map { (cell.value ?? .null).isSame(as: $0, field.type) } ?? true
                }
                guard fits else { continue }
                let key = layout.key.map { cells[cells.startIndex + $0].value ?? .null }
                let different = zip(layout.fields, cells).first { field, cell in
                    guard let value = sent[field.name], let theirs = cell.value else { return false }
                    return !theirs.isSame(as: value, field.type)
                }
                if let different {
                    candidates.other = (key, "its \(different.0.name) is another")
                } else if await isKnown(key) {
                    candidates.other = (key, "it existed here before")
                } else if let object = try? object(batch, row.record) {
                    if let name = object.otherValues(than: edit).first {
                        candidates.other = (key, "its \(name) is another")
                    } else {
                        candidates.found.append(object)
                    }
                }
            }
            return candidates.found.count < 2
        }
        candidates.isSure = end.isWhole || candidates.found.count > 1
        return candidates
    }

    // MARK: requests

    private func listing(
        _ conditions: [(name: String, value: OutgoingValue)], _ plan: OutgoingPlan
    ) throws -> FetchRequest {
        var fetch = FetchRequest(
            entity: definition.name, section: try PushRequest.section(definition.section, workspace))
        fetch.parent = parent?.options
        fetch.userInfo = userInfo
        fetch.patience = definition.retryFor
        guard workspace.can("filter", definition.bridge) else { return fetch }
        fetch.filters = conditions.compactMap { name, value in
            guard let text = value.text, let path = plan.path(of: name) else { return nil }
            return FetchRequest.Filter(
                attribute: name, path: path.components.joined(separator: "."), comparison: .equal, value: text)
        }
        return fetch
    }

    private func first(
        of fetch: FetchRequest, conditions: Int, isReadOne: Bool = false, _ fits: ([StoredValue]) -> Bool
    ) async throws -> Found {
        var found: RemoteObject?
        let tombstone = model.model.root(of: definition).deletes.tombstone
        var isGone = false
        var count = 0
        do {
            let end = try await scan(fetch, conditions: conditions) { mapper, batch in
                count += batch.count
                for index in 0..<batch.count {
                    guard let key = mapper.key(of: batch[index], as: entity, parent: parent?.key), fits(key) else {
                        continue
                    }
                    if tombstone?.fits(batch[index]) == true {
                        isGone = true
                    } else {
                        found = try? object(batch, index)
                    }
                    return false
                }
                return true
            }
            if let found { return .object(found) }
            // A message in the object's place, or another object, does not say that it is gone.
            if isReadOne, count > 0, !isGone {
                return .cannotTell("what read_one of \(definition.name) returned has not the object's key")
            }
            if end.isWhole || isGone { return .gone }
            return .cannotTell(isReadOne ? Self.emptyWords(definition, end.warnings) : Self.limitWords(definition))
        } catch let failure as BridgeFailure where definition.readOne != nil && failure.code == .notFound {
            return .gone
        }
    }

    /// How a scan ended.
    private struct End {
        /// Whether all requested records were received.
        var isWhole = false
        /// What the bridge says about it.
        var warnings: [String] = []
    }

    /// Scans until `body` has seen enough.
    private func scan(
        _ fetch: FetchRequest, conditions: Int, _ body: (Mapper, RecordBatch) async -> Bool
    ) async throws -> End {
        let connection = try await connections.connection(for: definition.bridge)
        let stream = try await connection.fetch(fetch)
        let mapper = Mapper(model)
        var count = 0
        var end = End()
        do {
            while let fetched = try await stream.next() {
                end.warnings += fetched.page.warnings
                if let records = fetched.records {
                    count += records.count
                    guard await body(mapper, records) else {
                        await stream.close()
                        return end
                    }
                }
                if fetched.page.end {
                    await stream.close()
                    // Conditions make a listing partial, but the records that they leave out are irrelevant.
                    let isFiltered = conditions > 0 && !fetched.page.pushed.isEmpty
                    end.isWhole = fetched.page.complete || isFiltered
                    return end
                }
                if count >= Self.maxRecords { break }
            }
        } catch {
            await stream.close()
            throw error
        }
        await stream.close()
        return end
    }

    private static func emptyWords(_ entity: Entity, _ warnings: [String]) -> String {
        let words = "read_one of \(entity.name) returned no object, and whether the object exists is not known"
        return ([words] + warnings).joined(separator: ": ")
    }

    private static func limitWords(_ entity: Entity) -> String {
        "the listing of \(entity.name) was searched up to \(maxRecords) records, or is not complete, and the "
            + "object was not among them"
    }

    private func object(_ batch: RecordBatch, _ index: Int) throws -> RemoteObject {
        let writer = RecordBatchWriter()
        withExtendedLifetime(batch) { writer.copy(batch[index]) }
        return RemoteObject(try writer.finish(), entity, parent: parent?.key, in: model)
    }

    /// Returns the single value inside nested objects.
    private static func leaf(_ members: [(key: String, value: OutgoingValue)]) -> OutgoingValue {
        guard let value = members.first?.value else { return .null }
        if case .object(let inner) = value { return leaf(inner) }
        return value
    }
}

extension Workspace {
    /// Returns whether the plugin of a bridge has a capability.
    func can(_ capability: String, _ bridge: String) -> Bool {
        configuration.bridge(named: bridge).flatMap { plugins[$0.plugin] }?.can(capability) ?? false
    }
}
