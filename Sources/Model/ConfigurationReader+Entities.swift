extension ConfigurationReader {
    /// An entity with the places that its checks against the rest of the model report.
    struct ReadEntity {
        var entity: Entity
        var keyMarks: [YAMLMark] = []
        var targetMarks: [String: YAMLMark] = [:]
        var inverseMarks: [String: YAMLMark] = [:]
        /// Whether `attributes:` was readable, so that the key's names can be looked up.
        var knowsAttributes = false
    }

    mutating func readEntities(_ member: Member, bridges: [BridgeConfiguration]) -> Model {
        let entities = (members(of: member.value, "\"entities\"", at: member.value.mark) ?? [])
            .map { readEntity($0, bridges: bridges) }
        check(entities)
        return Model(entities: entities.map(\.entity))
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

        let bridge = readBridge(find("bridge"), of: member, what, bridges: bridges)
        result.entity.bridge = bridge?.name ?? ""
        if let attributes = find("attributes") {
            let list = self.members(of: attributes.value, "\"attributes\" of \(what)", at: attributes.value.mark)
            result.entity.attributes = (list ?? []).map { readAttribute($0, what) }
            result.knowsAttributes = list != nil
            if let list, list.isEmpty {
                error(at: attributes.key.mark, "\(what) has no attributes", "add at least those of its key")
            }
        } else {
            error(at: member.key.mark, "missing key \"attributes\" of \(what)", "add \"attributes:\"")
        }
        if let relationships = find("relationships") {
            let list = self.members(
                of: relationships.value, "\"relationships\" of \(what)", at: relationships.value.mark)
            for relationship in list ?? [] { readRelationship(relationship, what, into: &result) }
        }
        if let key = find("key") {
            readKey(key, what, into: &result)
        } else {
            error(
                at: member.key.mark, "missing key \"key\" of \(what)",
                "add \"key:\" with the attribute that identifies a record")
        }
        readSection(of: member, members, bridge, bridges, what, into: &result)
        return result
    }

    /// The bridge, or nil, with a fault, when there is none of that name.
    private mutating func readBridge(
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

    private mutating func readKey(_ member: Member, _ what: String, into result: inout ReadEntity) {
        let nodes: [YAMLNode] = if case .sequence(let list) = member.value.content { list } else { [member.value] }
        if nodes.isEmpty { error(at: member.value.mark, "\"key\" of \(what) is empty", "name at least one attribute") }
        for node in nodes {
            guard let name = node.scalarText, !node.isNull else {
                error(
                    at: node.mark, "\"key\" of \(what) must be a name or a list of names, is \(node.kind.rawValue)",
                    "write \"key: NAME\" or \"key: [NAME, NAME]\"")
                continue
            }
            if result.entity.key.contains(name) {
                error(at: node.mark, "\"key\" of \(what) names \(quoted(name)) twice", "remove one")
                continue
            }
            result.entity.key.append(name)
            result.keyMarks.append(node.mark)
            guard result.knowsAttributes else { continue }
            if let attribute = result.entity.attribute(named: name) {
                if attribute.type == .json {
                    error(
                        at: node.mark, "the key attribute \(quoted(name)) of \(what) has the type json",
                        "a key needs a type that compares, such as text")
                }
            } else if result.entity.relationship(named: name) != nil {
                error(
                    at: node.mark, "\"key\" of \(what) names the relationship \(quoted(name))",
                    "name attributes; add one that reads the same value with \"from:\"")
            } else {
                error(
                    at: node.mark, "\"key\" of \(what) names the unknown attribute \(quoted(name))",
                    suggestion(for: name, among: result.entity.attributes.map(\.name), what: "attributes"))
            }
        }
    }

    private mutating func readSection(
        of entity: Member, _ members: [Member], _ bridge: BridgeConfiguration?, _ bridges: [BridgeConfiguration],
        _ what: String, into result: inout ReadEntity
    ) {
        let plugin = bridge.map(\.plugin) ?? ""
        var known = Set(bridges.map(\.plugin)).union(plugins.map { Set($0.keys) } ?? [])
        known.remove("")
        var unknown: [Member] = []
        var hasForeignSection = false
        for member in members where !Self.entityKeys.contains(member.name) && member.name != plugin {
            if plugin.isEmpty {
                // Which section is right cannot be said as long as the bridge or its plugin is not known.
                if !known.contains(member.name), bridge == nil { unknown.append(member) }
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
        report(unknown: unknown, valid: Self.entityKeys + (plugin.isEmpty ? known.sorted() : [plugin]), of: what)
        let section = members.first { $0.name == plugin }
        // A section of another name was meant for this one: that it lacks what it must have is no second fault.
        guard !plugin.isEmpty, section != nil || !hasForeignSection else { return }
        let mark = section?.key.mark ?? entity.key.mark
        result.entity.section = part(
            mapping(section?.value, mark), plugin: plugin, schema: plugins?[plugin]?.entity,
            "section \(quoted(plugin)) of \(what)", at: mark, isOptions: false,
            missing: section == nil ? plugin : nil)
    }
}
