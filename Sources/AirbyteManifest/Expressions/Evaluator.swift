internal import Model

/// Evaluates an expression as far as the inputs and parameters are known.
///
/// The rest refers to values that exist only during a scan, such as the reply, a record or the slice.
struct Evaluator {
    let scope: Scope

    /// The names of values that exist only during a scan, by Airbyte's names for them.
    private static let roots = [
        "response": "response", "decoded_response": "response", "record": "record", "last_record": "last_record",
        "last_records": "last_records", "headers": "headers", "last_page_size": "last_page_size",
        "stream_slice": "slice", "stream_partition": "slice", "stream_interval": "slice", "stream_state": "state",
        "next_page_token": "next_page_token", "components_values": "components_values",
        "stream_parameters": "stream_parameters", "last_page_token_value": "last_page_token_value",
        "creation_response": "creation_response", "polling_response": "polling_response",
        "download_target": "download_target",
    ]

    /// - Throws: ``Untranslatable`` for an unknown function or operator, or if the work limit is reached.
    func evaluate(_ expression: Expression) throws -> Expression {
        try scope.work.spend()
        switch expression {
        case .literal, .path, .input: return expression
        case .name(let name):
            if let value = scope.variables[name] { return value }
            if name == "parameters" { return .literal(scope.parameters) }
            return Self.roots[name].map { .path([$0]) } ?? expression
        case .member(let base, let key): return try member(of: base, try evaluate(key))
        case .call(.member(let base, .literal(.string(let method))), let arguments):
            return try call(method, of: base, try arguments.map(evaluate))
        case .call(let function, let arguments):
            guard case .name(let name) = function else { throw Untranslatable("\(expression.text) is not understood") }
            return Functions.call(name, try arguments.map(evaluate))
        // In Jinja, a missing member is undefined, which is not none.
        case .filter(let value, "is none", _) where try isUndefined(value): return .literal(false)
        case .filter(let value, let name, let arguments):
            return try Functions.filter(try evaluate(value), name, try arguments.map(evaluate))
        case .not(let value):
            let value = try evaluate(value)
            return truth(of: value).map { .literal(.bool(!$0)) } ?? .not(value)
        case .negative(let value):
            let value = try evaluate(value)
            switch value.known {
            case .int(let number)?:
                let (result, isOver) = (0 as Int64).subtractingReportingOverflow(number)
                return isOver ? .negative(value) : .literal(.int(result))
            case .double(let number)?: return .literal(.double(-number))
            default: return .negative(value)
            }
        case .binary(let sign, let left, let right):
            let value = try evaluate(left)
            if let other = try missed(by: sign, left, right) {
                return .binary(sign, .binary("or", value, other), right)
            }
            return try binary(sign, value, right)
        case .conditional(let test, let yes, let no):
            let test = try evaluate(test)
            if let isTrue = truth(of: test) { return try evaluate(isTrue ? yes : no) }
            return .conditional(test, try evaluate(yes), try evaluate(no))
        case .list(let elements):
            let list = Expression.list(try elements.map(evaluate))
            return list.known.map { .literal($0) } ?? list
        case .dictionary(let pairs):
            let dictionary = Expression.dictionary(
                try pairs.map { Expression.Pair(key: try evaluate($0.key), value: try evaluate($0.value)) })
            return dictionary.known.map { .literal($0) } ?? dictionary
        }
    }

    /// Whether a value counts as true, or nil if that is not known; an input that the user has to supply does.
    func truth(of value: Expression) -> Bool? {
        if case .input = value { return true }
        return value.known?.isTruthy
    }

    // MARK: Members

