import ImportTestSupport
import Mapping
import Model
import Testing
import TestSupport

/// Nested objects, bare keys, and what leads back.
@Suite struct RelationshipTests {
    private func world() throws -> CompiledModel {
        try CompiledModel.of(
            Entity(
                "Country", key: ["code"], [.of("code", .text), .of("name", .text)],
                [.many("cities", "City", inverse: "country"), .many("languages", "Language")]),
            Entity(
                "City", key: ["id"], [.of("id", .integer), .of("name", .text)],
                [.one("country", "Country"), .one("twin", "City")]),
            Entity("Language", key: ["code"], [.of("code", .text)]))
    }

    @Test func `a nested object is an object of its own`() throws {
        #expect(
            try mapped(
                ["id": 1, "country": ["code": "NO", "name": "Norway"], "name": "Oslo"], as: "City", in: world())
                    == """
                    City id=1 name='Oslo' country='NO'
                    Country code='NO' name='Norway'
                    """)
    }

    @Test func `a bare key is read as the target reads its key`() throws {
        #expect(
            try mapped(["id": 1, "country": "NO", "twin": "2"], as: "City", in: world())
                == "City id=1 country='NO' twin=2")
        #expect(
            try mapped(["id": 1, "twin": "x"], as: "City", in: world())
                == "! 0: City.twin: the text \"x\" is not an integer of 64 bits")
        let trimming = try CompiledModel.of(
            Entity("E", key: ["id"], [.of("id", .text, from: ["_id"], .trim, .emptyAsNull)], [.one("next", "E")]))
        #expect(try mapped(["_id": " a ", "next": " b "], as: "E", in: trimming) == "E id='a' next='b'")
        #expect(
            try mapped(["_id": "a", "next": " "], as: "E", in: trimming)
                == "! 0: E.next: the text \" \" is not a key of E")
    }

    @Test func `what names no object is null`() throws {
        var parent = Relationship.one("parent", "Node")
        parent.nullValues = ["0", ""]
        var related = Relationship.many("related", "Node")
        related.nullValues = ["0"]
        let model = try CompiledModel.of(
            Entity("Node", key: ["id"], [.of("id", .integer)], [parent, related]))
        #expect(try mapped(["id": 1, "parent": 0], as: "Node", in: model) == "Node id=1 parent=null")
        #expect(try mapped(["id": 1, "parent": ""], as: "Node", in: model) == "Node id=1 parent=null")
        #expect(try mapped(["id": 1, "parent": "7"], as: "Node", in: model) == "Node id=1 parent=7")
        #expect(try mapped(["id": 1], as: "Node", in: model) == "Node id=1")
        #expect(
            try mapped(["id": 1, "related": [0, 2]], as: "Node", in: model)
                == (try mapped(["id": 1, "related": [2]], as: "Node", in: model)))
        parent.nullValues = ["caf\u{E9}"]
        let texts = try CompiledModel.of(Entity("Node", key: ["id"], [.of("id", .text)], [parent]))
        #expect(try mapped(["id": 1, "parent": "caf\u{E9}"], as: "Node", in: texts) == "Node id='1' parent=null")
        #expect(
            try mapped(["id": 1, "parent": "cafe\u{301}"], as: "Node", in: texts) != "Node id='1' parent=null",
            "a key of other bytes is another key")
        var root = model.model.entities[0]
        root.isWritable = true
        let none = try OutgoingPlan(of: 0, in: CompiledModel.of(root)).object(["parent": .null])
        #expect(none.json == #"{"parent":0}"#)
    }

    @Test func `a relationship to one is absent null or an object`() throws {
        #expect(try mapped(["id": 1], as: "City", in: world()) == "City id=1")
        #expect(try mapped(["id": 1, "country": nil], as: "City", in: world()) == "City id=1 country=null")
        #expect(try mapped(["id": 1, "country": []], as: "City", in: world()) == "City id=1 country=null")
        #expect(try mapped(["id": 1, "country": ["NO"]], as: "City", in: world()) == "City id=1 country='NO'")
        #expect(
            try mapped(["id": 1, "country": ["NO", "SE"]], as: "City", in: world())
                == "! 0: City.country: a list of 2 for a relationship to one")
    }

    @Test func `a relationship to many is absent empty or a list`() throws {
        #expect(try mapped(["code": "NO"], as: "Country", in: world()) == "Country code='NO'")
        #expect(
            try mapped(["code": "NO", "languages": []], as: "Country", in: world()) == "Country code='NO'\n0.languages:"
        )
        #expect(
            try mapped(["code": "NO", "languages": nil], as: "Country", in: world())
                == "Country code='NO'\n0.languages:")
        #expect(
            try mapped(["code": "NO", "languages": ["nn", nil, ["code": "nb"]]], as: "Country", in: world()) == """
                Country code='NO'
                (Language) code='nn'
                Language code='nb'
                0.languages: 'nn' 'nb'
                """)
        #expect(
            try mapped(["code": "NO", "languages": "nn"], as: "Country", in: world()) == """
                Country code='NO'
                (Language) code='nn'
                0.languages: 'nn'
                """, "one value is a list of one")
    }

    @Test func `children refer to the object that they are nested in`() throws {
        #expect(
            try mapped(
                ["cities": [["id": 1, "name": "Oslo"], 2], "code": "NO"], as: "Country", in: world()) == """
                    Country code='NO'
                    City id=1 name='Oslo' country='NO'
                    (City) id=2 country='NO'
                    0.cities: 1 2
                    """)
    }

    @Test func `a back reference is one more mention of the same object`() throws {
        #expect(
            try mapped(
                ["code": "NO", "cities": [["id": 1, "country": ["code": "NO", "name": "Norway"]]]], as: "Country",
                in: world()) == """
                    Country code='NO'
                    City id=1 country='NO'
                    Country code='NO' name='Norway'
                    0.cities: 1
                    """)
        #expect(
            try mapped(["id": 1, "twin": ["id": 2, "twin": ["id": 1]]], as: "City", in: world()) == """
                City id=1 twin=2
                City id=2 twin=1
                City id=1
                """)
    }

    @Test func `several key attributes make several fields`() throws {
        let model = try CompiledModel.of(
            Entity("Region", key: ["country", "code"], [.of("code", .integer), .of("country", .text)]),
            Entity(
                "Town", key: ["id"], [.of("id", .integer)], [.one("region", "Region"), .many("all", "Region")]))
        #expect(
            try mapped(
                [
                    "id": 1, "region": ["country": "NO", "code": 3],
                    "all": [["code": 3, "country": "NO"], ["code": 4, "country": "NO"]],
                ], as: "Town", in: model) == """
                    Town id=1 region_country='NO' region_code=3
                    Region code=3 country='NO'
                    Region code=3 country='NO'
                    Region code=4 country='NO'
                    0.all: 'NO'/3 'NO'/4
                    """)
        #expect(
            try mapped(["id": 1, "region": nil], as: "Town", in: model)
                == "Town id=1 region_country=null region_code=null")
        #expect(
            try mapped(["id": 1, "region": 3], as: "Town", in: model)
                == "! 0: Town.region: the number 3 cannot name a Region, whose key has 2 attributes; an object can")
        #expect(
            try mapped(["id": 1, "region": ["code": 3]], as: "Town", in: model)
                == "! 0: the key Region.country is missing")
    }

    @Test func `the type of a key is kept`() throws {
        let model = try CompiledModel.of(
            Entity("A", key: ["id"], [.of("id", .integer)], [.one("b", "B")]),
            Entity("B", key: ["id"], [.of("id", .text)], [.one("a", "A")]))
        #expect(try mapped(["id": "7", "b": 7], as: "A", in: model) == "A id=7 b='7'")
        #expect(try mapped(["id": 7, "a": "7"], as: "B", in: model) == "B id='7' a=7")
    }

    @Test func `deep nesting is followed to its end`() throws {
        let model = try CompiledModel.of(
            Entity("Node", key: ["id"], [.of("id", .integer)], [.one("next", "Node")]))
        var record: Literal = ["id": 0]
        for id in 1..<100 { record = ["id": .integer(Int64(id)), "next": record] }
        let lines = try mapped(record, as: "Node", in: model).split(separator: "\n")
        #expect(lines.count == 100)
        #expect(lines.first == "Node id=99 next=98" && lines.last == "Node id=0")
    }
}

@Suite struct StoredValueTests {
    @Test func `texts that only look alike are different keys`() {
        #expect(StoredValue.text("caf\u{e9}") != .text("cafe\u{301}"))
        #expect(Set([StoredValue.text("caf\u{e9}"), .text("cafe\u{301}")]).count == 2)
        #expect(StoredValue.text("a\u{0}") != .text("a"))
        #expect(StoredValue.text("a") == .text("a") && StoredValue.text("1") != .integer(1))
        #expect(
            StoredValue.integer(1) != .real(1) && StoredValue.text("") != .null && StoredValue.bytes([]) != .text(""))
    }
}
