extension ConfigurationReader {
    /// An entity with the places that its checks against the rest of the model report.
    struct ReadEntity {
        var entity: Entity
        var keyMarks: [YAMLMark] = []
        var targetMarks: [String: YAMLMark] = [:]
        var inverseMarks: [String: YAMLMark] = [:]
        var windowMarks: [String: YAMLMark] = [:]
        var superentityMark = YAMLMark.start
        /// Whether there is a `when`, maybe a faulty one.
        var hasMatcher = false
        var walk = ReadWalk()
        /// `sources:` and `precedence:`, which are read when all entities have been.
        var sources: Member?
        var precedence: Member?
        var matchMarks: [YAMLMark] = []
        var readOneMark: YAMLMark?
        /// Whether `writable` is neither true nor false: what goes with it is no further fault.
        var hasFaultyWritable = false
        var newestMark: YAMLMark?
        /// Per source.
        var sourceWalks: [ReadWalk] = []
        /// Whether `attributes:` was readable, so that the key's names can be looked up.
        var knowsAttributes = false
    }

    mutating func readEntities(_ member: Member, bridges: [BridgeConfiguration]) -> Model {
        var entities = (members(of: member.value, "\"entities\"", at: member.value.mark) ?? [])
            .map { readEntity($0, bridges: bridges) }
        for index in entities.indices { readSources(of: &entities[index], bridges: bridges) }
        check(entities)
        var model = Model(entities: entities.map(\.entity))
        // What comes among the records of a super-entity comes from its bridge.
        for index in model.entities.indices where !model.entities[index].isWalked {
            let lineage = model.lineage(of: model.entities[index])
            model.entities[index].bridge = lineage.last { $0.isWalked }?.bridge ?? ""
        }
        return model
    }

    private mutating func readEntity(_ member: Member, bridges: [BridgeConfiguration]) -> ReadEntity {
        let what = "entity \(quoted(member.name))"
        var result = ReadEntity(
            entity: Entity(
                name: member.name, bridge: "", key: [], attributes: [], location: location(member.key.mark)))
        if let fault = Naming.fault(member.name, what: "entity") {
            error(at: member.key.mark, fault.message, fault.remedy)
        }
        guard let members = members(of: member.value, what, at: member.value.mark) else { return result }
        func find(_ name: String) -> Member? { members.first { $0.name == name } }

        let isSubentity = find("extends") != nil
        var bridge: BridgeConfiguration?
        if isSubentity, find("bridge") == nil {
            result.entity.isWalked = false
        } else {
            bridge = readBridge(find("bridge"), of: member, what, bridges: bridges)
        }
        result.entity.bridge = bridge?.name ?? ""
        if let attributes = find("attributes") {
            let list = self.members(of: attributes.value, "\"attributes\" of \(what)", at: attributes.value.mark)
            result.entity.attributes = (list ?? []).map { readAttribute($0, what) }
            result.knowsAttributes = list != nil
            if let list, list.isEmpty, !isSubentity {
                error(at: attributes.key.mark, "\(what) has no attributes", "add at least those of its key")
            }
        } else if !isSubentity {
            error(at: member.key.mark, "missing key \"attributes\" of \(what)", "add \"attributes:\"")
        }
        if let relationships = find("relationships") {
            let list = self.members(
                of: relationships.value, "\"relationships\" of \(what)", at: relationships.value.mark)
            for relationship in list ?? [] { readRelationship(relationship, what, into: &result) }
        }
        readIdentity(member, members, what, into: &result)
        result.walk = readWalk(members, what)
        result.entity.parent = result.walk.parent
        result.entity.incremental = result.walk.incremental
        result.entity.fullEvery = result.walk.fullEvery
        if !result.entity.isWalked {
            for name in Self.walkKeys {
                guard let walk = find(name) else { continue }
                error(
                    at: walk.key.mark, "\(quoted(name)) of \(what), which has no listing of its own",
                    "add \"bridge:\", or remove it")
            }
        }
        if let deletes = find("deletes") { result.entity.deletes = readDeletes(deletes, what) }
        if let conflicts = find("conflicts") { readConflicts(conflicts, what, into: &result) }
        if let extra = find("extra") { result.entity.keepsExtra = flag(extra, of: what) ?? false }
        if let renamed = find("renamed_from") { result.entity.renamedFrom = text(renamed, of: what) }
        readWrites(member, members, bridge, what, into: &result)
        result.sources = find("sources")
        result.precedence = find("precedence")
        result.entity.section =
            readSection(of: member, members, bridge, bridges, what, keys: Self.entityKeys) ?? .object([])
        return result
    }

