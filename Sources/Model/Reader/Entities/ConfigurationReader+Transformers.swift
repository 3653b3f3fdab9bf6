internal import TextFormats

extension ConfigurationReader {
    /// Reads a name, a mapping of one name to its argument, or a list of these.
    mutating func readTransformers(_ node: YAMLNode, for type: AttributeType?, _ what: String) -> [Transformer] {
        let nodes: [YAMLNode] = if case .sequence(let list) = node.content { list } else { [node] }
        var result: [Transformer] = []
        var reading: String?
        for (index, node) in nodes.enumerated() {
            guard let (name, argument) = step(node, what) else { continue }
            if let reading {
                error(
                    at: node.mark,
                    "\(quoted(name.rawValue)) comes after \(quoted(reading)) in \"transform\" of \(what)",
                    "put \(quoted(reading)) at the end, and only one of base, unit and format")
            }
            if name.isLast { reading = name.rawValue }
            if name.takesList, index > 0 {
                error(
                    at: node.mark, "\(quoted(name.rawValue)) is not the first step in \"transform\" of \(what)",
                    "put it first: it takes the list")
            }
            if let type, !name.types.contains(type) {
                let valid = alternatives(name.types.map(\.rawValue))
                error(
                    at: node.mark,
                    "\(quoted(name.rawValue)) in \"transform\" of \(what) does not fit its type "
                        + type.rawValue, "use it with the type \(valid), or remove it")
                continue
            }
            let isLast = index == nodes.count - 1
            if let step = transformer(name, argument, node, type: isLast ? type : nil, what) { result.append(step) }
        }
        return result
    }

    private mutating func step(_ node: YAMLNode, _ what: String) -> (TransformerName, YAMLNode?)? {
        let given: YAMLNode
        var argument: YAMLNode?
        switch node.content {
        case .scalar where !node.isNull: given = node
        case .mapping(let pairs) where pairs.count == 1:
            given = pairs[0].key
            argument = pairs[0].value
        default:
            error(
                at: node.mark,
                "a step in \"transform\" of \(what) must be a name or a mapping of one name to its argument",
                "write \"trim\", or {prefix: \"/\"}")
            return nil
        }
        guard let text = given.scalarText, let name = TransformerName(rawValue: text) else {
            error(
                at: given.mark, "unknown transformer \(quoted(given.scalarText ?? "")) of \(what)",
                suggestion(for: given.scalarText ?? "", among: TransformerName.allCases.map(\.rawValue)))
            return nil
        }
        if name.takesArgument, argument == nil {
            error(
                at: given.mark, "the transformer \(quoted(text)) of \(what) needs an argument",
                "write {\(text): \(Self.example(name))}")
            return nil
        }
        if !name.takesArgument, argument != nil {
            error(
                at: given.mark, "the transformer \(quoted(text)) of \(what) takes no argument",
                "write \(quoted(text)) alone")
            return nil
        }
        return (name, argument)
    }

    private static func example(_ name: TransformerName) -> String {
        switch name {
        case .base: "16"
        case .unit: "milliseconds"
        case .format: "\"%d.%m.%Y\""
        case .map: "{A: active}"
        case .extract: "\"-([0-9]+)$\""
        case .join: "\", \""
        default: "\"text\""
        }
    }

    private mutating func transformer(
        _ name: TransformerName, _ argument: YAMLNode?, _ node: YAMLNode, type: AttributeType?, _ what: String
    ) -> Transformer? {
        let argument = argument ?? node
        let text = argument.isNull ? "" : argument.scalarText ?? ""
        switch name {
        case .trim: return .trim
        case .lowercase: return .lowercase
        case .uppercase: return .uppercase
        case .emptyAsNull: return .emptyAsNull
        case .prefix where !text.isEmpty: return .prefix(text)
        case .stripPrefix where !text.isEmpty: return .stripPrefix(text)
        case .lastSegment: return .lastSegment
        case .first: return .first
        case .join where argument.scalarText != nil && !argument.isNull: return .join(text)
        case .extract where !text.isEmpty:
            do throws(RegularExpressionFault) {
                return .extract(try RegularExpression(text))
            } catch {
                self.error(
                    at: argument.mark,
                    "\"extract\" in \"transform\" of \(what) is not a regular expression: \(error.reason)",
                    "write a POSIX extended regular expression, such as \"-([0-9]+)$\"")
                return nil
            }
        case .base:
            if case .int(let base) = argument.scalar, TransformerName.baseKey.range.contains(base) {
                return .base(Int(base))
            }
        case .unit:
            if let unit = TimeUnit(rawValue: text) { return .unit(unit) }
            error(
                at: argument.mark, "unknown unit \(quoted(text)) in \"transform\" of \(what)",
                suggestion(for: text, among: TimeUnit.allCases.map(\.rawValue)))
            return nil
        case .format where Self.isTimePattern(text): return format(text, at: argument.mark, what)
        case .code where !text.isEmpty: return .code(text)
        case .map: return map(argument, type: type, what)
        default: break
        }
        let wanted =
            switch name {
            case .base:
                "a number from \(TransformerName.baseKey.range.lowerBound) to \(TransformerName.baseKey.range.upperBound)"
            case .format: "a strftime pattern, such as \"%d.%m.%Y\""
            case .extract: "a regular expression, such as \"-([0-9]+)$\""
            default: "a text"
            }
        error(at: argument.mark, "\(quoted(name.rawValue)) in \"transform\" of \(what) needs \(wanted)", nil)
        return nil
    }

    private mutating func format(_ text: String, at mark: YAMLMark, _ what: String) -> Transformer? {
        guard let fault = TimePattern(text).fault else { return .format(text) }
        error(at: mark, "\"format\" in \"transform\" of \(what) \(fault.reason)", fault.remedy)
        return nil
    }

    /// Returns whether `text` has a conversion and does not end in a single `%`.
    private static func isTimePattern(_ text: String) -> Bool {
        var conversions = 0
        var bytes = text.utf8.makeIterator()
        while let byte = bytes.next() {
            guard byte == UInt8(ascii: "%") else { continue }
            guard let next = bytes.next() else { return false }
            if next != UInt8(ascii: "%") { conversions += 1 }
        }
        return conversions > 0
    }

    private mutating func map(_ node: YAMLNode, type: AttributeType?, _ what: String) -> Transformer? {
        guard case .mapping(let pairs) = node.content, !pairs.isEmpty else {
            error(
                at: node.mark, "\"map\" in \"transform\" of \(what) needs a mapping of remote to local values",
                "write {map: {A: active, B: gone}}")
            return nil
        }
        var mappings: [ValueMapping] = []
        for pair in pairs {
            // Remote numbers and Booleans are compared by their text, so a key here needs no quotes.
            guard let remote = pair.key.scalarText else {
                error(
                    at: pair.key.mark,
                    "\"map\" in \"transform\" of \(what) has a key that is \(pair.key.kind.rawValue)",
                    "write the remote value, in quotes")
                continue
            }
            switch pair.value.kind {
            case .list, .mapping:
                error(
                    at: pair.value.mark, "\"map\" in \"transform\" of \(what) gives \(pair.value.kind.rawValue)",
                    "give one text, number, true, false or null")
            default:
                let local = constant(pair.value, as: type, "\"map\" in \"transform\" of \(what)")
                mappings.append(ValueMapping(remote: remote, local: local))
            }
        }
        return .map(mappings)
    }
}
