internal import Model

/// Translates transformations into attributes.
struct Transformations {
    let draft: EntityDraft
    let text: SliceText

    func apply(_ transformations: [ConfigValue], _ scope: Scope) {
        for transformation in transformations {
            let scope = scope.with(transformation)
            switch transformation.type {
            case "AddFields": add(transformation, scope)
            case "RemoveFields": remove(transformation, scope)
            case "DpathFlattenFields": flatten(transformation, scope)
            case "FlattenFields": flattenAll()
            case "KeysToLower":
                rename("KeysToLower") { _ in nil }
            case "KeysToSnakeCase":
                rename("KeysToSnakeCase") { name in Self.camelCase(name) }
            case "KeysReplace":
                draft.doubt(
                    "KeysReplace \(transformation["old"]?.printed ?? "") by \(transformation["new"]?.printed ?? ""): attributes keep the API's names"
                )
            default:
                let name = transformation["class_name"]?.string ?? transformation.type ?? ""
                draft.note("not carried: the transformation \(name)")
                draft.doubt(
                    "the transformation \(name) is custom Python; bmo keeps the records unchanged", ofValues: true)
            }
        }
    }

    // MARK: Adding

    private func add(_ transformation: ConfigValue, _ scope: Scope) {
        if let condition = transformation["condition"]?.string, !condition.isEmpty {
            let known = try? Template(condition, scope).known
            if let known, known.isTruthy == false || known == "False" { return }
            if known == nil { draft.doubt("AddFields if \(condition): bmo adds the fields to all records") }
        }
        for field in transformation["fields"]?.array ?? [] {
            let scope = scope.with(field)
            let path = (field["path"]?.array ?? []).compactMap { try? Template($0.printed, scope).known?.printed }
            let value = field["value"] ?? .null
            do {
                guard path.count == 1, let name = path.first else {
                    throw Untranslatable(
                        "it is inside \(path.first ?? "another field"), which stays as the API sends it")
                }
                try set(name, value, type: field["value_type"]?.string, scope)
            } catch {
                // A field inside a member changes only that one, which stays as the API sends it.
                if path.count == 1, let name = path.first {
                    draft.members.set(name, .lost)
                    refuseKey(name, value, scope, error)
                }
                draft.note("not carried: the field \(path.joined(separator: ".")): \(value.printed): \(reason(error))")
                draft.doubt("the field \(path.joined(separator: ".")): \(reason(error))", ofValues: true)
            }
        }
    }

    /// Refuses a stream whose key only Python can make: all its records would lack one.
    private func refuseKey(_ name: String, _ value: ConfigValue, _ scope: Scope, _ error: any Error) {
        let isKey = draft.attributes.contains { $0.member == name && draft.key.contains($0.name) }
        // A field that changes the API's own value leaves that one.
        let paths = value.string.flatMap { try? Template($0, scope).paths } ?? []
        let isOfAPI = paths.contains { $0.starts(with: ["record", name]) }
        if isKey, !isOfAPI { draft.obstacle("its key \(name): \(reason(error))") }
    }

    private func set(_ name: String, _ value: ConfigValue, type: String?, _ scope: Scope) throws {
        let template: Template
        if let text = value.string {
            template = try Template(text, scope)
        } else {
            template = Template(part: .expression(.literal(value)))
        }
        if let known = template.known {
            try constant(name, Self.literal(known), type: type)
            return
        }
        if let expression = template.expression {
            try read(name, expression, type: type)
            return
        }
        try join(name, template.parts)
    }

    /// Airbyte reads `"{{ 5 }}"` as a number, and `"{{ True }}"` as a Boolean.
    private static func literal(_ value: ConfigValue) -> ConfigValue {
        switch value {
        case "True": true
        case "False": false
        case "None": .null
        default: value
        }
    }

    private func constant(_ name: String, _ value: ConfigValue, type: String?) throws {
        guard value != .null else {
            draft.attributes.removeAll { $0.member == name && !draft.key.contains($0.name) }
            draft.members.set(name, .lost)
            return
        }
        let found: String
        switch value {
        case .bool: found = "boolean"
        case .int: found = type == "number" ? "real" : "integer"
        case .double: found = "real"
        case .string: found = "text"
        default: throw Untranslatable("the constant \(value.printed) is not a single value")
        }
        replace(name, by: .attribute) { attribute in
            attribute.path = nil
            attribute.transform = nil
            attribute.type = type == "string" ? "text" : found
            attribute.constant = type == "string" ? .string(value.printed) : value
        }
    }

