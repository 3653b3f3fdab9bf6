internal import Mapping
internal import Model

/// The identity of an object.
public struct ObjectID: Sendable, Hashable, CustomStringConvertible {
    /// The entity; for an object of a sub-entity, the root entity, which has the key.
    public let entity: String
    /// The values of the key's attributes, in their order.
    public let key: [LocalValue]

    /// Creates an identity.
    public init(entity: String, key: [LocalValue]) {
        self.entity = entity
        self.key = key
    }

    /// A text such as `Country FR`.
    public var description: String { "\(entity) \(key.map(\.description).joined(separator: ", "))" }
}

/// An object of the local database, as of when it was read.
///
/// ```swift
/// let country = try await manager.get("Country", "FR")
/// country?["name"]                        // .text("France")
/// try country?.value("population", as: Int64.self)
/// country?.objects("cities")              // where the request included them
/// ```
public struct LocalObject: Sendable, Identifiable {
    /// The object's identity.
    public let id: ObjectID
    /// Its entity; for an object of a sub-entity, the sub-entity.
    public let entity: String
    /// Whether the object is a stub: other objects refer to it, and only its key is known.
    public let isStub: Bool
    let schema: ObjectSchema
    let row: [StoredValue]
    let included: [String: [LocalObject]]

    /// The value of an attribute, or of a relationship to one whose target's key has one attribute; nil for a name that
    /// the entity does not have.
    public subscript(name: String) -> LocalValue? { schema.value(name, of: row) }

    /// The names of the values, in the configuration's order.
    public var names: [String] { schema.names }

    /// The values by their names.
    public var values: [String: LocalValue] {
        Dictionary(names.compactMap { name in self[name].map { (name, $0) } }, uniquingKeysWith: { $1 })
    }

    /// Returns the identity of the target of a relationship to one; nil without a target.
    public func reference(_ relationship: String) -> ObjectID? { schema.reference(relationship, of: row) }

    /// Returns the target of a relationship to one, where the request included it.
    public func object(_ relationship: String) -> LocalObject? { included[relationship]?.first }

    /// Returns the targets of a relationship, in its order; nil where the request did not include it.
    public func objects(_ relationship: String) -> [LocalObject]? { included[relationship] }

    /// Returns the object as a value of your type, whose members are named as attributes and relationships.
    ///
    /// - Throws: `DecodingError`, with the path of the member that does not fit.
    public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try ObjectDecoder.decode(type, from: .object(self))
    }

    /// Returns a value as your type: an integer, a text, a `Date`, a `Decimal`, the content of a JSON attribute.
    ///
    /// - Throws: `DecodingError` for an unknown name, null, or another type.
    public func value<Value: Decodable>(_ name: String, as type: Value.Type = Value.self) throws -> Value {
        guard let value = self[name] else {
            throw DecodingError.keyNotFound(
                NodeKey(name),
                DecodingError.Context(
                    codingPath: [],
                    debugDescription: "\(entity) has no value \"\(name)\"; it has \(names.joined(separator: ", "))"))
        }
        return try ObjectDecoder.decode(type, from: .value(value), path: [NodeKey(name)])
    }
}

extension LocalObject: Hashable {
    /// Returns whether both are the same object with equal values, regardless of included objects.
    public static func == (left: LocalObject, right: LocalObject) -> Bool {
        left.id == right.id && left.entity == right.entity && left.row == right.row && left.isStub == right.isStub
    }

    /// Hashes the identity.
    public func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

extension LocalObject: CustomStringConvertible {
    /// The entity and the values.
    public var description: String {
        "\(entity)(" + names.map { "\($0): \(self[$0]?.description ?? "")" }.joined(separator: ", ") + ")"
    }
}
