internal import Model
internal import TextFormats

/// The functions, filters and operators of Jinja, and of Airbyte's macros, for values that are known.
enum Functions {
    /// Calls a macro; calls that depend on the time stay expressions.
    static func call(_ name: String, _ arguments: [Expression]) -> Expression {
        if name == "range" || name == "namespace" { return .call(.name(name), arguments) }
        let values = arguments.compactMap { $0.known?.printed }
        if values.count == arguments.count {
            switch (name, values.count) {
            case ("sanitize_url", 1):
                // Python's quote_plus.
                return .literal(.string(PercentEncoding.encoded(values[0]).replacing("%20", with: "+")))
            case ("camel_case_to_snake_case", 1):
                return .literal(.string(snakeCase(values[0])))
            case ("str_to_datetime", 1): return arguments[0]
            default: break
            }
            if let result = KnownMacros.call(name, arguments.compactMap(\.known)) { return .literal(result) }
        }
        return .call(.name(name), arguments)
    }

    static func snakeCase(_ name: String) -> String {
        var out = ""
        for character in name {
            if character.isUppercase, let last = out.last, last != "_" { out.append("_") }
            out += character.lowercased()
        }
        return out
    }

    /// Applies a filter.
    ///
    /// For values that are not known, filters that do not change how a value is sent (`int`, `string`) are left out, except
    /// for those of records, whose values may have any form.
    static func filter(_ value: Expression, _ name: String, _ arguments: [Expression]) throws -> Expression {
        let first = arguments.first?.known
        guard let known = value.known else {
            switch name {
            case "string", "int", "float", "trim", "list": return value.readsRecord ? .filter(value, name, []) : value
            case "safe": return value
            case "default", "d": return .binary("or", value, arguments.first ?? .literal(.string("")))
            default: return .filter(value, name, arguments)
            }
        }
        func text(_ text: String) -> Expression { .literal(.string(text)) }
        switch name {
        case "string": return text(known.printed)
        case "safe", "list": return value
        case "int":
            guard let number = Int64(known.printed) ?? whole(Double(known.printed) ?? 0) else { break }
            return .literal(.int(number))
        case "float": return .literal(.double(Double(known.printed) ?? 0))
        case "lower": return text(known.printed.lowercased())
        case "upper": return text(known.printed.uppercased())
        case "trim": return text(trimmed(known.printed))
        case "tojson": return text(known.json)
        case "length", "count":
            return .literal(.int(Int64(known.array?.count ?? known.members?.count ?? known.printed.count)))
        case "default", "d":
            // With the second argument, it replaces all values that count as false.
            let isWide = arguments.dropFirst().first?.known?.isTruthy == true
            return known == .null || isWide && !known.isTruthy ? arguments.first ?? text("") : value
        case "first": return .literal(known.array?.first ?? known.string?.first.map { .string(String($0)) } ?? .null)
        case "last": return .literal(known.array?.last ?? known.string?.last.map { .string(String($0)) } ?? .null)
        case "join":
            return text(try joined(known.array ?? [], by: first?.printed ?? ""))
        case "replace":
            guard arguments.count > 1, let from = first?.printed, let to = arguments[1].known?.printed else { break }
            return text(try replaced(known.printed, from, by: to))
        case "base64encode":
            return text(Array(known.printed.utf8).withUnsafeBytes { Base64.encode($0) })
        case "urlencode": return text(PercentEncoding.encoded(known.printed))
        case "[:]" where arguments.count == 2:
            guard let start = first, let end = arguments[1].known,
                let part = KnownMacros.slice(known, from: start, to: end)
            else { break }
            return .literal(part)
        case "is defined": return .literal(.bool(known != .null))
        case "is none": return .literal(.bool(known == .null))
        case "is string": return .literal(.bool(known.string != nil))
        case "is mapping": return .literal(.bool(known.members != nil))
        default: break
        }
        return .filter(value, name, arguments)
    }

    /// Calls a method of a value, or returns nil if that is not possible yet.
    static func method(_ name: String, of value: Expression, _ arguments: [Expression]) throws -> Expression? {
        if ["strip", "lstrip"].contains(name), value.known == nil, arguments.isEmpty {
            guard value.readsRecord else { return value }
            return name == "strip" ? .filter(value, "trim", []) : nil
        }
        guard let known = value.known else { return nil }
        let values = arguments.compactMap(\.known)
        guard values.count == arguments.count else { return nil }
        if let result = KnownMacros.method(name, of: known, values) { return .literal(result) }
        let text = known.printed
        switch (name, values.count) {
        case ("lower", 0): return .literal(.string(text.lowercased()))
        case ("upper", 0): return .literal(.string(text.uppercased()))
        case ("strip", 0): return .literal(.string(trimmed(text)))
        case ("strip", 1), ("rstrip", 1), ("lstrip", 1):
            let set = Set(values[0].printed)
            var rest = text[...]
            while name != "rstrip", let first = rest.first, set.contains(first) { rest.removeFirst() }
            while name != "lstrip", let last = rest.last, set.contains(last) { rest.removeLast() }
            return .literal(.string(String(rest)))
        case ("split", 1):
            return split(text, by: values[0].printed)
        case ("replace", 2):
            return .literal(.string(try replaced(text, values[0].printed, by: values[1].printed)))
        // A tuple has alternatives, and a list is an error in Python.
        case ("startswith", 1): return .literal(.bool(alternatives(values[0]).contains(where: text.hasPrefix)))
        case ("endswith", 1): return .literal(.bool(alternatives(values[0]).contains(where: text.hasSuffix)))
        case ("join", 1):
            return .literal(.string(try joined(values[0].array ?? [], by: text)))
        case ("keys", 0): return .literal(.array((known.members ?? []).map { .string($0.key) }))
        case ("values", 0): return .literal(.array((known.members ?? []).map(\.value)))
        default: return nil
        }
    }