    private func member(of base: Expression, _ key: Expression, absent: Expression? = nil) throws -> Expression {
        if let path = configPath(base), let name = key.known?.printed {
            switch scope.inputs.value(at: path + [name]) {
            case .known(let value): return .literal(value)
            case .open(let input): return scope.assumesDefaults ? absent ?? .input(input) : .input(input)
            case nil: return absent ?? .literal(.null)
            }
        }
        var value = try evaluate(base)
        // `(record.get('author') or {}).get('id')` reads author.id.
        if case .binary("or", let left, let other) = value, let other = other.known, !other.isTruthy { value = left }
        if case .path(let names) = value {
            if let name = key.known { return .path(names + [name.printed]) }
            if case .negative(.literal(.int(let number))) = key { return .path(names + ["-\(number)"]) }
        }
        if let known = value.known, let name = key.known {
            if case .int(let index) = name, let list = known.array {
                let place = index < 0 ? list.count.addingReportingOverflow(Int(index)).partialValue : Int(index)
                return .literal(list.indices.contains(place) ? list[place] : .null)
            }
            if case .int(let index) = name, let text = known.string {
                let end = index == -1 ? .null : ConfigValue.int(index &+ 1)
                let part = KnownMacros.slice(.string(text), from: name, to: end)
                return .literal(part?.string?.isEmpty == false ? part ?? .null : .null)
            }
            return known.at([name.printed]).map { .literal($0) } ?? absent ?? .literal(.null)
        }
        if case .input(let input) = value, let name = key.known?.printed {
            return .input(Inputs.Open(path: input.path + [name], isSecret: input.isSecret))
        }
        return .member(value, key)
    }

    /// Whether an expression is a member that its object lacks; one that `get` reads is none then.
    private func isUndefined(_ expression: Expression) throws -> Bool {
        guard case .member(let base, let key) = expression, let name = try evaluate(key).known?.printed else {
            return false
        }
        if let path = configPath(base) { return scope.inputs.value(at: path + [name]) == nil }
        return try evaluate(base).known?.members.map { members in !members.contains { $0.key == name } } ?? false
    }

    /// The path of a value inside the connector's configuration, or nil if the expression is something else.
    private func configPath(_ expression: Expression) -> [String]? {
        switch expression {
        case .name("config"): return []
        case .member(let base, let key):
            guard let path = configPath(base), let name = (try? evaluate(key))?.known?.printed else { return nil }
            let inner = path + [name]
            return scope.inputs.known.at(inner)?.members != nil || scope.inputs.hasMembers(inner) ? inner : nil
        case .call(.member(let base, .literal("get")), let arguments):
            guard let key = arguments.first else { return nil }
            return configPath(.member(base, key))
        default: return nil
        }
    }

    private func call(_ method: String, of base: Expression, _ arguments: [Expression]) throws -> Expression {
        switch method {
        case "get":
            guard let key = arguments.first else { break }
            let absent = arguments.dropFirst().first ?? (scope.assumesDefaults ? .literal(.null) : nil)
            let value = try member(of: base, key, absent: absent)
            // A default that counts as false has the effect of the missing value.
            if case .path = value, let absent, truth(of: absent) != false { return .binary("or", value, absent) }
            return value
        case "json" where arguments.isEmpty: return try evaluate(base)
        default: break
        }
        let value = try evaluate(base)
        return try Functions.method(method, of: value, arguments)
            ?? .call(.member(value, .literal(.string(method))), arguments)
    }

    // MARK: Operators

    /// Returns the default of a missing member if a comparison is true for it, and the scope keeps such defaults.
    private func missed(by sign: String, _ left: Expression, _ right: Expression) throws -> Expression? {
        guard scope.keepsDefaults, ["==", "in"].contains(sign),
            case .call(.member(_, .literal("get")), let arguments) = left, arguments.count == 2
        else { return nil }
        let absent = try evaluate(arguments[1])
        guard let value = absent.known, let other = try evaluate(right).known,
            Functions.operation(sign, value, other) == true
        else { return nil }
        return absent
    }

    private func binary(_ sign: String, _ left: Expression, _ right: Expression) throws -> Expression {
        switch (sign, truth(of: left)) {
        case ("or", true?), ("and", false?): return left
        case ("or", false?), ("and", true?): return try evaluate(right)
        default: break
        }
        let right = try evaluate(right)
        guard let first = left.known, let second = right.known else {
            if sign == "and", truth(of: right) == false { return .literal(.bool(false)) }
            return .binary(sign, left, right)
        }
        guard let result = Functions.operation(sign, first, second) else { return .binary(sign, left, right) }
        // Only texts and lists grow.
        if result.string != nil || result.array != nil { try scope.work.check(.literal(result)) }
        return .literal(result)
    }
}
