internal import Mapping
internal import Model

/// The model of the checks of types: an entity with a column and relationships of each type, and an entity per type
/// whose key has that type.
enum TypeModel {
    /// A type with two values.
    struct Sample {
        let type: AttributeType
        let first: StoredValue
        let second: StoredValue

        /// The column with a value of the type.
        var column: String { "value_\(type.rawValue)" }
        /// The entity whose key has the type, and the list of its objects.
        var entity: String { "Of_\(type.rawValue)" }
        /// The relationship to one object of that entity.
        var toOne: String { "one_\(type.rawValue)" }
        /// The relationship to many objects of that entity.
        var toMany: String { "many_\(type.rawValue)" }
    }

    static let samples = [
        Sample(type: .text, first: .text("Ølgod"), second: .text("")),
        Sample(type: .integer, first: .integer(.max), second: .integer(-7)),
        Sample(type: .real, first: .real(0.1), second: .real(-1e300)),
        Sample(type: .boolean, first: .boolean(true), second: .boolean(false)),
        Sample(
            // Without a zero at the end, which no decimal of a key has.
            type: .decimal, first: .decimal("1.5"), second: .decimal("-12345678901234567890.0000000000000000000001")),
        Sample(
            type: .timestamp, first: .timestamp("2026-11-21T07:08:08.000001Z"),
            second: .timestamp("0001-01-01T00:00:00.000000Z")),
        Sample(type: .date, first: .date("2024-02-29"), second: .date("9999-12-31")),
        Sample(type: .data, first: .bytes([0, 10, 255]), second: .bytes([])),
        Sample(type: .json, first: .json("{\"b\": [1, 2.50], \"a\": null}"), second: .json("\"x\"")),
        Sample(type: .url, first: .url("https://example.org/a?b=%20"), second: .url("urn:isbn:0451450523")),
        Sample(
            type: .uuid, first: .uuid("c5f1a2b4-0000-4000-8000-00000000000a"),
            second: .uuid("ffffffff-ffff-4fff-bfff-ffffffffffff")),
    ]

    /// The samples whose type a key can have.
    static let keys = samples.filter { $0.type != .json }

    static let thing = 0

    /// The key of the only object of the first entity.
    static let key = StoredValue.uuid("00000000-0000-4000-8000-000000000001")

    /// The index of the entity whose key is the sample with this index in ``keys``.
    static func entity(ofKey index: Int) -> Int { index + 1 }

    static func compiled() throws -> CompiledModel {
        var thing = Entity(
            name: "Thing", bridge: "remote", key: ["id"],
            attributes: [Attribute(name: "id", type: .uuid)]
                + samples.map { Attribute(name: $0.column, type: $0.type) },
            relationships: keys.flatMap { sample in
                [
                    Relationship(name: sample.toOne, kind: .toOne, target: sample.entity),
                    Relationship(name: sample.toMany, kind: .toMany, target: sample.entity),
                ]
            })
        thing.keepsExtra = true
        let others = keys.map { sample in
            Entity(
                name: sample.entity, bridge: "remote", key: ["id"],
                attributes: [Attribute(name: "id", type: sample.type), Attribute(name: "name")], relationships: [])
        }
        return try CompiledModel(Model(entities: [thing] + others))
    }
}
