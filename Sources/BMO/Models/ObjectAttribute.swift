/// An attribute of an entity in queries and edits: `Note.title`.
public struct ObjectAttribute<Object: BackedObject, Value: AttributeValue>: Sendable {
    /// The attribute's name in the configuration.
    public let name: String

    /// Creates an attribute; generated code does.
    public init(_ name: String) { self.name = name }

    /// A predicate for objects without a value.
    public var isNull: TypedPredicate<Object> { TypedPredicate(Field(name).isNull) }

    /// Returns a predicate for values that are among these.
    public func isIn(_ values: some Sequence<Value>) -> TypedPredicate<Object> {
        TypedPredicate(Field(name).isIn(values))
    }

    /// Compares for equality; `nil` matches objects without a value.
    public static func == (left: Self, right: Value?) -> TypedPredicate<Object> {
        TypedPredicate(Field(left.name) == right)
    }

    /// Compares for inequality; no value differs from every value.
    public static func != (left: Self, right: Value?) -> TypedPredicate<Object> {
        TypedPredicate(Field(left.name) != right)
    }
}

extension ObjectAttribute where Value: Comparable {
    /// Compares with less-than.
    public static func < (left: Self, right: Value) -> TypedPredicate<Object> {
        TypedPredicate(Field(left.name) < right)
    }

    /// Compares with less-than-or-equal.
    public static func <= (left: Self, right: Value) -> TypedPredicate<Object> {
        TypedPredicate(Field(left.name) <= right)
    }

    /// Compares with greater-than.
    public static func > (left: Self, right: Value) -> TypedPredicate<Object> {
        TypedPredicate(Field(left.name) > right)
    }

    /// Compares with greater-than-or-equal.
    public static func >= (left: Self, right: Value) -> TypedPredicate<Object> {
        TypedPredicate(Field(left.name) >= right)
    }
}

extension ObjectAttribute where Value == String {
    /// Returns a predicate for texts that match a pattern: `%` matches any text, `_` one character; ASCII letters match
    /// regardless of case.
    public func isLike(_ pattern: String) -> TypedPredicate<Object> { TypedPredicate(Field(name).isLike(pattern)) }
}

/// A condition on the objects of one type.
///
/// ```swift
/// Note.stars > 3 && (Note.title == "milk" || Note.list == groceries)
/// ```
public struct TypedPredicate<Object: BackedObject>: Sendable {
    /// The condition without the type.
    public let untyped: ObjectPredicate

    /// Creates a condition from one by names, for what the typed interface does not cover.
    public init(_ untyped: ObjectPredicate) { self.untyped = untyped }

    /// Requires both conditions.
    public static func && (left: Self, right: Self) -> Self { Self(left.untyped && right.untyped) }

    /// Requires at least one of the conditions.
    public static func || (left: Self, right: Self) -> Self { Self(left.untyped || right.untyped) }

    /// Negates a condition.
    public static prefix func ! (condition: Self) -> Self { Self(!condition.untyped) }
}
