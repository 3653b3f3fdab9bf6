extension ConfigurationReader {
    /// Reads `sources: NAME -> {bridge, SECTION, attributes, relationships, parent or each, incremental}`, and
    /// `precedence`.
    mutating func readSources(of result: inout ReadEntity, bridges: [BridgeConfiguration]) {
        let what = "entity \(quoted(result.entity.name))"
        if let sources = result.sources {
            let members = members(of: sources.value, "\"sources\" of \(what)", at: sources.value.mark) ?? []
            for member in members { readSource(member, bridges, what, into: &result) }
        }
        if let precedence = result.precedence {
            let valid = [EntitySource.mainName] + result.entity.sources.map(\.name)
            for (name, mark) in names(precedence, of: what) ?? [] {
                if !valid.contains(name) {
                    error(
                        at: mark, "\"precedence\" of \(what) names the unknown source \(quoted(name))",
                        suggestion(for: name, among: valid, what: "sources"))
                } else if result.entity.precedence.contains(name) {
                    error(at: mark, "\"precedence\" of \(what) names \(quoted(name)) twice", "remove one")
                } else {
                    result.entity.precedence.append(name)
                }
            }
        }
        checkConflicts(of: result, what)
        if let precedence = result.precedence, !result.entity.precedence.isEmpty {
            checkUse(of: precedence, result, what)
        }
    }

    private mutating func readSource(
        _ member: Member, _ bridges: [BridgeConfiguration], _ entity: String, into result: inout ReadEntity
    ) {
        let what = "source \(quoted(member.name)) of \(entity)"
        if member.name == EntitySource.mainName || !Naming.isIdentifier(member.name) {
            error(
                at: member.key.mark, "\(quoted(member.name)) is not a valid name for a source of \(entity)",
                "use letters, digits and _, and not \"\(EntitySource.mainName)\", which is the entity's own bridge")
        }
        guard let members = members(of: member.value, what, at: member.value.mark) else { return }
        let section = Section(members: members, what: what)
        let bridge = readBridge(section[SourceKeys.bridge], of: member, what, bridges: bridges)
        var source = EntitySource(
            name: member.name, bridge: bridge?.name ?? "", attributes: [], location: location(member.key.mark))
        if let attributes = section[SourceKeys.attributes] { readAttributes(attributes, what, into: &source, &result) }
        if let relationships = section[SourceKeys.relationships] {
            readRelationships(relationships, what, into: &source, &result)
        }
        if source.attributes.isEmpty, source.relationships.isEmpty {
            error(
                at: member.key.mark, "\(what) has neither attributes nor relationships",
                "add \"attributes:\" or \"relationships:\"")
        }
        for key in result.entity.keyAttributes where !source.attributes.contains(where: { $0.name == key.name }) {
            source.attributes.append(key)
        }
        let scan = readScan(section)
        source.parent = scan.parent
        source.incremental = scan.incremental
        source.fullEvery = scan.fullEvery
        source.retryFor = scan.retryFor
        source.absent =
            value(SourceKeys.absent, of: section) ?? (result.hasAbsent ? nil : bridge?.absent ?? .auto)
        let merged = Section(members: addingSection(of: bridge, to: members, at: member.key.mark), what: what)
        source.section = readSection(of: member, merged, bridge, bridges, SourceKeys.shape) ?? .object([])
        result.entity.sources.append(source)
        result.sourceScans.append(scan)
    }

    /// Reads a list of the entity's attribute names, which keep its mapping, or attributes with a separate mapping.
    private mutating func readAttributes(
        _ member: Member, _ what: String, into source: inout EntitySource, _ result: inout ReadEntity
    ) {
        guard case .mapping = member.value.content else {
            for (name, mark) in names(member, of: what) ?? [] {
                guard let attribute = result.entity.attribute(named: name) else {
                    error(
                        at: mark, "\"attributes\" of \(what) names the unknown attribute \(quoted(name))",
                        suggestion(for: name, among: result.entity.attributes.map(\.name), what: "attributes"))
                    continue
                }
                source.attributes.append(attribute)
                if !result.entity.key.contains(name) { result.entity.sourcedNames.insert(name) }
            }
            return
        }
        for member in members(of: member.value, "\"attributes\" of \(what)", at: member.value.mark) ?? [] {
            let attribute = readAttribute(member, what)
            source.attributes.append(attribute)
            guard let known = result.entity.attribute(named: attribute.name) else {
                result.entity.attributes.append(attribute)
                result.entity.sourcedNames.insert(attribute.name)
                continue
            }
            if known.type != attribute.type {
                error(
                    at: member.key.mark,
                    "attribute \(quoted(attribute.name)) of \(what) has the type \(attribute.type.rawValue), and "
                        + "\(known.type.rawValue) at \(known.location)", "give both the same type")
            }
        }
    }

    private mutating func readRelationships(
        _ member: Member, _ what: String, into source: inout EntitySource, _ result: inout ReadEntity
    ) {
        guard case .mapping = member.value.content else {
            for (name, mark) in names(member, of: what) ?? [] {
                guard let relationship = result.entity.relationship(named: name) else {
                    error(
                        at: mark, "\"relationships\" of \(what) names the unknown relationship \(quoted(name))",
                        suggestion(for: name, among: result.entity.relationships.map(\.name), what: "relationships"))
                    continue
                }
                source.relationships.append(relationship)
                result.entity.sourcedNames.insert(name)
            }
            return
        }
        for member in members(of: member.value, "\"relationships\" of \(what)", at: member.value.mark) ?? [] {
            if let known = result.entity.relationship(named: member.name) {
                error(
                    at: member.key.mark,
                    "relationship \(quoted(member.name)) of \(what) is declared at \(known.location) already",
                    "name it in a list: relationships: [\(shortened(member.name))]")
                continue
            }
            readRelationship(member, what, into: &result)
            guard let relationship = result.entity.relationship(named: member.name) else { continue }
            source.relationships.append(relationship)
            result.entity.sourcedNames.insert(member.name)
        }
    }

    /// Reports a `precedence` without effect, because each attribute comes from one source.
    ///
    /// Most likely, the attributes were intended to come from the entity's own bridge too.
    private mutating func checkUse(of precedence: Member, _ result: ReadEntity, _ what: String) {
        let entity = result.entity
        let others = entity.sources.flatMap { $0.attributes.map(\.name) + $0.relationships.map(\.name) }
            .filter { !entity.key.contains($0) }
        let own = (entity.attributes.map(\.name) + entity.relationships.map(\.name))
            .filter { !entity.sourcedNames.contains($0) }
        guard Set(others).count == others.count, Set(own).isDisjoint(with: others) else { return }
        let example = others.first { name in entity.attributes.contains { $0.name == name } } ?? "name"
        let type = entity.attribute(named: example)?.type.rawValue ?? "text"
        error(
            at: precedence.key.mark,
            "\"precedence\" of \(what) decides nothing: no attribute is provided by two sources; what a source names "
                + "in a list comes from it alone",
            "remove it, or give the source its own mapping for what both provide, such as "
                + "\"attributes: {\(example): \(type)}\"")
    }

    /// Requires a `precedence` that names all sources of an attribute with several.
    private mutating func checkConflicts(of result: ReadEntity, _ what: String) {
        let entity = result.entity
        let main = entity.attributes.map(\.name) + entity.relationships.map(\.name)
        var bringers: [(name: String, sources: [String], location: SourceLocation)] = main.map { name in
            (name, entity.sourcedNames.contains(name) ? [] : [EntitySource.mainName], .unknown)
        }
        let places = Dictionary(zip(main, main.indices), uniquingKeysWith: { first, _ in first })
        let keys = Set(entity.key)
        for source in entity.sources {
            for name in source.attributes.map(\.name) + source.relationships.map(\.name) where !keys.contains(name) {
                guard let index = places[name] else { continue }
                bringers[index].sources.append(source.name)
                bringers[index].location = source.location
            }
        }
        let ranked = Set(entity.precedence)
        for bringer in bringers where bringer.sources.count > 1 {
            if entity.relationship(named: bringer.name)?.kind == .toMany {
                error(
                    at: YAMLMark(line: bringer.location.line, column: bringer.location.column),
                    "\(quoted(bringer.name)) of \(what) refers to many objects and is provided by the sources "
                        + bringer.sources.map(quoted).joined(separator: ", "), "let only one of them provide it")
                continue
            }
            let missing = bringer.sources.filter { !ranked.contains($0) }
            guard !missing.isEmpty else { continue }
            error(
                at: YAMLMark(line: bringer.location.line, column: bringer.location.column),
                "\(quoted(bringer.name)) of \(what) is provided by the sources "
                    + bringer.sources.map(quoted).joined(separator: ", "),
                "say which one wins, such as \"precedence: [\(bringer.sources.joined(separator: ", "))]\"")
        }
    }
}
