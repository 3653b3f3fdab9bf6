extension ConfigurationReader {
    /// An entity with the marks needed to report faults in relation to the rest of the model.
    struct ReadEntity {
        var entity: Entity
        var keyMarks: [YAMLMark] = []
        var targetMarks: [String: YAMLMark] = [:]
        var inverseMarks: [String: YAMLMark] = [:]
        var windowMarks: [String: YAMLMark] = [:]
        var columnMarks: [String: YAMLMark] = [:]
        var linkMarks: [String: YAMLMark] = [:]
        /// The places of `metadata` in relationships without `from`.
        var metadataMarks: [String: YAMLMark] = [:]
        var superentityMark = YAMLMark.start
        /// Whether the entity has a `when`, valid or not.
        var hasMatcher = false
        var scan = ReadScan()
        /// `sources:` and `precedence:`, which are read after all entities.
        var sources: Member?
        /// Whether the entity itself sets `absent`, and not only its bridge.
        var hasAbsent = false
        var precedence: Member?
        var matchMarks: [YAMLMark] = []
        var readOneMark: YAMLMark?
        /// Whether `writable` is neither true nor false, so that dependent keys report no further fault.
        var hasFaultyWritable = false
        var newestMark: YAMLMark?
        /// The scans of the sources, one per source.
        var sourceScans: [ReadScan] = []
        /// Whether `attributes:` was readable, so that the key's names can be looked up.
        var knowsAttributes = false
    }

    mutating func readEntities(
        _ member: Member, _ defaults: EntityDefaults, bridges: [BridgeConfiguration]
    ) -> Model {
        var entities = (members(of: member.value, "\"entities\"", at: member.value.mark) ?? [])
            .map { readEntity($0, defaults, bridges: bridges) }
        for index in entities.indices { readSources(of: &entities[index], bridges: bridges) }
        check(entities)
        let model = Model(entities: entities.map(\.entity))
        // The records of a sub-entity in its super-entity's listing come from that entity's bridge.
        return Model(
            entities: model.entities.map { entity in
                guard !entity.isScanned else { return entity }
                var entity = entity
                // An entity without any listing has no bridge.
                entity.bridge = model.lineage(of: entity).last { $0.isScanned }?.bridge ?? ""
                return entity
            })
    }

    private mutating func readEntity(
        _ member: Member, _ defaults: EntityDefaults, bridges: [BridgeConfiguration]
    ) -> ReadEntity {
        let what = "entity \(quoted(member.name))"
        var result = ReadEntity(
            entity: Entity(
                name: member.name, bridge: "", key: [], attributes: [], location: location(member.key.mark)))
        if let fault = Naming.fault(member.name, what: "entity") {
            error(at: member.key.mark, fault.message, fault.remedy)
        }
        guard let own = members(of: member.value, what, at: member.value.mark) else { return result }
        var members = adding(defaults, to: member, own, bridges: bridges)
        let automatic = readAutomatic(&members, of: member.name, what)
        let section = Section(members: members, what: what)

        let isSubentity = section[EntityKeys.extends] != nil
        var bridge: BridgeConfiguration?
        let hasNoListing = readListing(section)
        if hasNoListing || isSubentity && section[EntityKeys.bridge] == nil {
            result.entity.isScanned = false
        } else {
            bridge = readBridge(section[EntityKeys.bridge], of: member, what, bridges: bridges)
        }
        result.entity.bridge = bridge?.name ?? ""
        // All of a record is in the column of "extra: true" then.
        let keepsAll = if case .bool(true) = section[EntityKeys.extra]?.value.scalar { true } else { false }
        let needsAttributes = !isSubentity && !keepsAll
        if automatic == .unknown {
            // A fault was reported.
        } else if let attributes = section[EntityKeys.attributes] {
            let first = diagnostics.count
            let list = self.members(of: attributes.value, "\"attributes\" of \(what)", at: attributes.value.mark)
            result.entity.attributes = (list ?? []).map { readAttribute($0, what) }
            result.knowsAttributes = list != nil
            if let list, list.isEmpty, needsAttributes {
                error(at: attributes.key.mark, "\(what) has no attributes", "add at least those of its key")
            }
            if automatic == .learned { moveToLearned(from: first) }
        } else if needsAttributes {
            error(at: member.key.mark, "missing key \"attributes\" of \(what)", "add \"attributes:\"")
        }
        if let relationships = section[EntityKeys.relationships] {
            let list = self.members(
                of: relationships.value, "\"relationships\" of \(what)", at: relationships.value.mark)
            for relationship in list ?? [] { readRelationship(relationship, what, into: &result) }
        }
        readIdentity(member, section, into: &result)
        result.scan = readScan(section)
        result.entity.parent = result.scan.parent
        result.entity.incremental = result.scan.incremental
        result.entity.fullEvery = result.scan.fullEvery
        result.entity.retryFor = result.scan.retryFor
        if !result.entity.isScanned {
            for key in ScanKeys.all {
                guard let scan = section[key] else { continue }
                error(
                    at: scan.key.mark, "\(quoted(key.name)) of \(what), which has no listing of its own",
                    hasNoListing ? "remove it, or \"listing: none\"" : "add \"bridge:\", or remove it")
            }
        }
        if let count = value(EntityKeys.quarantineLimit, of: section) { result.entity.quarantineLimit = Int(count) }
        if let deletes = section[EntityKeys.deletes] { result.entity.deletes = readDeletes(deletes, what) }
        if let conflicts = section[EntityKeys.conflicts] { readConflicts(conflicts, what, into: &result) }
        let absent = value(EntityKeys.absent, of: section)
        result.hasAbsent = absent != nil
        result.entity.absent = absent ?? bridge?.absent
        result.entity.keepsExtra = value(EntityKeys.extra, of: section) ?? false
        // Keep members that are not known yet, until the next sync learns them.
        if automatic != .none, section[EntityKeys.extra] == nil { result.entity.keepsExtra = true }
        result.entity.renamedFrom = value(EntityKeys.renamedFrom, of: section)
        readWrites(section, bridge, into: &result)
        result.sources = section[EntityKeys.sources]
        result.precedence = section[EntityKeys.precedence]
        result.entity.section = readSection(of: member, section, bridge, bridges, EntityKeys.shape) ?? .object([])
        return result
    }

    /// Returns whether the entity has `listing: none`, so that its objects only appear inside others.
    ///
    /// Reports keys that require a listing.
    private mutating func readListing(_ section: Section) -> Bool {
        let what = section.what
        guard let listing = section[EntityKeys.listing], let word = text(listing, of: what) else { return false }
        guard word == EntityKeys.noListing else {
            error(
                at: listing.value.mark, "unknown value \(quoted(word)) of \"listing\" of \(what)",
                "write \"none\", if its objects are only nested in others, or remove it")
            return false
        }
        for key in EntityKeys.ofListings {
            guard let given = section[key] else { continue }
            error(at: given.key.mark, "\(what) has \"listing: none\" and \(quoted(key.name))", "remove one")
        }
        return true
    }

    /// Returns the bridge; reports a fault and returns nil if there is none with this name.
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

    /// Reads the plugin's section of an entity or of one of its sources; returns nil if it cannot have one.
    mutating func readSection(
        of entity: Member, _ own: Section, _ bridge: BridgeConfiguration?, _ bridges: [BridgeConfiguration],
        _ shape: Shape
    ) -> ConfigValue? {
        let (members, what, keys) = (own.members, own.what, shape.names)
        let plugin = bridge.map(\.plugin) ?? ""
        var known = Set(bridges.map(\.plugin)).union(plugins.map { Set($0.keys) } ?? [])
        known.remove("")
        var unknown: [Member] = []
        var hasForeignSection = false
        let hasBridge = own[EntityKeys.bridge] != nil
        for member in members where !keys.contains(member.name) && member.name != plugin {
            if plugin.isEmpty {
                // The right section is unknown as long as the bridge or its plugin is.
                if !known.contains(member.name), bridge == nil {
                    unknown.append(member)
                } else if !hasBridge, own[EntityKeys.extends] != nil || own[EntityKeys.listing] != nil {
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
        // A section with another name was intended for this plugin: missing members are not a second fault.
        guard !plugin.isEmpty, section != nil || !hasForeignSection else { return nil }
        let mark = section?.key.mark ?? entity.key.mark
        return part(
            mapping(section?.value, mark), plugin: plugin, schema: plugins?[plugin]?.entity,
            "section \(quoted(plugin)) of \(what)", at: mark, isOptions: false,
            missing: section == nil ? plugin : nil)
    }
}