    private static func alternatives(_ value: ConfigValue) -> [String] {
        (value.array ?? [value]).map(\.printed)
    }

    /// Splits as Python does: it keeps empty parts.
    private static func split(_ text: String, by separator: String) -> Expression? {
        guard !separator.isEmpty else { return nil }
        let parts = text.split(separator: separator, omittingEmptySubsequences: false)
        return .literal(.array(parts.map { .string(String($0)) }))
    }

    private static func joined(_ elements: [ConfigValue], by separator: String) throws -> String {
        let texts = elements.map(\.printed)
        let size = texts.reduce(0) { $0 + $1.utf8.count + separator.utf8.count }
        guard size <= WorkLimit.maxSize else { throw Untranslatable("a joined text is too large") }
        return texts.joined(separator: separator)
    }

    private static func replaced(_ text: String, _ old: String, by new: String) throws -> String {
        guard !old.isEmpty else { throw Untranslatable("only Python can replace an empty text") }
        let most = text.utf8.count / old.utf8.count
        guard text.utf8.count + most.multipliedReportingOverflow(by: new.utf8.count).partialValue <= WorkLimit.maxSize
        else { throw Untranslatable("a text with its parts replaced is too large") }
        return text.replacing(old, with: new)
    }

    /// Combines two values, or returns nil for an operator that does not fit them.
    static func operation(_ sign: String, _ left: ConfigValue, _ right: ConfigValue) -> ConfigValue? {
        switch sign {
        case "==": return .bool(left == right || amount(left).map { $0 == amount(right) } ?? false)
        case "!=": return operation("==", left, right)?.bool.map { .bool(!$0) }
        case "~": return .string(left.printed + right.printed)
        case "in":
            if let list = right.array { return .bool(list.contains { operation("==", $0, left) == .bool(true) }) }
            if let members = right.members { return .bool(members.contains { $0.key == left.printed }) }
            return .bool(right.printed.contains(left.printed))
        case "+":
            if let first = left.string, let second = right.string { return .string(first + second) }
            if let first = left.array, let second = right.array { return .array(first + second) }
        case "<", ">", "<=", ">=":
            // Python compares code points.
            guard let first = left.string?.unicodeScalars, let second = right.string?.unicodeScalars else { break }
            let isLess = first.lexicographicallyPrecedes(second)
            let isMore = second.lexicographicallyPrecedes(first)
            return .bool(sign == "<" ? isLess : sign == ">" ? isMore : sign == "<=" ? !isMore : !isLess)
        default: break
        }
        if let first = left.int, let second = right.int {
            switch sign {
            case "+": return first.addingReportingOverflow(second).overflow ? nil : .int(first + second)
            case "-": return first.subtractingReportingOverflow(second).overflow ? nil : .int(first - second)
            case "*": return first.multipliedReportingOverflow(by: second).overflow ? nil : .int(first * second)
            case "%" where second > 0:
                let rest = first % second
                return .int(rest < 0 ? rest + second : rest)
            default: break
            }
        }
        guard let first = number(left), let second = number(right) else { return nil }
        switch sign {
        case "+": return .double(first + second)
        case "-": return .double(first - second)
        case "*": return .double(first * second)
        case "/" where second != 0: return .double(first / second)
        case "<": return .bool(first < second)
        case ">": return .bool(first > second)
        case "<=": return .bool(first <= second)
        case ">=": return .bool(first >= second)
        default: return nil
        }
    }

    /// The number without its fraction, or nil if it has no such form.
    private static func whole(_ number: Double) -> Int64? { Int64(exactly: number.rounded(.towardZero)) }

    /// The number that a value equals in Python, where True is 1.
    private static func amount(_ value: ConfigValue) -> Double? { value.bool.map { $0 ? 1 : 0 } ?? number(value) }

    private static func number(_ value: ConfigValue) -> Double? {
        switch value {
        case .int(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }

    static func trimmed(_ text: String) -> String {
        var rest = text[...]
        while rest.first?.isWhitespace == true { rest.removeFirst() }
        while rest.last?.isWhitespace == true { rest.removeLast() }
        return String(rest)
    }
}
