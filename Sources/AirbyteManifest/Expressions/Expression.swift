internal import Model

/// A Jinja expression, or the rest of one after the known values were inserted.
indirect enum Expression: Equatable, Sendable {
    case literal(ConfigValue)
    case name(String)
    /// A value inside one that is known only during a scan, such as `response.links.next`.
    ///
    /// The first name is `response`, `record`, `last_record`, `headers`, `slice` or the like.
    case path([String])
    /// An input of the connector that the user has to supply.
    case input(Inputs.Open)
    case member(Expression, Expression)
    case call(Expression, [Expression])
    case filter(Expression, String, [Expression])
    case not(Expression)
    case negative(Expression)
    case binary(String, Expression, Expression)
    case conditional(Expression, Expression, Expression)
    case list([Expression])
    case dictionary([Pair])

    struct Pair: Equatable, Sendable {
        let key: Expression
        let value: Expression
    }

    /// The value, if it is known.
    var known: ConfigValue? {
        switch self {
        case .literal(let value): return value
        case .list(let elements):
            let values = elements.compactMap(\.known)
            return values.count == elements.count ? .array(values) : nil
        case .dictionary(let pairs):
            var members: [(key: String, value: ConfigValue)] = []
            for pair in pairs {
                guard let key = pair.key.known, let value = pair.value.known else { return nil }
                members.append((key.printed, value))
            }
            return .object(members)
        default: return nil
        }
    }

    /// Whether the value depends on a record.
    var readsRecord: Bool { paths.contains { $0.first == "record" } }

    /// The paths that the value is made of.
    var paths: [[String]] {
        switch self {
        case .path(let names): [names]
        case .binary(_, let left, let right): left.paths + right.paths
        case .conditional(_, let yes, let no): yes.paths + no.paths
        case .filter(let value, _, _), .member(let value, _), .call(let value, _): value.paths
        default: []
        }
    }

    /// Whether it is a member of a record.
    var isOfRecord: Bool {
        if case .path(let names) = self { names.first == "record" && names.count > 1 } else { false }
    }

    /// The value without the filters around it.
    var unfiltered: Expression { if case .filter(let value, _, _) = self { value.unfiltered } else { self } }

    /// Whether a test only protects a value against missing members: `a.b if a else none` is `a.b`.
    func guards(_ value: Expression) -> Bool {
        guard case .path(let own) = value.unfiltered else { return false }
        switch self {
        case .path(let names): return own.starts(with: names)
        case .binary("in", .literal(let name), .path(let names)): return own.starts(with: names + [name.printed])
        case .filter(.path(let names), "is defined", _), .not(.filter(.path(let names), "is none", _)):
            return own.starts(with: names)
        case .binary("and", let left, let right): return left.guards(value) && right.guards(value)
        default: return false
        }
    }

    /// The expression as text for a comment, similar to how it was written.
    var text: String {
        switch self {
        case .literal(let value): value.string.map { "'\($0)'" } ?? value.printed
        case .name(let name): name
        case .path(let names): names.joined(separator: ".")
        case .input(let input): "config." + input.path.joined(separator: ".")
        case .member(let base, .literal(.string(let name))): "\(base.text).\(name)"
        case .member(let base, let key): "\(base.text)[\(key.text)]"
        case .call(let function, let arguments):
            "\(function.text)(\(arguments.map(\.text).joined(separator: ", ")))"
        case .filter(let value, let name, let arguments):
            "\(value.text) | \(name)" + (arguments.isEmpty ? "" : "(\(arguments.map(\.text).joined(separator: ", ")))")
        case .not(let value): "not \(value.text)"
        case .negative(let value): "-\(value.text)"
        case .binary(let sign, let left, let right): "\(left.text) \(sign) \(right.text)"
        case .conditional(let test, let yes, let no): "\(yes.text) if \(test.text) else \(no.text)"
        case .list(let elements): "[\(elements.map(\.text).joined(separator: ", "))]"
        case .dictionary(let pairs):
            "{\(pairs.map { "\($0.key.text): \($0.value.text)" }.joined(separator: ", "))}"
        }
    }
}
