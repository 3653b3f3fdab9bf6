internal import Mapping
internal import Model

/// The model of the checks: relationships of each kind, a soft deletion, and rows without a key.
enum SampleModel {
    static let country = 0
    static let city = 1
    static let language = 2
    static let note = 3
    static let entry = 4

    static func compiled(adding: [Attribute] = [], nameType: AttributeType = .text) throws -> CompiledModel {
        var note = Entity(
            name: "Note", bridge: "remote", key: ["id"],
            attributes: [Attribute(name: "id", type: .integer), Attribute(name: "text")], relationships: [])
        note.deletes = DeletePolicy(mode: .soft)
        var entry = Entity(
            name: "Entry", bridge: "remote", key: [], attributes: [Attribute(name: "text")], relationships: [])
        entry.uniquing = .none
        let country = Entity(
            name: "Country", bridge: "remote", key: ["code"],
            attributes: [
                Attribute(name: "code"), Attribute(name: "name", type: nameType),
                Attribute(name: "people", type: .integer), Attribute(name: "area", type: .decimal),
            ] + adding,
            relationships: [
                Relationship(name: "capital", kind: .toOne, target: "City"),
                Relationship(name: "cities", kind: .toMany, target: "City", inverse: "country"),
                Relationship(name: "languages", kind: .toMany, target: "Language"),
            ])
        var city = Entity(
            name: "City", bridge: "remote", key: ["id"],
            attributes: [Attribute(name: "id", type: .integer), Attribute(name: "name")],
            relationships: [Relationship(name: "country", kind: .toOne, target: "Country")])
        city.parent = nil
        let language = Entity(
            name: "Language", bridge: "remote", key: ["code"],
            attributes: [Attribute(name: "code"), Attribute(name: "name")],
            relationships: [Relationship(name: "countries", kind: .toMany, target: "Country", inverse: "languages")])
        return try CompiledModel(Model(entities: [country, city, language, note, entry]))
    }
}
