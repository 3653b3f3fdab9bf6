import ImportTestSupport
import Mapping
import Model
import RecordBatch
import Testing
import TestSupport

/// Records that cannot be mapped: they leave a reason, and nothing else.
@Suite struct RejectionTests {
    private func world() throws -> CompiledModel {
        try CompiledModel.of(
            Entity(
                "Country", key: ["code"], [.of("code", .text), .of("size", .integer)],
                [.many("cities", "City", inverse: "country"), .many("languages", "Language")]),
            Entity(
                "City", key: ["id"], [.of("id", .integer), .of("founded", .date)], [.one("country", "Country")]),
            Entity("Language", key: ["code"], [.of("code", .text)]))
    }

    @Test func `a record needs its key`() throws {
        #expect(try mapped(["size": 1], as: "Country", in: world()) == "! 0: the key Country.code is missing")
        #expect(try mapped(["code": nil], as: "Country", in: world()) == "! 0: the key Country.code is null")
        #expect(try mapped(["code": ""], as: "Country", in: world()) == "Country code=''", "an empty text is a key")
    }

    @Test func `a record is an object`() throws {
        #expect(
            try mapped(7, "x", nil, [["code": "NO"]], true, as: "Country", in: world()) == """
                ! 0: the number 7 is not an object of Country
                ! 1: the text "x" is not an object of Country
                ! 2: null is not an object of Country
                ! 3: the array [{"code":"NO"}] is not an object of Country
                ! 4: the boolean true is not an object of Country
                """)
    }

    @Test func `a path does not lead through a text or a number`() throws {
        let model = try CompiledModel.of(
            Entity(
                "Person", key: ["id"],
                [
                    .of("id", .integer), .of("city", .text, from: ["address", "city"]),
                    .of("zip", .text, from: ["address", "more", "zip"]), .of("boss", .text, from: ["boss"]),
                    .of("bossName", .text, from: ["boss", "name"]),
                ]))
        #expect(
            try mapped(
                ["id": 1, "address": "12 rue X"], ["id": 2, "address": 12], ["id": 3, "address": ["more": true]],
                ["id": 4, "address": ""], ["id": 5, "address": false], ["id": 6, "address": nil],
                ["id": 7, "boss": "Ann"], as: "Person", in: model) == """
                    Person id=4 city=null zip=null
                    Person id=5 city=null zip=null
                    Person id=6 city=null zip=null
                    Person id=7 boss='Ann'
                    ! 0: Person.city: its path leads through the text "12 rue X", which is not an object
                    ! 1: Person.city: its path leads through the number 12, which is not an object
                    ! 2: Person.zip: its path leads through the boolean true, which is not an object
                    """)
    }

    @Test func `a rejected record leaves nothing behind`() throws {
        #expect(
            try mapped(
                ["code": "NO", "size": 1, "languages": ["nn"]],
                ["code": "SE", "languages": ["sv"], "cities": [["id": 1], ["id": 2, "founded": "long ago"]]],
                ["code": "DK", "languages": ["da"]], as: "Country", in: world()) == """
                    Country code='NO' size=1
                    (Language) code='nn'
                    Country code='DK'
                    (Language) code='da'
                    0.languages: 'nn'
                    2.languages: 'da'
                    ! 1: City.founded: the text "long ago" is not an ISO 8601 time or a number of seconds
                    """)
    }

    @Test func `a nested object needs its key too`() throws {
        #expect(
            try mapped(["id": 1, "country": ["size": 1]], as: "City", in: world())
                == "! 0: the key Country.code is missing")
        #expect(
            try mapped(["code": "NO", "cities": [["id": nil]]], as: "Country", in: world())
                == "! 0: the key City.id is null")
        #expect(
            try mapped(["code": "NO", "languages": [["nn"]]], as: "Country", in: world())
                == "! 0: Country.languages: the array [\"nn\"] is not a text")
    }

    @Test func `a rejection keeps the representation`() throws {
        let model = try world()
        let batch = try Literal.batch([["code": nil, "extra": ["a", 1.5, .decimal("0.10"), .bytes([0])]]])
        let page = Mapper(model).map(batch, as: 0)
        #expect(page.rejections.map(\.representation) == [#"{"code":null,"extra":["a",1.5,0.10,"AA=="]}"#])
        #expect(page.rows.isEmpty && page.cells.isEmpty && page.links.isEmpty && page.linkCells.isEmpty)
    }

    @Test func `the key of a rejected record is what the mapping reads`() throws {
        let id = Attribute(
            name: "id", type: .integer, source: .paths([RemotePath(["id"]), RemotePath(["alt", "id"])]),
            transformers: [.first])
        let code = Attribute(
            name: "code", source: .paths([RemotePath(["country"]), RemotePath(["parts", "code"])]),
            transformers: [.join("-")])
        let tags = Attribute.of("tags", .text, from: ["tags", "name"], .join("|"))
        let model = try CompiledModel.of(
            Entity("Part", key: ["id", "code", "tags"], [id, code, tags, .of("size", .integer)]))
        func key(_ record: Literal) throws -> [StoredValue]? {
            let batch = try Literal.batch([record])
            return withExtendedLifetime(batch) { Mapper(model).key(of: batch[0], as: 0) }
        }
        let record: Literal = [
            "id": nil, "alt": ["id": "7"], "country": "NO", "parts": [["code": 1], ["code": nil], ["code": [2]], [:]],
            "tags": [["name": "x"], ["name": "y"]],
        ]
        #expect(try mapped(record, as: "Part", in: model) == "Part id=7 code='NO-1-2' tags='x|y'")
        let rejected = record.adding(["size": "big"])
        #expect(try mapped(rejected, as: "Part", in: model).hasPrefix("! 0: Part.size: "))
        #expect(try key(rejected) == [.integer(7), .text("NO-1-2"), .text("x|y")])
        #expect(try key(rejected.adding(["id": 8, "parts": nil])) == [.integer(8), .text("NO"), .text("x|y")])
        #expect(try key(rejected.adding(["country": nil, "parts": []])) == nil)
        #expect(try key(rejected.adding(["alt": "none"])) == nil)
    }

    @Test func `a representation has what is beyond all numbers as a text, which is refused again`() throws {
        let model = try CompiledModel.of(Entity("Fund", key: ["id"], [.of("id", .integer), .of("share", .real)]))
        let batch = try Literal.batch([["id": 1, "share": .double(-.infinity)]])
        let representation = try #require(Mapper(model).map(batch, as: 0).rejections.first?.representation)
        #expect(representation == #"{"id":1,"share":"-INF"}"#)
        let again = Mapper(model).map(try JSONParser.batch(representation), as: 0)
        #expect(again.rejections.map(\.reason) == [#"Fund.share: the text "-INF" is not a finite real number"#])
    }

    @Test func `an empty batch is an empty page`() throws {
        #expect(try mapped(as: "Country", in: world()).isEmpty)
    }

    @Test func `one mapper serves batches with other keys`() throws {
        let model = try world()
        let mapper = Mapper(model)
        for (record, code) in [(["code": "NO"], "NO"), (["x": 1, "y": 2, "code": "SE"], "SE")]
            as [(Literal, String)]
        {
            let page = mapper.map(try Literal.batch([record]), as: 0)
            #expect(page.cells.first?.value == .text(code))
        }
    }

    @Test func `a model that leads nowhere is refused`() {
        let lost = Entity("A", key: ["id"], [.of("id", .integer)], [.one("b", "B")])
        #expect(throws: MappingError.self) { try CompiledModel.of(lost) }
        let keyless = Entity("A", key: ["nr"], [.of("id", .integer)])
        #expect(throws: MappingError.self) { try CompiledModel.of(keyless) }
    }
}
