extension ConfigurationReader {
    /// Reads `write: true | false | create_only | {when: create_only, to: PATH, as: FORM}` of an attribute or a
    /// relationship.
    mutating func readWriteRule(_ member: Member, forms: [WriteRule.Form], _ what: String) -> WriteRule {
        var rule = WriteRule(isExplicit: true)
        if case .bool(let value) = member.value.scalar {
            rule.permission = value ? .always : .never
            return rule
        }
        if member.value.scalarText != nil, !member.value.isNull {
            rule.permission = permission(member, what)
            return rule
        }
        let subject = "\"write\" of \(what)"
        guard case .mapping = member.value.content,
            let section = section(member.value, WriteKeys.shape(forms), subject)
        else {
            error(
                at: member.value.mark,
                "\(subject) must be true, false, create_only or a mapping, not \(member.value.kind.rawValue)",
                "write \"write: false\", or {to: PATH}")
            return rule
        }
        if let when = section[WriteKeys.when] { rule.permission = permission(when, subject) }
        rule.path = value(WriteKeys.to, of: section)
        if let form = section[WriteKeys.form(forms)], let name = text(form, of: subject) {
            rule.form = forms.first { $0.rawValue == name }
            if rule.form == nil {
                error(
                    at: form.value.mark, "unknown value \(quoted(name)) of \"as\" of \(subject)",
                    suggestion(for: name, among: forms.map(\.rawValue)))
            }
        }
        return rule
    }

    private mutating func permission(_ member: Member, _ what: String) -> WriteRule.Permission {
        guard let name = text(member, of: what) else { return .always }
        if name == WriteRule.Permission.createOnly.rawValue { return .createOnly }
        error(
            at: member.value.mark, "unknown value \(quoted(name)) of \(quoted(member.name)) of \(what)",
            member.name == WriteKeys.when.name ? "write create_only" : "write true, false or create_only")
        return .always
    }

    /// Reads `writable`, `match`, `idempotency` and `read_one` of an entity.
    mutating func readWrites(
        _ section: Section, _ bridge: BridgeConfiguration?, into result: inout ReadEntity
    ) {
        let what = section.what
        result.entity.isWritable = value(EntityKeys.writable, of: section)
        result.hasFaultyWritable = section[EntityKeys.writable] != nil && result.entity.isWritable == nil
        if let match = section[EntityKeys.match] {
            let given = names(match, of: what)
            let names = given ?? []
            if given?.isEmpty == true {
                error(at: match.value.mark, "\"match\" of \(what) is empty", "name an attribute, or remove it")
            }
            result.entity.match = names.map(\.name)
            result.matchMarks = names.map(\.mark)
        }
        result.entity.honoursIdempotencyKeys = value(EntityKeys.idempotency, of: section) ?? false
        guard let one = section[EntityKeys.readOne] else { return }
        guard let bridge, !bridge.plugin.isEmpty else {
            if result.entity.superentity != nil {
                error(
                    at: one.key.mark, "\"read_one\" of \(what), which has no bridge of its own",
                    "set it at the super-entity whose listing it comes with")
            }
            return
        }
        result.readOneMark = one.value.mark
        result.entity.readOne = part(
            mapping(one.value, one.key.mark), plugin: bridge.plugin, schema: plugins?[bridge.plugin]?.entity,
            "\"read_one\" of \(what)", at: one.key.mark, isOptions: false, missing: nil)
    }

    /// Checks a name in `match` that is not an attribute's: a to-one relationship identifies an object as well as a
    /// value does.
    private mutating func checkMatch(
        relationship name: String, _ mark: YAMLMark, _ entity: Entity, _ attributes: [Attribute], _ model: Model,
        _ what: String
    ) {
        let all = model.relationships(of: entity)
        guard let relationship = all.first(where: { $0.name == name }) else {
            let known = attributes.map(\.name) + all.filter { $0.kind == .toOne }.map(\.name)
            return error(
                at: mark, "\"match\" of \(what) names the unknown attribute \(quoted(name))",
                suggestion(for: name, among: known, what: "attributes and relationships to one"))
        }
        if relationship.kind != .toOne {
            error(
                at: mark, "\"match\" of \(what) names \(quoted(name)), which leads to many objects",
                "name attributes, or relationships to one")
        } else if relationship.write.permission == .never {
            error(
                at: mark, "\"match\" of \(what) names \(quoted(name)), which is never sent (\"write: false\")",
                "name attributes that a new object is sent with")
        }
    }

    /// Validates `writable` and related keys against the rest of the model.
    mutating func checkWrites(of read: ReadEntity, _ model: Model) {
        let entity = read.entity
        let what = "entity \(quoted(entity.name))"
        let mark = YAMLMark(line: entity.location.line, column: entity.location.column)
        let attributes = model.attributes(of: entity)
        if model.isWritable(entity), model.root(of: entity).uniquing == .none {
            error(at: mark, "\(what) is \"writable\", but its objects have no key", "give it a key")
        }
        for (name, mark) in zip(entity.match, read.matchMarks) {
            guard let attribute = attributes.first(where: { $0.name == name }) else {
                checkMatch(relationship: name, mark, entity, attributes, model, what)
                continue
            }
            if attribute.type == .json || attribute.type == .data {
                error(
                    at: mark, "\"match\" of \(what) names \(quoted(name)), which is \(attribute.type.rawValue)",
                    "name attributes that compare, such as a text")
            }
            if attribute.write.permission == .never {
                error(
                    at: mark, "\"match\" of \(what) names \(quoted(name)), which is never sent (\"write: false\")",
                    "name attributes that a new object is sent with")
            }
        }
        checkReadOne(of: read, model, what)
        if model.isWritable(entity) { checkPlaces(of: entity, attributes, what) }
        if !read.hasFaultyWritable, !model.isWritable(entity),
            !entity.match.isEmpty || entity.honoursIdempotencyKeys
        {
            error(
                at: mark, "\(what) says how it is written, but is not \"writable: true\"",
                "add it, or remove match and idempotency")
        }
        for attribute in entity.attributes {
            guard case .constant = attribute.source, attribute.write.isExplicit, attribute.write.permission != .never
            else { continue }
            error(
                at: YAMLMark(line: attribute.location.line, column: attribute.location.column),
                "attribute \(quoted(attribute.name)) of \(what) is a constant, which cannot be written",
                "remove \"write\"")
        }
        for relationship in entity.relationships {
            guard relationship.write.isExplicit, relationship.write.permission != .never,
                case .inverse(let other, let name)? = model.storage(of: relationship, in: entity)
            else { continue }
            error(
                at: YAMLMark(line: relationship.location.line, column: relationship.location.column),
                "relationship \(quoted(relationship.name)) of \(what) is stored by \(quoted(name)) of \(quoted(other))",
                "say \"write\" there")
        }
    }
}