    /// The bridge, or nil, with a fault, when there is none of that name.
    mutating func readBridge(
        _ bridge: Member?, of entity: Member, _ what: String, bridges: [BridgeConfiguration]
    ) -> BridgeConfiguration? {
        guard let bridge else {
            let names = bridges.map(\.name).sorted().joined(separator: ", ")
            error(
                at: entity.key.mark, "missing key \"bridge\" of \(what)",
                "add \"bridge:\"" + (names.isEmpty ? "" : " with one of: \(names)"))
            return nil
        }
        guard let name = text(bridge, of: what) else { return nil }
        if let found = bridges.first(where: { $0.name == name }) { return found }
        let remedy = suggestion(for: name, among: bridges.map(\.name), what: "bridges of this file")
        error(
            at: bridge.value.mark, "unknown bridge \(quoted(name)) of \(what)",
            remedy ?? "declare it under \"bridges:\"")
        return nil
    }

    /// The part of a plugin, of an entity or of one of its sources; nil where there can be none.
    mutating func readSection(
        of entity: Member, _ members: [Member], _ bridge: BridgeConfiguration?, _ bridges: [BridgeConfiguration],
        _ what: String, keys: [String]
    ) -> ConfigValue? {
        let plugin = bridge.map(\.plugin) ?? ""
        var known = Set(bridges.map(\.plugin)).union(plugins.map { Set($0.keys) } ?? [])
        known.remove("")
        var unknown: [Member] = []
        var hasForeignSection = false
        let hasBridge = members.contains { $0.name == "bridge" }
        for member in members where !keys.contains(member.name) && member.name != plugin {
            if plugin.isEmpty {
                // Which section is right cannot be said as long as the bridge or its plugin is not known.
                if !known.contains(member.name), bridge == nil {
                    unknown.append(member)
                } else if !hasBridge, members.contains(where: { $0.name == "extends" }) {
                    error(
                        at: member.key.mark, "the section \(quoted(member.name)) of \(what), which has no bridge",
                        "add \"bridge:\" for a listing of its own, or remove the section")
                }
            } else if let bridge, known.contains(member.name) || bridges.contains(where: { $0.name == member.name }) {
                hasForeignSection = true
                error(
                    at: member.key.mark,
                    "the section \(quoted(member.name)) of \(what) is not for its bridge: \(quoted(bridge.name)) uses "
                        + "the plugin \(quoted(plugin))", "name the section \"\(shortened(plugin))\", or remove it")
            } else {
                unknown.append(member)
            }
        }
        report(unknown: unknown, valid: keys + (plugin.isEmpty ? known.sorted() : [plugin]), of: what)
        let section = members.first { $0.name == plugin }
        // A section of another name was meant for this one: that it lacks what it must have is no second fault.
        guard !plugin.isEmpty, section != nil || !hasForeignSection else { return nil }
        let mark = section?.key.mark ?? entity.key.mark
        return part(
            mapping(section?.value, mark), plugin: plugin, schema: plugins?[plugin]?.entity,
            "section \(quoted(plugin)) of \(what)", at: mark, isOptions: false,
            missing: section == nil ? plugin : nil)
    }
}
