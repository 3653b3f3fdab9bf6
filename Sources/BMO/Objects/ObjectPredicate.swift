internal import Mapping
public import Model
internal import StoreContract

/// A named value of an object, for comparisons: `Field("population") > 1_000_000`.
public struct Field: Sendable, Hashable {
    /// The name of the attribute or relationship.
    public let name: String

    /// Creates a field for the value called `name`.
    public init(_ name: String) { self.name = name }

    /// A predicate for objects without a value.
    public var isNull: ObjectPredicate { .compare(name, .equal, .null) }

    /// Returns a predicate for texts that match a pattern: `%` matches any text, `_` one character; ASCII letters match
    /// regardless of case.
    public func isLike(_ pattern: String) -> ObjectPredicate { .compare(name, .like, .text(pattern)) }

    /// Returns a predicate for values that are among these.
    public func isIn(_ values: some Sequence<some LocalValueConvertible>) -> ObjectPredicate {
        .isIn(name, values.map(\.localValue))
    }

    /// Compares for equality; `nil` matches objects without a value.
    public static func == (left: Field, right: some LocalValueConvertible) -> ObjectPredicate {
        .compare(left.name, .equal, right.localValue)
    }

    /// Compares for inequality; no value differs from every value.
    public static func != (left: Field, right: some LocalValueConvertible) -> ObjectPredicate {
        .compare(left.name, .notEqual, right.localValue)
    }

    /// Compares with less-than.
    public static func < (left: Field, right: some LocalValueConvertible) -> ObjectPredicate {
        .compare(left.name, .less, right.localValue)
    }

    /// Compares with less-than-or-equal.
    public static func <= (left: Field, right: some LocalValueConvertible) -> ObjectPredicate {
        .compare(left.name, .atMost, right.localValue)
    }

    /// Compares with greater-than.
    public static func > (left: Field, right: some LocalValueConvertible) -> ObjectPredicate {
        .compare(left.name, .greater, right.localValue)
    }

    /// Compares with greater-than-or-equal.
    public static func >= (left: Field, right: some LocalValueConvertible) -> ObjectPredicate {
        .compare(left.name, .atLeast, right.localValue)
    }
}

/// A condition on objects.
///
/// ```swift
/// Field("continent") == "Europe" && (Field("population") > 1_000_000 || Field("name").isLike("%land"))
/// ```
public typealias ObjectPredicate = QueryPredicate<LocalValue>

extension QueryPredicate where Value == LocalValue {
    /// Requires both predicates.
    public static func && (left: ObjectPredicate, right: ObjectPredicate) -> ObjectPredicate {
        var parts: [ObjectPredicate] = []
        for side in [left, right] {
            if case .all(let inner) = side { parts += inner } else { parts.append(side) }
        }
        return .all(parts)
    }

    /// Requires at least one of the predicates.
    public static func || (left: ObjectPredicate, right: ObjectPredicate) -> ObjectPredicate {
        var parts: [ObjectPredicate] = []
        for side in [left, right] {
            if case .any(let inner) = side { parts += inner } else { parts.append(side) }
        }
        return .any(parts)
    }

    /// Negates a predicate; of a negated one, returns what it negates.
    public static prefix func ! (predicate: ObjectPredicate) -> ObjectPredicate {
        if case .not(let part) = predicate { return part }
        return .not(predicate)
    }

    /// The maximum number of conditions inside each other: a parser of SQL has room for about 30.
    private static var maxLevels: Int { 20 }

    /// Returns whether conditions are inside each other on more levels; it looks no deeper than that.
    private func isDeeper(than levels: Int) -> Bool {
        guard levels > 0 else { return true }
        switch self {
        case .compare, .isNull, .isIn: return false
        case .all(let parts), .any(let parts): return parts.contains { $0.isDeeper(than: levels - 1) }
        case .not(let part): return part.isDeeper(than: levels - 1)
        }
    }

    /// Returns the store's form of the predicate.
    ///
    /// - Throws: ``RequestError`` for names and values that do not fit the entity, and for too many levels.
    func compiled(for schema: ObjectSchema) throws -> RowPredicate {
        guard !isDeeper(than: Self.maxLevels) else {
            throw RequestError(
                .requested, entity: schema.layout.name, code: "request",
                "a predicate on \(schema.layout.name) has conditions inside conditions on more than \(Self.maxLevels) levels",
                remedy: "put conditions that belong together into one `.all` or `.any`")
        }
        return try converted(
            compare: { name, comparison, value in
                guard comparison == .like else {
                    return .compare(name, comparison, try Self.stored(value, name, schema))
                }
                _ = try Self.type(of: name, schema)
                return .compare(name, .like, .text(value.text ?? value.description))
            },
            isNull: { name in
                _ = try Self.type(of: name, schema)
                return .isNull(name)
            },
            isIn: { name, values in
                let stored = try values.map { try Self.stored($0, name, schema) }
                let isIn = RowPredicate.isIn(name, stored.filter { $0 != .null })
                return stored.contains(.null) ? .any([.isNull(name), isIn]) : isIn
            })
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
        // A number between two integers compares correctly with them.
        if type == .integer, case .real(let number) = value, number.isFinite { return .real(number) }
        do {
            let stored = try value.stored(as: type)
            let field = schema.layout.fields.firstIndex { $0.name == name }
            return field.map(schema.layout.isIdentity) == true ? stored.identity : stored
        } catch {
            throw RequestError(
                .requested, entity: schema.layout.name, code: "request",
                "\(schema.layout.name).\(name) is compared with a value of another type: \(error.reason)",
                remedy: "give a value of its type")
        }
    }

    /// The comparisons that must all hold, and whether they are the whole predicate.
    var conjunction: (parts: [(name: String, comparison: Comparison, value: LocalValue)], isWhole: Bool) {
        switch self {
        case .compare(_, .like, _): return ([], false)
        case .compare(let name, let comparison, let value): return ([(name, comparison, value)], true)
        case .isNull(let name): return ([(name, .equal, .null)], true)
        case .all(let parts):
            let all = parts.map(\.conjunction)
            return (all.flatMap(\.parts), all.allSatisfy(\.isWhole))
        default: return ([], false)
        }
    }

    /// A text that is equal for equivalent predicates, as far as that is easily detected.
    var semanticKey: String {
        switch self {
        case .compare(let name, let comparison, let value): return "\(name)\(comparison.rawValue)\(Self.key(value))"
        case .isNull(let name): return "\(name)=\(Self.key(.null))"
        case .isIn(let name, let values): return "\(name) in \(values.map(Self.key).sorted())"
        case .all(let parts): return "all\(parts.map(\.semanticKey).sorted())"
        case .any(let parts): return "any\(parts.map(\.semanticKey).sorted())"
        case .not(let part): return "not(\(part.semanticKey))"
        }
    }

    /// Returns a text that differs for values of different types, even where they look alike.
    private static func key(_ value: LocalValue) -> String {
        if case .data(let bytes) = value { return "data\(bytes)" }
        if let text = value.text { return text.debugDescription }
        return value.description
    }
}
