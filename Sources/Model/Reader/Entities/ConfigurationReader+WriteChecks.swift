extension ConfigurationReader {
    /// Checks that `read_one` identifies the object that it requests, and refers to existing attributes only.
    mutating func checkReadOne(of read: ReadEntity, _ model: Model, _ what: String) {
        guard let section = read.entity.readOne, let mark = read.readOneMark else { return }
        let attributes = Set(model.attributes(of: read.entity).map(\.name) + model.key(of: read.entity).map(\.name))
        let names = attributes.sorted() + model.relationships(of: read.entity).map(\.name)
        let given = Self.parentNames(in: section)
        for name in given {
            let first = name.prefix { $0 != "." }
            // A relationship to a composite key has columns named after both.
            guard !names.contains(where: { $0 == first || first.hasPrefix($0 + "_") }) else { continue }
            error(
                at: mark, "\"read_one\" of \(what) names the unknown attribute \(quoted(name)) in {parent.\(name)}",
                suggestion(for: name, among: names, what: "attributes"))
        }
        guard given.isEmpty, model.root(of: read.entity).uniquing != .singleton else { return }
        let key = model.key(of: read.entity).first?.name ?? "NAME"
        error(
            at: mark, "\"read_one\" of \(what) does not say which object", "name its key, such as {parent.\(key)}")
    }

    /// Returns the names in the `{parent.NAME}` placeholders of a section's texts.
    private static func parentNames(in value: ConfigValue) -> [String] {
        switch value {
        case .string(let text):
            var names: [String] = []
            var rest = text[...]
            while let start = rest.firstRange(of: "{parent.") {
                rest = rest[start.upperBound...]
                names.append(String(rest.prefix { $0 != "}" && $0 != ":" && $0 != "|" }))
            }
            return names
        case .array(let values): return values.flatMap(parentNames)
        case .object(let members): return members.flatMap { parentNames(in: $0.value) }
        case .null, .bool, .int, .double, .decimal, .secret: return []
        }
    }

    /// Checks that no two attributes are sent at the same path.
    mutating func checkPlaces(of entity: Entity, _ attributes: [Attribute], _ what: String) {
        // By their bytes, as records keep names apart: a composed letter and a decomposed one are two names.
        var owners: [[[UInt8]]: String] = [:]
        for attribute in attributes {
            guard case .path(let source) = attribute.source, attribute.write.permission != .never,
                !entity.sourcedNames.contains(attribute.name),
                attribute.type != .json || source.components.count == 1 || attribute.write.path != nil
            else { continue }
            let path = attribute.write.path ?? source
            let names = path.components.map { Array($0.utf8) }
            guard let owner = owners[names] else {
                owners[names] = attribute.name
                continue
            }
            error(
                at: YAMLMark(line: attribute.location.line, column: attribute.location.column),
                "the attributes \(quoted(owner)) and \(quoted(attribute.name)) of \(what) are both sent as "
                    + quoted("\(path)"), "say \"write: false\" for one, or set another place with {to: PATH}")
        }
    }
}
