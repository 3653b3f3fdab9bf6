extension ConfigurationReader {
    /// Reads `NAME: TYPE` or `NAME: {type: TYPE, from: PATH, constant: VALUE, transform: [...]}`.
    mutating func readAttribute(_ member: Member, _ entity: String) -> Attribute {
        let what = "attribute \(quoted(member.name)) of \(entity)"
        var result = Attribute(name: member.name, location: location(member.key.mark))
        if let fault = Naming.fault(member.name, what: "attribute") {
            error(at: member.key.mark, fault.message, fault.remedy)
        }
        if member.value.scalarText != nil, !member.value.isNull {
            result.type = type(member.value, what) ?? .text
            return result
        }
        guard case .mapping = member.value.content,
            let section = section(member.value, AttributeKeys.shape, what)
        else {
            error(
                at: member.value.mark, "\(what) must be a type or a mapping, not \(member.value.kind.rawValue)",
                "write \"\(shortened(member.name)): text\" or {type: text, from: PATH}")
            return result
        }
        var knownType: AttributeType?
        if let type = required(AttributeKeys.type, of: section, at: member.key.mark) {
            knownType = self.type(type.value, what)
        }
        result.type = knownType ?? .text
        if let from = section[AttributeKeys.from], let source = source(from, what) { result.source = source }
        if let constant = section[AttributeKeys.constant] {
            for other in AttributeKeys.notOfConstants {
                guard let other = section[other] else { continue }
                error(
                    at: other.key.mark, "\(what) has \"constant\" and \(quoted(other.name))",
                    "remove one: a constant is written as it should be stored")
            }
            result.source = .constant(self.constant(constant.value, as: knownType, "\"constant\" of \(what)"))
        }
        result.absent = value(AttributeKeys.absent, of: section)
        result.renamedFrom = value(AttributeKeys.renamedFrom, of: section)
        if let merge = section[AttributeKeys.merge],
            let code = self.section(merge.value, CodeKeys.shape, "\"merge\" of \(what)"),
            let name = required(CodeKeys.name, of: code, at: merge.key.mark)
        {
            result.merge = text(name, of: code.what)
        }
        if let write = section[AttributeKeys.write] {
            result.write = readWriteRule(write, forms: AttributeKeys.attributeForms, what)
        }
        if let transform = section[AttributeKeys.transform] {
            result.transformers = readTransformers(transform.value, for: knownType, what)
        }
        if case .paths = result.source, let from = section[AttributeKeys.from] {
            switch result.transformers.first {
            case .join, .first: break
            default:
                error(
                    at: from.key.mark, "\"from\" of \(what) has several paths, but nothing joins their values",
                    "add \"transform: {join: \\\" \\\"}\" or \"transform: first\", or name one path")
            }
        }
        return result
    }

    /// Reads a path, or a list of paths.
    private mutating func source(_ from: Member, _ what: String) -> Attribute.Source? {
        guard case .sequence(let nodes) = from.value.content else { return path(from, what).map { .path($0) } }
        let paths = nodes.compactMap { path(Member(name: from.name, key: from.key, value: $0), what) }
        guard paths.count == nodes.count, let first = paths.first else {
            if nodes.isEmpty { error(at: from.value.mark, "\"from\" of \(what) is an empty list", "name a path") }
            return nil
        }
        return paths.count == 1 ? .path(first) : .paths(paths)
    }

    private mutating func type(_ node: YAMLNode, _ what: String) -> AttributeType? {
        guard let name = node.scalarText, !node.isNull else {
            error(at: node.mark, "\"type\" of \(what) must be text, not \(node.kind.rawValue)", nil)
            return nil
        }
        if let type = AttributeType(rawValue: name) { return type }
        let aliases = [
            "string": "text", "int": "integer", "bool": "boolean", "float": "real", "double": "real", "number": "real",
            "datetime": "timestamp", "time": "timestamp", "blob": "data", "binary": "data", "numeric": "decimal",
        ]
        let valid = AttributeType.allCases.map(\.rawValue)
        let remedy =
            aliases[name.lowercased()].map {
                "did you mean \"\($0)\"? valid: \(valid.sorted().joined(separator: ", "))"
            }
            ?? suggestion(for: name, among: valid)
        error(at: node.mark, "unknown type \(quoted(name)) of \(what)", remedy)
        return nil
    }

    mutating func path(_ member: Member, _ what: String) -> RemotePath? {
        guard let text = text(member, of: what) else { return nil }
        if text == "$" || text.hasPrefix("$.") || text.hasPrefix("$[") || text.contains("[*]") {
            // Without this check it would be a member's name, and null in every row.
            let names = text.replacing("[*]", with: "").replacing(/\[([0-9]+)\]/) { ".\($0.1)" }
            let plain = names.drop { $0 == "$" || $0 == "." }
            error(
                at: member.value.mark, "\(quoted(member.name)) of \(what) is a path of another kind: \(quoted(text))",
                "it begins in the record and has only names joined by dots, even across a list"
                    + (plain.isEmpty || plain.contains("[") ? "" : ": \(plain)")
                    + (text.hasPrefix("$") ? "; a member that is called $ is written \\$" : ""))
            return nil
        }
        if let path = RemotePath(text) { return path }
        error(
            at: member.value.mark, "\(quoted(member.name)) of \(what) is not a path: \(quoted(text))",
            "write names joined by dots; a dot in a name is \\. and a backslash \\\\")
        return nil
    }

    /// Returns a constant in the form of a type.
    ///
    /// Null fits every type; an invalid value becomes null.
    mutating func constant(_ node: YAMLNode, as type: AttributeType?, _ what: String) -> ConfigValue {
        // What a later step of a transform takes is a text.
        guard let type else { return node.writtenScalar ?? NaturalValue.exact(node) }
        let value = type == .json ? NaturalValue.exact(node) : node.scalar ?? NaturalValue.exact(node)
        let text = node.scalarText ?? ""
        switch (type, value) {
        case (_, .null), (.json, _), (.integer, .int), (.boolean, .bool): return value
        case (.real, .int(let number)): return .double(Double(number))
        case (.real, .double(let number)) where number.isFinite: return value
        case (.decimal, .int), (.decimal, .double): return .string(text)
        case (.decimal, .string):
            switch CoreSchema.resolve(text) {
            case .int, .double: return value
            default: break
            }
        case (_, .array), (_, .object), (.integer, _), (.real, _), (.boolean, _): break
        default: return .string(text)
        }
        error(
            at: node.mark, "\(what) must be of the type \(type.rawValue), not \(node.kindInWords)",
            node.kind == .text && CoreSchema.resolve(text) != .string(text) ? "write the value without quotes" : nil)
        return .null
    }
}
