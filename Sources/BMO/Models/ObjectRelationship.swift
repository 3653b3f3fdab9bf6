/// A relationship, or a chain of them, whose objects a query can include.
public protocol ObjectRelationship<Object>: Sendable {
    /// The type that the relationship belongs to.
    associatedtype Object: BackedObject
    /// The type that it leads to.
    associatedtype Target: BackedObject

    /// The names in the configuration, joined by dots.
    var path: String { get }
}

extension ObjectRelationship {
    /// Returns the chain of this relationship and one of its target: `Country.cities.then(City.mayor)`.
    public func then<Next: ObjectRelationship>(_ next: Next) -> ChainedRelationship<Object, Next.Target>
    where Next.Object == Target {
        ChainedRelationship(path: "\(path).\(next.path)")
    }
}

/// A relationship to at most one object: `Note.list`.
public struct ToOneRelationship<Object: BackedObject, Target: BackedObject>: ObjectRelationship {
    /// The name in the configuration.
    public let path: String
    /// The names of the values that have the target's key.
    private let columns: [String]

    /// Creates a relationship; generated code does.
    public init(_ name: String, columns: [String]) {
        path = name
        self.columns = columns
    }

    /// A predicate for objects without a target.
    public var isNull: TypedPredicate<Object> { TypedPredicate(.all(columns.map { Field($0).isNull })) }

    /// Returns a predicate for objects whose target has this key.
    public func hasKey(_ key: Target.Key) -> TypedPredicate<Object> {
        let parts = zip(columns, key.localValues).map { name, value in Field(name) == value }
        return TypedPredicate(parts.count == 1 ? parts[0] : .all(parts))
    }

    /// Compares the target; `nil` matches objects without one.
    public static func == (left: Self, right: Target?) -> TypedPredicate<Object> {
        right.map { left.hasKey($0.objectKey) } ?? left.isNull
    }
}

/// A relationship to any number of objects: `List.notes`.
public struct ToManyRelationship<Object: BackedObject, Target: BackedObject>: ObjectRelationship {
    /// The name in the configuration.
    public let path: String

    /// Creates a relationship; generated code does.
    public init(_ name: String) { path = name }
}

/// Several relationships, each of the target of the one before.
public struct ChainedRelationship<Object: BackedObject, Target: BackedObject>: ObjectRelationship {
    /// The names in the configuration, joined by dots.
    public let path: String
}

/// The target of a relationship to one: its key, and the object where the query included it.
public struct ObjectReference<Target: BackedObject>: Sendable, Hashable {
    /// The target's key.
    public let key: Target.Key
    /// At most one: an array, so that types may refer to each other.
    private let included: [Target]

    /// Creates a reference to an object.
    public init(_ object: Target) {
        key = object.objectKey
        included = [object]
    }

    /// Creates a reference to the object with a key.
    public init(key: Target.Key) {
        self.key = key
        included = []
    }

    /// The target, where the query included it.
    public var object: Target? { included.first }
}
