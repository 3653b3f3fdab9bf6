extension ConfigurationReader {
    /// Reads `NAME: {to: ENTITY}` or `NAME: {many: ENTITY}`, with `from`, `inverse` and, for many, `merge`.
    mutating func readRelationship(_ member: Member, _ entity: String, into result: inout ReadEntity) {
        let what = "relationship \(quoted(member.name)) of \(entity)"
        if let fault = Naming.fault(member.name, what: "relationship") {
            error(at: member.key.mark, fault.message, fault.remedy)
        }
        guard case .mapping = member.value.content,
            let section = section(member.value, RelationshipKeys.shape, what)
        else {
            error(
                at: member.value.mark, "\(what) must be a mapping, not \(member.value.kind.rawValue)",
                "write {to: ENTITY} or {many: ENTITY}")
            return
        }
        let to = section[RelationshipKeys.to]
        let many = section[RelationshipKeys.many]
        if to != nil, let many {
            error(at: many.key.mark, "\(what) has \"to\" and \"many\"", "remove one: it leads to one object or to many")
        }
        guard let end = to ?? many else {
            error(
                at: member.key.mark, "missing key \"to\" or \"many\" of \(what)",
                "add \"to: ENTITY\" or \"many: ENTITY\"")
            return
        }
        guard let target = text(end, of: what) else { return }
        var relationship = Relationship(
            name: member.name, kind: to == nil ? .toMany : .toOne, target: target, location: location(member.key.mark))
        result.targetMarks[member.name] = end.value.mark
        if let path = value(RelationshipKeys.from, of: section) { relationship.source = path }
        if let inverse = section[RelationshipKeys.inverse], let name = text(inverse, of: what) {
            relationship.inverse = name
            result.inverseMarks[member.name] = inverse.value.mark
        }
        if let merge = section[RelationshipKeys.merge] { readMerge(merge, what, into: &relationship, &result) }
        relationship.renamedFrom = value(RelationshipKeys.renamedFrom, of: section)
        if let write = section[RelationshipKeys.write] {
            relationship.write = readWriteRule(write, forms: RelationshipKeys.relationshipForms, what)
        }
        if let table = section[RelationshipKeys.table], let name = text(table, of: what) {
            relationship.table = name
            if let fault = Naming.fault(name, what: "entity") {
                error(at: table.value.mark, fault.message, fault.remedy)
            }
            result.linkMarks[member.name] = table.key.mark
        }
        if let columns = section[RelationshipKeys.columns] {
            for (name, mark) in names(columns, of: what) ?? [] {
                if let fault = Naming.fault(name, what: "attribute") { error(at: mark, fault.message, fault.remedy) }
                relationship.linkColumns.append(name)
            }
            let names = Set(relationship.linkColumns.map { $0.lowercased() })
            if relationship.linkColumns.count != 2 || names.count != 2 || names.contains("position") {
                error(
                    at: columns.value.mark, "\"columns\" of \(what) must be two names, neither of them position",
                    "write [post_id, tag_id]: this entity's, then the target's")
                relationship.linkColumns = []
            }
            result.linkMarks[member.name] = columns.key.mark
        }
        if let column = section[RelationshipKeys.column] { readColumn(column, what, into: &relationship, &result) }
        relationship.absent = value(RelationshipKeys.absent, of: section)
        if let nulls = section[RelationshipKeys.nullValues] { relationship.nullValues = nullValues(nulls, what) }
        if let orphans = section[RelationshipKeys.orphans], let choice = value(RelationshipKeys.orphans, of: section) {
            relationship.orphans = choice
            if relationship.kind == .toOne {
                error(at: orphans.key.mark, "\"orphans\" of \(what), which leads to one", "remove it")
            }
        }
        if let ordered = section[RelationshipKeys.ordered], let flag = value(RelationshipKeys.ordered, of: section) {
            relationship.isOrdered = flag
            if relationship.kind == .toOne {
                error(at: ordered.key.mark, "\"ordered\" of \(what), which leads to one", "remove it")
            }
        }
        if let metadata = section[RelationshipKeys.metadata] {
            readMetadata(metadata, what, into: &relationship)
            if section[RelationshipKeys.from] == nil { result.metadataMarks[member.name] = metadata.key.mark }
        }
        result.entity.relationships.append(relationship)
    }

    /// Reads a value or a list of values.
    ///
    /// An empty text is a value.
    private mutating func nullValues(_ member: Member, _ what: String) -> [String] {
        let nodes: [YAMLNode] = if case .sequence(let list) = member.value.content { list } else { [member.value] }
        return nodes.compactMap { node in
            if !node.isNull, let text = node.scalarText { return text }
            error(
                at: node.mark, "\"null_values\" of \(what) takes texts and numbers, not \(node.kind.rawValue)",
                "write \"null_values: 0\", or a list of values; null needs no mention")
            return nil
        }
    }

    /// Reads `column: author_id`, or a list with one name per attribute of the target's key.
    private mutating func readColumn(
        _ member: Member, _ what: String, into relationship: inout Relationship, _ result: inout ReadEntity
    ) {
        guard relationship.kind == .toOne else {
            error(
                at: member.key.mark, "\"column\" of \(what), which leads to many",
                "remove it: its target has the column")
            return
        }
        for (name, mark) in names(member, of: what) ?? [] {
            if let fault = Naming.fault(name, what: "attribute") { error(at: mark, fault.message, fault.remedy) }
            relationship.columns.append(name)
        }
        result.columnMarks[relationship.name] = member.value.mark
    }

    /// Reads `replace`, `append`, `insert_at_beginning`, or `{window: ATTRIBUTE}`.
    private mutating func readMerge(
        _ merge: Member, _ what: String, into relationship: inout Relationship, _ result: inout ReadEntity
    ) {
        guard relationship.kind == .toMany else {
            error(at: merge.key.mark, "\"merge\" of \(what), which leads to one", "remove it: a to-one is replaced")
            return
        }
        if case .mapping = merge.value.content {
            let subject = "\"merge\" of \(what)"
            guard let section = section(merge.value, MergeKeys.shape, subject),
                let window = required(MergeKeys.window, of: section, at: merge.key.mark)
            else { return }
            relationship.window = text(window, of: subject)
            result.windowMarks[relationship.name] = window.value.mark
            return
        }
        guard let name = text(merge, of: what) else { return }
        if let known = Relationship.Merge(rawValue: name) {
            relationship.merge = known
        } else {
            error(
                at: merge.value.mark, "unknown merge \(quoted(name)) of \(what)",
                suggestion(for: name, among: Relationship.Merge.allCases.map(\.rawValue) + ["{window: ATTRIBUTE}"]))
        }
    }

    /// Checks what requires the whole model: targets, inverses, and names that SQLite considers equal.
    mutating func check(_ entities: [ReadEntity]) {
        let model = Model(entities: entities.map(\.entity))
        let reached = Self.reached(in: model)
        entityNames = ValidNames(model.entities.map(\.name))
        for read in entities {
            checkLineage(of: read, model, reached: reached)
            checkScans(of: read, model)
            checkWrites(of: read, model)
            for relationship in read.entity.relationships {
                checkEnds(of: relationship, in: read, model)
            }
        }
        checkTableNames(entities, model)
        checkRenames(model)
        for read in entities where read.entity.superentity == nil { checkColumnNames(of: read.entity, model) }
    }

    private mutating func checkEnds(of relationship: Relationship, in read: ReadEntity, _ model: Model) {
        let what = "relationship \(quoted(relationship.name)) of entity \(quoted(read.entity.name))"
        guard let target = model.entity(named: relationship.target) else {
            error(
                at: read.targetMarks[relationship.name] ?? .start,
                "unknown entity \(quoted(relationship.target)) in \(what)",
                entityNames.suggestion(for: relationship.target, what: "entities"))
            return
        }
        let keyCount = model.key(of: target).count
        if let mark = read.columnMarks[relationship.name], relationship.columns.count != keyCount {
            error(
                at: mark,
                "\(what) has \(relationship.columns.count) columns, and the key of \(quoted(target.name)) "
                    + "has \(keyCount) attribute\(keyCount == 1 ? "" : "s")",
                "name one column per attribute of that key, in its order")
        }
        if let mark = read.linkMarks[relationship.name] {
            let storage = model.storage(of: relationship, in: read.entity)
            if case .joinTable? = storage, model.owner(of: relationship, in: read.entity).name == read.entity.name {
            } else {
                error(
                    at: mark, "\(what) has no link table of its own, and so no \"table\" and \"columns\"",
                    relationship.kind == .toOne
                        ? "\"column\" names the column of a relationship to one"
                        : "set it for the relationship that keeps the links")
            }
        }
        if target.uniquing == .none {
            error(
                at: read.targetMarks[relationship.name] ?? .start,
                "\(what) leads to \(quoted(target.name)), whose objects have no key", "give it a key")
        } else if read.entity.uniquing == .none, relationship.kind == .toMany {
            error(
                at: read.targetMarks[relationship.name] ?? .start,
                "\(what) leads to many, and its own objects have no key", "give it a key, or use \"to:\"")
        }
        if let window = relationship.window, model.attributes(of: target).allSatisfy({ $0.name != window }) {
            error(
                at: read.windowMarks[relationship.name] ?? .start,
                "\"window\" of \(what) names the unknown attribute \(quoted(window)) of \(quoted(target.name))",
                suggestion(for: window, among: model.attributes(of: target).map(\.name), what: "attributes"))
        }
        checkMetadata(of: relationship, in: read, target, model, what)
        guard let name = relationship.inverse else { return }
        let mark = read.inverseMarks[relationship.name] ?? .start
        if target.name == read.entity.name, name == relationship.name {
            error(at: mark, "\(what) is its own inverse", "name another relationship, or remove \"inverse\"")
            return
        }
        guard let other = target.relationship(named: name) else {
            let remedy = suggestion(
                for: name, among: target.relationships.map(\.name),
                what: "relationships of \(quoted(target.name))")
            error(
                at: mark, "unknown inverse \(quoted(name)) of \(what)",
                remedy ?? "entity \(quoted(target.name)) has no relationships: add it there")
            return
        }
        if other.target != read.entity.name {
            error(
                at: mark, "the inverse \(quoted(name)) of \(what) leads to \(quoted(other.target)), not back",
                "name a relationship of \(quoted(target.name)) that leads to \(quoted(read.entity.name))")
        } else if let back = other.inverse, back != relationship.name {
            error(
                at: mark, "the inverse \(quoted(name)) of \(what) names \(quoted(back)) as its own inverse",
                "let both name each other")
        } else if other.inverse == nil,
            let first = read.entity.relationships.first(where: {
                $0.target == target.name && $0.inverse == name && $0.name != relationship.name
            }), let firstMark = read.inverseMarks[first.name], firstMark < mark
        {
            error(
                at: mark, "\(quoted(name)) is the inverse of \(quoted(first.name)) and of \(what)",
                "give each relationship an inverse of its own")
        }
    }

    private mutating func checkTableNames(_ entities: [ReadEntity], _ model: Model) {
        var tables: [String: (name: String, what: String)] = [:]
        for read in entities {
            // A sub-entity has no table, but users query its objects by its name.
            let entity = read.entity
            if let first = tables[entity.name.lowercased()] {
                report(clash: entity.name, with: first.name, "\(first.what) and another", entity.location, "tables")
            } else {
                tables[entity.name.lowercased()] = (entity.name, "entity \(quoted(entity.name))")
            }
        }
        for read in entities {
            guard let view = read.entity.deletes.view else { continue }
            let what = "the view of \"deletes\" of entity \(quoted(read.entity.name))"
            if let first = tables[view.lowercased()] {
                report(clash: view, with: first.name, "\(first.what) and \(what)", read.entity.location, "tables")
            } else {
                tables[view.lowercased()] = (view, what)
            }
        }
        for read in entities {
            for relationship in read.entity.relationships
            where model.owner(of: relationship, in: read.entity).name == read.entity.name {
                guard case .joinTable(let name) = model.storage(of: relationship, in: read.entity) else { continue }
                let what = "the join table of \(quoted(relationship.name)) of entity \(quoted(read.entity.name))"
                if let first = tables[name.lowercased()] {
                    report(clash: name, with: first.name, "\(first.what) and \(what)", relationship.location, "tables")
                } else {
                    tables[name.lowercased()] = (name, what)
                }
            }
        }
    }

    mutating func report(
        clash name: String, with other: String, _ things: String, _ location: SourceLocation, _ kind: String
    ) {
        let names = name == other ? quoted(name) : "\(quoted(other)) and \(quoted(name))"
        error(
            at: YAMLMark(line: location.line, column: location.column),
            "\(things) share the name \(names)"
                + (name == other ? "" : ": SQLite's \(kind) are not case-sensitive"), "rename one")
    }
}
