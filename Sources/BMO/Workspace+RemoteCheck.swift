public import BridgeHost
public import Model
internal import RecordBatch

/// What `bmo check --remote` finds out about an entity without reading records: the bridge explains the request that it would
/// send, and judges the entity's section by what the API says of itself.
public struct EntityCheck: Sendable {
    /// The entity, with its further source where the check is of that: `Country (from wiki)`.
    public var entity: String
    /// Why its records can't be read; nil where they can.
    public var failure: BridgeFailure?
    /// What is likely a mistake, a sentence each.
    public var warnings: [String] = []
}

extension Workspace {
    /// Has a bridge judge the sections of the entities that it brings; empty for a bridge that can't.
    ///
    /// - Throws: ``SecretError``.
    public func check(entitiesOf bridge: BridgeConfiguration, over connection: BridgeConnection) async throws
        -> [EntityCheck]
    {
        guard connection.plugin.can("plan") else { return [] }
        var checks: [EntityCheck] = []
        for entity in configuration.model.entities {
            if entity.bridge == bridge.name, entity.isWalked {
                checks.append(
                    try await check(
                        entity, title: entity.name, section: entity.section, parent: entity.parent,
                        attributes: configuration.model.attributes(of: entity), over: connection))
            }
            for source in entity.sources where source.bridge == bridge.name {
                checks.append(
                    try await check(
                        entity, title: "\(entity.name) (from \(source.name))", section: source.section,
                        parent: source.parent, attributes: source.attributes, over: connection))
            }
        }
        return checks
    }

    private func check(
        _ entity: Entity, title: String, section: ConfigValue, parent: ParentWalk?, attributes: [Attribute],
        over connection: BridgeConnection
    ) async throws -> EntityCheck {
        var check = EntityCheck(entity: title)
        var encoder = ConfigEncoder(directory: configuration.directory)
        var request = FetchRequest(entity: entity.name, section: try encoder.batch(section))
        request.explains = true
        if parent != nil { request.parent = try Self.sampleParent(of: entity, parent, in: configuration.model) }
        do throws(BridgeFailure) {
            let stream = try await connection.fetch(request)
            do throws(BridgeFailure) {
                var fields: [String]?
                while let fetched = try await stream.next() {
                    check.warnings += fetched.page.warnings
                    if let text = fetched.page.metadata { fields = Self.fields(text) ?? fields }
                }
                if let fields { check.warnings += Self.unknownPaths(attributes, among: fields) }
            } catch {
                check.failure = error
            }
            await stream.close()
        } catch {
            check.failure = error
        }
        return check
    }

    /// A parent that has a value for each name that a section may use.
    private static func sampleParent(of entity: Entity, _ parent: ParentWalk?, in model: Model) throws -> RecordBatch {
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

    /// The paths of an explained page's metadata: a line each, names with `/` between, `*` for anything.
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
            // What a value without members holds is told by its attributes' names only.
            let place = depth == 0 ? "the records" : "\"\(components[..<depth].joined(separator: "."))\" of the records"
            let names = siblings.reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
            let list =
                names.isEmpty ? "nothing" : names.prefix(12).joined(separator: ", ") + (names.count > 12 ? ", ..." : "")
            return "attribute \"\(attribute.name)\" reads \"\(path)\", but \(place) have no \"\(components[depth])\"; "
                + "they have: \(list)"
        }
    }
}