    /// - Parameter isGuarded: Whether the field has no value where the record has none.
    private func read(_ name: String, _ expression: Expression, type: String?, isGuarded: Bool = false) throws {
        switch expression {
        case .path(let names) where names.first == "record" && names.count > 1:
            try copy(name, Array(names.dropFirst()), type: type)
        case .filter(let value, let filter, _)
        where ["string", "int", "float", "trim", "list", "lower", "upper"].contains(filter):
            try read(name, value, type: type)
            apply(filter, of: value, to: name, isGuarded: isGuarded)
        case .binary("~", _, _) where expression.readsRecord, .binary("+", _, _) where expression.readsRecord:
            let pieces = try Self.pieces(expression)
            // `record.id ~ ''` only makes a text of a value.
            if pieces.count == 1, case .expression(let only) = pieces[0] {
                try read(name, only, type: type ?? "string")
            } else {
                try join(name, pieces)
            }
        case .binary("or", let first, let second), .conditional(_, let first, let second):
            if second.known.map({ !$0.isTruthy }) ?? false {
                var isGuarded = false
                if case .conditional(let test, _, _) = expression {
                    isGuarded = test.guards(first)
                    if !isGuarded {
                        draft.doubt("the field \(name): Airbyte sets it only if \(test.text)", ofValues: true)
                    }
                }
                try read(name, first, type: type, isGuarded: isGuarded)
                return
            }
            guard case .path(let names) = first, names.first == "record" else { fallthrough }
            var other: Expression?
            let paths = try Self.alternatives(expression, other: &other).map { try path($0) }
            if case .binary = expression, paths.count > 1 {
                // The column extra has no member that an attribute reads.
                let own = draft.attributes.first { $0.name == name }?.type ?? "text"
                for path in paths where path != [name] { keep(path, type: own) }
                replace(name, by: .attribute) { attribute in
                    attribute.path = .array(paths.map { .string(EntityDraft.path($0)) })
                    // An empty text counts as no value there, as in Airbyte.
                    attribute.transform = ["first", "empty_as_null"]
                }
                if let other {
                    draft.note(
                        "\(name) is null where a record has none of its members; Airbyte takes \(other.text)")
                }
                return
            }
            try read(name, first, type: type)
            draft.doubt(
                "the field \(name): where a record has no \(names.dropFirst().joined(separator: ".")), Airbyte takes \(second.text)",
                ofValues: true
            )
        default:
            let member = "@\(name)"
            let value = try text.variable(expression)
            if !draft.requestFields.contains(where: { $0.key == member }) {
                draft.requestFields.append((member, .string(value)))
            }
            replace(name, by: .path([member])) { $0.path = .string(EntityDraft.path([member])) }
        }
    }

    /// Sets a field to a value of the record, as the transformations so far have left it.
    private func copy(_ name: String, _ path: [String], type: String?) throws {
        if path == [name] { return }
        if draft.members.origin(of: path) == .attribute,
            let source = draft.attributes.first(where: { $0.member == path[0] })
        {
            replace(name, type: type, by: .attribute) { attribute in
                (attribute.path, attribute.constant) = (source.path, source.constant)
                (attribute.transform, attribute.type) = (source.transform, source.type)
            }
            return
        }
        let path = try self.path(path)
        // An object or a list does not fit a text. An attribute of the schema keeps the schema's type.
        let isNew = !draft.attributes.contains { $0.member == name || $0.name == name }
        let source = isNew ? draft.attributes.first { $0.path == .string(EntityDraft.path(path)) } : nil
        replace(name, type: type, by: .path(path)) { attribute in
            // What took the first of several paths, or joined them, does not fit a single one.
            if attribute.path?.array != nil { attribute.transform = nil }
            attribute.path = .string(EntityDraft.path(path))
            attribute.constant = nil
            if let source, type == nil { attribute.type = source.type }
        }
        keep(path, type: draft.attributes.first { $0.member == name }?.type ?? "text")
    }

    /// Returns where the API's record has what the transformed one has at a path.
    func path(_ path: [String]) throws -> [String] {
        guard case .path(let own) = draft.members.origin(of: path) else {
            throw Untranslatable("an earlier transformation changes \(path.joined(separator: "."))")
        }
        return own
    }

    /// The paths of `record.a or record.b`: the first one that the record has counts.
    ///
    /// - Parameter other: Set to a last alternative that is not a path, such as the present time.
    private static func alternatives(_ expression: Expression, other: inout Expression?) -> [[String]] {
        switch expression {
        case .path(let names) where names.first == "record" && names.count > 1: return [Array(names.dropFirst())]
        case .binary("or", let first, let second):
            return alternatives(first, other: &other) + alternatives(second, other: &other)
        default:
            other = expression
            return []
        }
    }

