import ImportTestSupport
import Mapping
import Model
import TestSupport

/// Countries with their cities (an inverse to-one) and their languages (links, seen from both ends).
func world(
    cities: Relationship.Merge = .replace, languages: Relationship.Merge = .replace,
    countries: Relationship.Merge = .replace
) throws -> CompiledModel {
    try CompiledModel.of(
        Entity(
            "Country", key: ["code"], [.of("code", .text), .of("name", .text), .of("size", .integer)],
            [
                .many("cities", "City", inverse: "country", merge: cities),
                .many("languages", "Language", merge: languages),
            ]),
        Entity(
            "City", key: ["id"], [.of("id", .integer), .of("name", .text)],
            [.one("country", "Country"), .one("twin", "City")]),
        Entity(
            "Language", key: ["code"], [.of("code", .text), .of("name", .text)],
            [.many("countries", "Country", inverse: "languages", merge: countries)]))
}

/// A place with a key of two attributes, on either side of every kind of relationship.
func compositeWorld() throws -> CompiledModel {
    try CompiledModel.of(
        Entity(
            "Region", key: ["country", "code"], [.of("code", .integer), .of("country", .text), .of("name", .text)],
            [
                .one("parent", "Region"), .many("parts", "Region", inverse: "parent"),
                .many("neighbours", "Region"), .many("tags", "Tag"),
            ]),
        Entity("Tag", key: ["name"], [.of("name", .text)], [.many("regions", "Region", inverse: "tags")]))
}
