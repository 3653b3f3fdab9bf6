extension ConfigurationReader {
    /// Reads an entity's identity: `key` or `unique`, and for a sub-entity `extends` and `when`.
    mutating func readIdentity(
        _ member: Member, _ section: Section, into result: inout ReadEntity
    ) {
        let what = section.what
        if let extends = section[EntityKeys.extends] {
            result.entity.superentity = text(extends, of: what)
            result.superentityMark = extends.value.mark
            for (key, remedy) in EntityKeys.ofRoots {
                guard let given = section[key] else { continue }
                error(at: given.key.mark, "\(what) has \"extends\" and \(quoted(key.name))", remedy)
            }
            if let when = section[EntityKeys.when] {
                result.entity.matcher = matcher(when, of: what)
                result.hasMatcher = true
            }
            return
        }
        if let when = section[EntityKeys.when] {
            error(
                at: when.key.mark, "\"when\" of \(what), which has no \"extends\"",
                "name its super-entity with \"extends:\", or remove it")
        }
        if let unique = section[EntityKeys.unique] {
            if let key = section[EntityKeys.key] {
                error(at: key.key.mark, "\(what) has \"unique\" and \"key\"", "remove one")
            }
            guard let name = text(unique, of: what) else { return }
            if let uniquing = Entity.Uniquing(rawValue: name), uniquing != .key {
                result.entity.uniquing = uniquing
            } else {
                error(
                    at: unique.value.mark, "unknown value \(quoted(name)) of \"unique\" of \(what)",
                    suggestion(for: name, among: EntityKeys.uniqueValues))
            }
            return
        }
        if let key = section[EntityKeys.key] {
            readKey(key, what, into: &result)
        } else {
            error(
                at: member.key.mark, "missing key \"key\" of \(what)",
                "add \"key:\" with the attribute that identifies a record")
        }
    }

    private mutating func readKey(_ member: Member, _ what: String, into result: inout ReadEntity) {
        let nodes: [YAMLNode] = if case .sequence(let list) = member.value.content { list } else { [member.value] }
        if nodes.isEmpty { error(at: member.value.mark, "\"key\" of \(what) is empty", "name at least one attribute") }
        for node in nodes {
            guard let name = node.scalarText, !node.isNull else {
                error(
                    at: node.mark, "\"key\" of \(what) must be a name or a list of names, not \(node.kind.rawValue)",
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
            } else if let relationship = result.entity.relationship(named: name) {
                error(
                    at: node.mark, "\"key\" of \(what) names the relationship \(quoted(name))",
                    "name an attribute that reads the same value: add \"\(name)_key: {type: TYPE, from: "
                        + "\(relationship.source)}\" and name that")
            } else {
                error(
                    at: node.mark, "\"key\" of \(what) names the unknown attribute \(quoted(name))",
                    suggestion(for: name, among: result.entity.attributes.map(\.name), what: "attributes"))
            }
        }
    }
}