    /// Changes the attribute of a field, or adds one.
    ///
    /// - Parameter origin: Where the field's value comes from now.
    func replace(
        _ name: String, type: String? = nil, by origin: RecordMembers.Origin,
        _ change: (inout EntityDraft.Attribute) -> Void
    ) {
        draft.members.set(name, origin)
        let path = ConfigValue.string(EntityDraft.path([name]))
        let types = ["string": "text", "integer": "integer", "number": "real", "boolean": "boolean"]
        let found =
            draft.attributes.firstIndex { $0.member == name }
            ?? draft.attributes.firstIndex { $0.member == nil && ($0.path == path || $0.name == name) }
        if let found {
            change(&draft.attributes[found])
            return
        }
        let column = draft.columns.claim(LocalNames.identifier(name))
        var attribute = EntityDraft.Attribute(
            name: column, type: type.flatMap { types[$0] } ?? "text", path: path, comment: "added by the connector",
            member: name)
        change(&attribute)
        draft.attributes.append(attribute)
    }

    // MARK: Moving

    private func flatten(_ transformation: ConfigValue, _ scope: Scope) {
        let path = (transformation["field_path"]?.array ?? []).compactMap {
            try? Template($0.printed, scope).known?.printed
        }
        guard !path.isEmpty, !path.contains("*") else {
            draft.doubt("DpathFlattenFields: its path has no counterpart")
            return
        }
        if transformation["replace_record"]?.isTruthy == true, let records = draft.setting("records")?.string,
            records.hasPrefix("$")
        {
            let all = records.hasSuffix("[*]") || records.contains("[?") ? records : records + "[*]"
            draft.set("records", .string(all + RecordsPath.text(path).dropFirst()))
            return
        }
        if path == ["attributes"], draft.setting("records")?.string == "$.data" {
            draft.set("preset", "json_api", comment: "attributes become members, as in DpathFlattenFields")
            return
        }
        let change = transformation["key_transformation"]
        let outside: Set<String> = ["id", "type", "links", "relationships", "meta"]
        for index in draft.attributes.indices where draft.attributes[index].constant == nil {
            guard case .string(let own)? = draft.attributes[index].path, !own.hasPrefix("@"), !own.contains("."),
                !outside.contains(own), own != path[0],
                let inner = Self.unchanged(own, prefix: change?["prefix"]?.string, suffix: change?["suffix"]?.string)
            else { continue }
            // Airbyte moves nothing over a member that the record has already.
            let nested = EntityDraft.path(path) + "." + inner
            draft.attributes[index].path = .array([.string(own), .string(nested)])
            draft.attributes[index].takeFirst()
            if let member = draft.attributes[index].member { draft.members.set(member, .attribute) }
        }
        let place = path.joined(separator: ".")
        draft.doubt(
            "DpathFlattenFields: a column is read at the top of a record, or else from \(place); members of \(place) without "
                + "a column stay there, and Airbyte moves none where both have one of the same name", ofValues: true)
    }

    /// Returns a member's name without what a key transformation has put around it; nil if it has none of that.
    private static func unchanged(_ name: String, prefix: String?, suffix: String?) -> String? {
        let (prefix, suffix) = (prefix ?? "", suffix ?? "")
        guard name.hasPrefix(prefix), name.hasSuffix(suffix), name.count > prefix.count + suffix.count else {
            return nil
        }
        return String(name.dropFirst(prefix.count).dropLast(suffix.count))
    }

    /// In a flattened record, a member has its own name, or `parent.name` if two names would be equal.
    private func flattenAll() {
        for index in draft.attributes.indices {
            guard case .string(let path)? = draft.attributes[index].path, path.contains("\\.") else { continue }
            draft.attributes[index].path = .string(path.replacing("\\.", with: "."))
        }
        draft.doubt(
            "FlattenFields: members of nested objects are read only where the schema names them with their path")
    }

    private func rename(_ what: String, _ remote: (String) -> String?) {
        var count = 0
        for index in draft.attributes.indices {
            guard case .string(let path)? = draft.attributes[index].path, !path.hasPrefix("@"), let name = remote(path),
                name != path
            else { continue }
            draft.attributes[index].path = .string(name)
            count += 1
        }
        draft.doubt(
            count > 0
                ? "\(what): \(count) of the API's names are guesses"
                : "\(what): the API's names are not in the manifest; set from: if they differ")
    }

    private static func camelCase(_ name: String) -> String {
        let words = name.split(separator: "_")
        return words.prefix(1).joined() + words.dropFirst().map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }
}
