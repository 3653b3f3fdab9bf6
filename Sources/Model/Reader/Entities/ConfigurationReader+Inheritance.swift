extension ConfigurationReader {
    /// Checks that the super-entities exist and lead to a root.
    ///
    /// - Parameter reached: The entities that a relationship or a sub-entity leads to: see ``reached(in:)``.
    mutating func checkLineage(of read: ReadEntity, _ model: Model, reached: Set<String>) {
        guard let name = read.entity.superentity else { return }
        let what = "entity \(quoted(read.entity.name))"
        guard let superentity = model.entity(named: name) else {
            error(
                at: read.superentityMark, "unknown entity \(quoted(name)) in \"extends\" of \(what)",
                entityNames.suggestion(for: name, what: "entities"))
            return
        }
        let root = model.root(of: read.entity)
        if let top = root.superentity {
            // Report a cycle once, at its first entity in the file. An unknown super-entity is reported where it is
            // named.
            let circle = Set(model.lineage(of: read.entity).map(\.name))
            if circle.contains(top), model.entities.first(where: { circle.contains($0.name) })?.name == read.entity.name
            {
                error(at: read.superentityMark, "\(what) is its own super-entity", "remove the extends of one of them")
            }
            return
        }
        if root.uniquing != .key {
            error(
                at: read.superentityMark,
                "\(what) extends \(quoted(superentity.name)), which is \"unique: \(root.uniquing.rawValue)\"",
                "give \(quoted(root.name)) a key")
        }
        if !read.hasMatcher, !read.entity.isScanned, !reached.contains(read.entity.name) {
            error(
                at: YAMLMark(line: read.entity.location.line, column: read.entity.location.column),
                "\(what) has neither \"when\" nor a bridge, and no relationship leads to it: no record can be one",
                "add \"when:\", such as {has: PROPERTY}")
        }
    }

    /// Returns the names of the entities that a relationship or a sub-entity leads to.
    static func reached(in model: Model) -> Set<String> {
        model.entities.reduce(into: []) { reached, entity in
            reached.formUnion(entity.relationships.map(\.target))
            if let superentity = entity.superentity { reached.insert(superentity) }
        }
    }

    /// Checks the column names of a table: those of a root and all its sub-entities.
    mutating func checkColumnNames(of root: Entity, _ model: Model) {
        var columns: [String: (name: String, what: String)] = [:]
        func reserve(_ name: String, _ what: String) { columns[name.lowercased()] = (name, what) }
        let family = model.family(of: root)
        if family.count > 1 { reserve(Entity.discriminatorColumn, "the column that tells sub-entities apart") }
        if root.uniquing == .singleton { reserve(Entity.singletonColumn, "the key of a singleton") }
        if root.keepsExtra { reserve(Entity.extraColumn, "the column of \"extra: true\"") }
        if root.deletes.mode == .soft { reserve(Entity.deletionColumn, "the column of soft deletions") }
        // The attributes by name, since many sub-entities may have the same one.
        var declared: [String: [(entity: String, attribute: Attribute)]] = [:]
        for entity in family {
            for attribute in entity.attributes {
                declared[attribute.name, default: []].append((entity.name, attribute))
            }
        }
        for entity in family {
            let above = model.lineage(of: entity).dropLast()
            for attribute in entity.attributes {
                let of = entity.name == root.name ? "" : " of \(quoted(entity.name))"
                let what = "attribute \(quoted(attribute.name))\(of)"
                let known = declared[attribute.name]?.first { $0.entity != entity.name }?.attribute
                if let first = columns[attribute.name.lowercased()] {
                    if entity.name != root.name, first.name == attribute.name, let known {
                        // The same column, with a separate mapping.
                        if known.type != attribute.type {
                            error(
                                at: YAMLMark(line: attribute.location.line, column: attribute.location.column),
                                "\(what) has the type \(attribute.type.rawValue), and \(known.type.rawValue) at "
                                    + "\(known.location): they share a column",
                                "give both the same type, or rename one")
                        }
                        continue
                    }
                    let other = first.what.hasPrefix("attribute") && entity.name == root.name ? "another" : what
                    report(
                        clash: attribute.name, with: first.name, "\(first.what) and \(other)", attribute.location,
                        "columns")
                } else {
                    columns[attribute.name.lowercased()] = (attribute.name, what)
                }
            }
            for relationship in entity.relationships {
                if let inherited = above.lazy.compactMap({ $0.relationship(named: relationship.name) }).first {
                    checkOverride(relationship, of: entity, inherited)
                    continue
                }
                var names = [relationship.name]
                if case .columns(let list) = model.storage(of: relationship, in: entity) { names += list }
                for name in Set(names).sorted() {
                    let of = entity.name == root.name ? "" : " of \(quoted(entity.name))"
                    // Each part of a composite key has a column with its own name.
                    let column = name == relationship.name ? "" : "the column \(quoted(name)) of "
                    let what = "\(column)relationship \(quoted(relationship.name))\(of)"
                    if let first = columns[name.lowercased()] {
                        report(
                            clash: name, with: first.name, "\(first.what) and \(what)", relationship.location, "columns"
                        )
                    } else {
                        columns[name.lowercased()] = (name, what)
                    }
                }
            }
        }
    }

    /// Checks that a sub-entity changes only the path of its super-entity's relationship.
    private mutating func checkOverride(_ relationship: Relationship, of entity: Entity, _ inherited: Relationship) {
        guard
            relationship.kind != inherited.kind || relationship.target != inherited.target
                || relationship.inverse != nil && relationship.inverse != inherited.inverse
        else { return }
        error(
            at: YAMLMark(line: relationship.location.line, column: relationship.location.column),
            "relationship \(quoted(relationship.name)) of entity \(quoted(entity.name)) leads to another entity than its "
                + "super-entity's at \(inherited.location)",
            "let it lead to \(quoted(inherited.target)), or rename it")
    }

    /// Checks the names in `parent` and `incremental` of an entity and its sources.
    mutating func checkScans(of read: ReadEntity, _ model: Model) {
        let what = "entity \(quoted(read.entity.name))"
        checkScan(read.scan, of: read.entity, what, model)
        checkConflicts(of: read, what, model)
        for (source, scan) in zip(read.entity.sources, read.sourceScans) {
            checkScan(scan, of: read.entity, "source \(quoted(source.name)) of \(what)", model)
        }
    }

    private mutating func checkScan(_ scan: ReadScan, of entity: Entity, _ what: String, _ model: Model) {
        if let parent = scan.parent { checkParent(parent, scan, of: entity, what, model) }
        guard case .field(let name, _, _) = scan.incremental, let mark = scan.incrementalMark else { return }
        let attributes = model.attributes(of: entity)
        guard let attribute = attributes.first(where: { $0.name == name }) else {
            error(
                at: mark, "\"incremental\" of \(what) names the unknown attribute \(quoted(name))",
                suggestion(for: name, among: attributes.map(\.name), what: "attributes"))
            return
        }
        guard [.timestamp, .date, .integer].contains(attribute.type) else {
            error(
                at: mark, "\"incremental\" of \(what) names \(quoted(name)), which is \(attribute.type.rawValue)",
                "name a timestamp, a date or an integer")
            return
        }
        if scan.incremental?.endsAtKnown == true, model.root(of: entity).uniquing == .none {
            error(
                at: mark, "\"order: newest_first\" of \"incremental\" of \(what), which has no key",
                "give it a \"key:\": the last page of each scan has known records, which would be appended again")
        }
        guard let isNumber = scan.lookbackIsNumber, isNumber != (attribute.type == .integer) else { return }
        error(
            at: scan.lookbackMark ?? mark, "\"lookback\" of \"incremental\" of \(what) does not fit \(quoted(name))",
            isNumber ? "write a span of time, such as 5m" : "write a number: the attribute is an integer")
    }

    private mutating func checkParent(
        _ parent: ParentScan, _ scan: ReadScan, of entity: Entity, _ what: String, _ model: Model
    ) {
        let mark = scan.parentMark ?? YAMLMark(line: entity.location.line, column: entity.location.column)
        var target = entity
        if let name = parent.relationship {
            let toOne = model.relationships(of: entity).filter { $0.kind == .toOne }
            guard let relationship = toOne.first(where: { $0.name == name }) else {
                let isMany = model.relationships(of: entity).contains { $0.name == name }
                error(
                    at: mark,
                    "\"parent\" of \(what) names \(quoted(name)), which is not a relationship to one"
                        + (isMany ? " but to many" : ""),
                    toOne.isEmpty
                        ? "add one to the parent, such as \"relationships: {owner: {to: Owner}}\""
                        : suggestion(for: name, among: toOne.map(\.name), what: "relationships to one"))
                return
            }
            guard let found = model.entity(named: relationship.target) else { return }
            target = found
            if let mark = scan.changedMark, model.goesByItself(parent, of: entity) {
                error(
                    at: mark, "\"changed\" of \"parent\" of \(what), whose parents are its own objects",
                    "remove it: a change below an object that did not change itself would never be noticed")
            }
        }
        var fields = model.attributes(of: target).map(\.name)
        for relationship in model.relationships(of: target) {
            if case .columns(let names) = model.storage(of: relationship, in: target) { fields += names }
        }
        for (condition, mark) in zip(parent.conditions, scan.conditionMarks) where !fields.contains(condition.field) {
            error(
                at: mark,
                "\"where\" of \(what) names the unknown field \(quoted(condition.field)) of "
                    + quoted(target.name),
                suggestion(for: condition.field, among: fields, what: "fields"))
        }
    }
}
