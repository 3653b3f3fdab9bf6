internal import Mapping
internal import Model
internal import SQLiteStore

/// A value of an object by its name, to compare it: `Field("population") > 1_000_000`.
public struct Field: Sendable, Hashable {
    /// The attribute's or the relationship's name.
    public let name: String

    /// The value called `name`.
    public init(_ name: String) { self.name = name }

    /// Whether there is no value.
    public var isNull: ObjectPredicate { .compare(name, .equal, .null) }

    /// Whether a text is like a pattern: `%` any text, `_` one character; upper and lower case of ASCII are one.
    public func isLike(_ pattern: String) -> ObjectPredicate { .like(name, pattern) }

    /// Whether the value is one of these.
    public func isIn(_ values: some Sequence<some LocalValueConvertible>) -> ObjectPredicate {
        .isIn(name, values.map(\.localValue))
    }

    /// Equal; `nil` is no value.
    public static func == (left: Field, right: some LocalValueConvertible) -> ObjectPredicate {
        .compare(left.name, .equal, right.localValue)
    }

    /// Different; no value is different from every value.
    public static func != (left: Field, right: some LocalValueConvertible) -> ObjectPredicate {
        .compare(left.name, .notEqual, right.localValue)
    }

    /// Less.
    public static func < (left: Field, right: some LocalValueConvertible) -> ObjectPredicate {
        .compare(left.name, .less, right.localValue)
    }

    /// Less or equal.
    public static func <= (left: Field, right: some LocalValueConvertible) -> ObjectPredicate {
        .compare(left.name, .atMost, right.localValue)
    }

    /// Greater.
    public static func > (left: Field, right: some LocalValueConvertible) -> ObjectPredicate {
        .compare(left.name, .greater, right.localValue)
    }

    /// Greater or equal.
    public static func >= (left: Field, right: some LocalValueConvertible) -> ObjectPredicate {
        .compare(left.name, .atLeast, right.localValue)
    }
}

/// What objects must meet.
///
/// ```swift
/// Field("continent") == "Europe" && (Field("population") > 1_000_000 || Field("name").isLike("%land"))
/// ```
public indirect enum ObjectPredicate: Sendable, Hashable {
    /// How a value is compared.
    public enum Comparison: String, Sendable, Hashable {
        case equal = "="
        case notEqual = "!="
        case less = "<"
        case atMost = "<="
        case greater = ">"
        case atLeast = ">="
    }

    /// A value compared with another.
    case compare(String, Comparison, LocalValue)
    /// A text like a pattern of SQL's LIKE.
    case like(String, String)
    /// A value that is one of these.
    case isIn(String, [LocalValue])
    /// All of them.
    case all([ObjectPredicate])
    /// At least one of them.
    case any([ObjectPredicate])
    /// Not this one.
    case not(ObjectPredicate)

    /// Both.
    public static func && (left: ObjectPredicate, right: ObjectPredicate) -> ObjectPredicate {
        if case .all(let parts) = left { return .all(parts + [right]) }
        return .all([left, right])
    }

    /// One of them at least.
    public static func || (left: ObjectPredicate, right: ObjectPredicate) -> ObjectPredicate {
        if case .any(let parts) = left { return .any(parts + [right]) }
        return .any([left, right])
    }

    /// The opposite.
    public static prefix func ! (predicate: ObjectPredicate) -> ObjectPredicate { .not(predicate) }

    /// The predicate as the store has it.
    ///
    /// - Throws: ``RequestError`` for names and values that do not fit the entity.
    func compiled(for schema: ObjectSchema) throws -> RowPredicate {
        switch self {
        case .compare(let name, let comparison, let value):
            let comparison = SQLiteStore.Condition.Comparison(rawValue: comparison.rawValue) ?? .equal
            return .compare(name, comparison, try Self.stored(value, name, schema))
        case .like(let name, let pattern):
            _ = try Self.type(of: name, schema)
            return .compare(name, .like, .text(pattern))
        case .isIn(let name, let values):
            let stored = try values.map { try Self.stored($0, name, schema) }
            let isIn = RowPredicate.isIn(name, stored.filter { $0 != .null })
            return stored.contains(.null) ? .any([.isNull(name), isIn]) : isIn
        case .all(let parts): return .all(try parts.map { try $0.compiled(for: schema) })
        case .any(let parts): return .any(try parts.map { try $0.compiled(for: schema) })
        case .not(let part): return .not(try part.compiled(for: schema))
        }
    }

    private static func type(of name: String, _ schema: ObjectSchema) throws -> AttributeType {
        if let type = schema.type(of: name) { return type }
        throw RequestError(
            .requested, entity: schema.layout.name, code: "request",
            "\(schema.layout.name) has no value \"\(name)\"",
            remedy: "it has: \(schema.names.joined(separator: ", "))")
    }

    private static func stored(_ value: LocalValue, _ name: String, _ schema: ObjectSchema) throws -> StoredValue {
        let type = try type(of: name, schema)
        // A number between two integers compares well with them.
        if type == .integer, case .real(let number) = value, number.isFinite { return .real(number) }
        do {
            return try value.stored(as: type)
        } catch {
            throw RequestError(
                .requested, entity: schema.layout.name, code: "request",
                "\(schema.layout.name).\(name) is compared with something else: \(error.reason)",
                remedy: "give a value of its type")
        }
    }

    /// The comparisons that all must hold, as far as the predicate is no more than that, and whether it is.
    var conjunction: (parts: [(name: String, comparison: Comparison, value: LocalValue)], isWhole: Bool) {
        switch self {
        case .compare(let name, let comparison, let value): return ([(name, comparison, value)], true)
        case .all(let parts):
            let all = parts.map(\.conjunction)
            return (all.flatMap(\.parts), all.allSatisfy(\.isWhole))
        default: return ([], false)
        }
    }

    /// A text that is the same for predicates that mean the same, as far as that is plain.
    var semanticKey: String {
        switch self {
        case .compare(let name, let comparison, let value): return "\(name)\(comparison.rawValue)\(Self.key(value))"
        case .like(let name, let pattern): return "\(name)~\(pattern.debugDescription)"
        case .isIn(let name, let values): return "\(name) in \(values.map(Self.key).sorted())"
        case .all(let parts): return "all\(parts.map(\.semanticKey).sorted())"
        case .any(let parts): return "any\(parts.map(\.semanticKey).sorted())"
        case .not(let part): return "not(\(part.semanticKey))"
        }
    }

    /// Values of different types are different, however they look.
    private static func key(_ value: LocalValue) -> String {
        if case .data(let bytes) = value { return "data\(bytes)" }
        if let text = value.text { return text.debugDescription }
        return value.description
    }
}
