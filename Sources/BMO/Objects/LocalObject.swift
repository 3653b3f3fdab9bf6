internal import Mapping
internal import Model

/// What makes an object this one and no other.
public struct ObjectID: Sendable, Hashable, CustomStringConvertible {
    /// The entity; of a sub-entity's object its root, which has the key.
    public let entity: String
    /// The values of the key's attributes, in their order.
    public let key: [LocalValue]

    /// An object's identity.
    public init(entity: String, key: [LocalValue]) {
        self.entity = entity
        self.key = key
    }

    /// `Country FR`.
    public var description: String { "\(entity) \(key.map(\.description).joined(separator: ", "))" }
}

/// An object of the local database, as it was when it was read.
///
/// ```swift
/// let country = try await manager.get("Country", "FR")
/// country?["name"]                        // .text("France")
/// try country?.value("population", as: Int64.self)
/// country?.objects("cities")              // where the request included them
/// ```
public struct LocalObject: Sendable, Identifiable {
    /// What makes it this object and no other.
    public let id: ObjectID
    /// Its entity: of an object of a sub-entity, that.
    public let entity: String
    /// Whether other objects refer to it and nothing has described it so far: it has a key and no more.
    public let isStub: Bool
    let schema: ObjectSchema
    let row: [StoredValue]
    let included: [String: [LocalObject]]

    /// The value of an attribute, or of a relationship to one whose target's key has one attribute; nil for a name that the
    /// entity does not have.
    public subscript(name: String) -> LocalValue? { schema.value(name, of: row) }

    /// The names of the values, in the configuration's order.
    public var names: [String] { schema.names }

    /// The values by their names.
    public var values: [String: LocalValue] {
        Dictionary(names.compactMap { name in self[name].map { (name, $0) } }, uniquingKeysWith: { $1 })
    }

    /// The identity of the object that a relationship to one leads to; nil where it leads to none.
    public func reference(_ relationship: String) -> ObjectID? { schema.reference(relationship, of: row) }

    /// The object that a relationship to one leads to, where the request included it.
    public func object(_ relationship: String) -> LocalObject? { included[relationship]?.first }

    /// The objects that a relationship leads to, in its order; nil where the request did not include it.
    public func objects(_ relationship: String) -> [LocalObject]? { included[relationship] }

    /// The object as a value of a type of yours: its members are named as attributes and relationships.
    ///
    /// - Throws: `DecodingError`, with the path of the member that does not fit.
    public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try ObjectDecoder.decode(type, from: .object(self))
    }

    /// A value as a type of yours: an integer, a text, a `Date`, a `Decimal`, what a JSON attribute holds.
    ///
    /// - Throws: `DecodingError` for a name that is not there, null, or another type.
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
    /// Whether they are the same object with the same values; what was included does not count.
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
