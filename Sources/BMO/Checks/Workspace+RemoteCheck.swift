public import BridgeHost
internal import Importer
internal import Mapping
public import Model
internal import RecordBatch

/// The findings of `bmo check --remote` for an entity.
///
/// The bridge explains the request that it would send, and validates the entity's section against the API's own
/// description. If the API has none, bmo fetches the first page and validates its records against the entity's paths
/// and key. Nothing is imported.
public struct EntityCheck: Sendable {
    /// The entity, with its further source if the check is of that source: `Country (from wiki)`.
    public var entity: String
    /// Why its records cannot be read; nil if they can.
    public var failure: BridgeFailure?
    /// Likely mistakes, a sentence each.
    public var warnings: [String] = []
    /// How many records the first page has; nil if no page was fetched.
    public var records: Int?
}

extension Workspace {
    /// Checks the sections of a bridge's entities: the bridge validates them, or returns a page of each.
    ///
    /// - Returns: The findings; empty for a bridge that can't explain its requests.
    /// - Throws: `SecretError`.
    public func check(entitiesOf bridge: BridgeConfiguration, over connection: BridgeConnection) async throws
        -> [EntityCheck]
    {
        guard connection.plugin.can("plan") else { return [] }
        var checks: [EntityCheck] = []
        for entity in configuration.model.entities {
            if entity.bridge == bridge.name, entity.isScanned {
                checks.append(
                    try await check(
                        entity, nil, title: entity.name, section: entity.section, parent: entity.parent,
                        attributes: configuration.model.ownAttributes(of: entity), over: connection))
            }
            for source in entity.sources where source.bridge == bridge.name {
                checks.append(
                    try await check(
                        entity, source, title: "\(entity.name) (from \(source.name))", section: source.section,
                        parent: source.parent, attributes: source.attributes, over: connection))
            }
        }
        return checks
    }

    private func check(
        _ entity: Entity, _ source: EntitySource?, title: String, section: ConfigValue, parent: ParentScan?,
        attributes: [Attribute],
        over connection: BridgeConnection
    ) async throws -> EntityCheck {
        var check = EntityCheck(entity: title)
        var isDescribed = false
        var encoder = ConfigEncoder(directory: configuration.directory)
        var request = FetchRequest(entity: entity.name, section: try encoder.batch(section))
        request.explains = true
        request.patience = source == nil ? entity.retryFor : source?.retryFor
        if source == nil, configuration.model.isWritable(entity), let index = model.index(of: entity.name) {
            request.readOne = try entity.readOne.flatMap { BridgeOptions(batch: try encoder.batch($0)) }
            request.writtenPaths = OutgoingPlan(of: index, in: model).writtenPaths
        }
        if parent != nil {
            request.parent = BridgeOptions(batch: try Self.sampleParent(of: entity, parent, in: configuration.model))
        }
        do throws(BridgeFailure) {
            let stream = try await connection.fetch(request)
            do throws(BridgeFailure) {
                var fields: [String]?
                while let fetched = try await stream.next() {
                    check.warnings += fetched.page.warnings
                    if let text = fetched.page.metadata { fields = Self.fields(text) ?? fields }
                }
                if let fields { check.warnings += Self.unknownPaths(attributes, among: fields) }
                isDescribed = fields != nil
            } catch {
                check.failure = error
            }
            await stream.close()
        } catch {
            check.failure = error
        }
        // Only a sync knows the parents whose children to fetch.
        if !isDescribed, check.failure == nil, parent == nil {
            await look(at: entity, source, attributes, request, over: connection, &check)
        }
        return check
    }

    /// Fetches the first page, and validates its records against the entity's paths and key.
    private func look(
        at entity: Entity, _ source: EntitySource?, _ attributes: [Attribute], _ request: FetchRequest,
        over connection: BridgeConnection, _ check: inout EntityCheck
    ) async {
        guard let index = model.index(of: entity.name) else { return }
        let words = AbsentPathWarnings(attributes, in: model.entities[index])
        var present = PresentFields(words.reads.map(\.field), of: index)
        let mapper = Mapper(model)
        let plan = model.plan(of: index, source: source?.name) ?? index
        var (records, rejected) = (0, 0)
        var reason: String?
        var asked = request
        asked.explains = false
        asked.prefetches = false
        do throws(BridgeFailure) {
            let stream = try await connection.fetch(asked)
            do throws(BridgeFailure) {
                while let fetched = try await stream.next() {
                    if let batch = fetched.records {
                        let mapped = MappedBatch(batch, by: mapper, as: plan)
                        present.note(mapped, connection.redaction)
                        records += batch.count
                        rejected += mapped.rejectedCount
                        reason = reason ?? mapped.firstRejection.map(connection.redaction.words)
                    }
                    check.warnings += fetched.page.warnings
                    for bad in fetched.page.rejected {
                        (records, rejected, reason) = (records + 1, rejected + 1, reason ?? bad.reason)
                    }
                    // A page may be the whole listing, so its beginning is enough.
                    if fetched.page.pageEnd || records > 0 { break }
                }
            } catch {
                check.failure = error
            }
            await stream.close()
        } catch {
            check.failure = error
        }
        guard check.failure == nil else { return }
        check.records = records
        if let reason {
            check.warnings.append("\(rejected) of the first \(records) records could not be imported: \(reason)")
        }
        check.warnings += words.warnings(of: present, which: "first \(present.records) records")
    }

    /// Returns a parent that has a value for each name that a section may use.
    private static func sampleParent(of entity: Entity, _ parent: ParentScan?, in model: Model) throws -> RecordBatch {
        var source = entity
        if let name = parent?.relationship,
            let relationship = model.relationships(of: entity).first(where: { $0.name == name }),
            let target = model.entity(named: relationship.target)
        {
            source = target
        }
        let writer = RecordBatchWriter()
        writer.object {
            for attribute in model.attributes(of: source) {
                writer.key(attribute.name)
                writer.text("1")
            }
        }
        return try writer.finish()
    }

    /// Returns the paths in an explained page's metadata: one per line, names separated by `/`, `*` for anything.
    private static func fields(_ metadata: String) -> [String]? {
        guard let batch = try? JSONParser.batch(metadata), batch.count == 1 else { return nil }
        return withExtendedLifetime(batch) {
            batch[0]["fields"]?.text?.split(separator: "\n").map(String.init)
        }
    }

    private static func unknownPaths(_ attributes: [Attribute], among fields: [String]) -> [String] {
        let known = fields.map { $0.split(separator: "/").map(String.init) }
        return attributes.compactMap { attribute in
            guard case .path(let path) = attribute.source else { return nil }
            let components = path.components
            var depth = 0
            for field in known {
                let common = zip(field, components).prefix { $0 == $1 }.count
                if common == components.count || common < field.count && field[common] == "*" { return nil }
                depth = max(depth, common)
            }
            let siblings = known.filter { $0.count > depth && Array($0[..<depth]) == Array(components[..<depth]) }
                .map { $0[depth] }
            // A value without members is described only by its attributes' names.
            let place = depth == 0 ? "the records" : "\"\(components[..<depth].joined(separator: "."))\" of the records"
            let names = siblings.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
            let list =
                names.isEmpty ? "nothing" : names.prefix(12).joined(separator: ", ") + (names.count > 12 ? ", ..." : "")
            return "attribute \"\(attribute.name)\" reads \"\(path)\", but \(place) have no \"\(components[depth])\"; "
                + "they have: \(list)"
        }
    }
}
