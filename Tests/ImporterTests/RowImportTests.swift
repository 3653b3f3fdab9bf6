import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import StoreTestSupport
import Testing
import TestSupport

/// Rows: inserted, updated, left alone; over each store.
@Suite struct RowImportTests {
    @Test(arguments: StoreKind.allCases)
    func `a page is inserted then unchanged then updated`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        let norway: Literal = ["code": "NO", "name": "Norway", "size": 385]
        let sweden: Literal = ["code": "SE", "name": "Sweden", "size": 450]
        #expect(try database.load("Country", norway, sweden) == "Country +2")
        let first = try database.text()
        #expect(try database.load("Country", norway, sweden) == "Country =2")
        #expect(try database.text() == first)
        #expect(try database.load("Country", ["code": "NO", "name": "Norge", "size": 385], sweden) == "Country ~1 =1")
        #expect(
            try database.text() == """
                Country
                  'NO' 'Norge' 385
                  'SE' 'Sweden' 450
                """)
    }

    @Test(arguments: StoreKind.allCases)
    func `absent is untouched null is cleared`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        try database.load("Country", ["code": "NO", "name": "Norway", "size": 385])
        #expect(try database.load("Country", ["code": "NO", "size": 386]) == "Country ~1")
        #expect(try database.text(of: "Country") == "'NO' 'Norway' 386")
        #expect(try database.load("Country", ["code": "NO"]) == "Country =1")
        #expect(try database.load("Country", ["code": "NO", "name": nil]) == "Country ~1")
        #expect(try database.text(of: "Country") == "'NO' null 386")
        #expect(try database.load("Country", ["code": "NO", "name": nil]) == "Country =1")
        #expect(try database.load("Country", ["code": "NO", "name": ""]) == "Country ~1", "an empty text is not null")
        #expect(try database.text(of: "Country") == "'NO' '' 386")
        #expect(try database.load("Country", ["code": "NO", "name": ""]) == "Country =1")
    }

    @Test(arguments: StoreKind.allCases)
    func `duplicates in one page become one object`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        #expect(
            try database.load(
                "Country", ["code": "NO", "name": "Norway"], ["code": "NO", "size": 385],
                ["code": "NO", "name": "Norway", "size": 385]) == "Country +1 ~1 =1")
        #expect(try database.text() == "Country\n  'NO' 'Norway' 385")
        #expect(
            try database.addBatches(
                [[["code": "SE", "name": "Sweden"]], [["code": "SE", "size": 450]]], of: "Country")
                == "Country +1 ~1", "also over the batches of a page")
        #expect(try database.text(of: "Country") == "'NO' 'Norway' 385\n'SE' 'Sweden' 450")
    }

    @Test(arguments: StoreKind.allCases)
    func `keys that only look alike are two objects`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        let composed: Literal = "\u{e9}"
        let decomposed: Literal = "e\u{301}"
        #expect(try database.load("Country", ["code": composed], ["code": decomposed]) == "Country +2")
        #expect(
            try database.load("City", ["id": 1, "country": composed], ["id": 2, "country": decomposed]) == "City +2")
        #expect(
            try database.load("Country", ["code": "NO", "languages": [composed, decomposed]])
                == "Country +1 @1, Language ?2")
        #expect(try database.load("Country", ["code": "NO", "languages": [decomposed]]) == "Country =1 @1")
        #expect(
            try database.load("Country", ["code": "NO", "languages": [composed]]) == "Country =1 @1, Language ?1",
            "it went when nothing referred to it")
        #expect(
            try database.load("City", ["id": 3, "country": "\u{fc}"], ["id": 4, "country": "u\u{308}"])
                == "Country ?2, City +2", "each gets its stub")
        #expect(try database.load("Country", ["code": "A"], ["code": "a"], ["code": "a "]) == "Country +3")
    }

    @Test(arguments: StoreKind.allCases)
    func `every type comes back unchanged`(_ kind: StoreKind) throws {
        let model = try CompiledModel.of(
            Entity(
                "E", key: ["key"],
                [
                    .of("key", .real), .of("text", .text), .of("integer", .integer), .of("real", .real),
                    .of("boolean", .boolean), .of("decimal", .decimal), .of("timestamp", .timestamp),
                    .of("date", .date),
                    .of("data", .data), .of("json", .json), .of("url", .url), .of("uuid", .uuid),
                ]))
        let database = try StoreFixture(model, kind: kind)
        let nul = kind.holdsNUL ? "\u{0}" : ""
        let record: Literal = [
            "key": 1.5, "text": .text("a\(nul)b"), "integer": .integer(.min), "real": 3.0, "boolean": true,
            "decimal": "0.10",
            "timestamp": "2024-02-29T00:00:00+02:00", "date": "2024-02-29", "data": .bytes([0, 255]), "json": ["a": []],
            "url": "urn:x", "uuid": "0193D4A17C2B7DEF8123456789ABCDEF",
        ]
        #expect(try database.load("E", record) == "E +1")
        #expect(
            try database.text(of: "E") == """
                1.5 'a\(kind.holdsNUL ? "\\u{0}" : "")b' -9223372036854775808 3.0 1 '0.10' '2024-02-28T22:00:00.000000Z' '2024-02-29' x'00ff' \
                '{"a":[]}' 'urn:x' '0193d4a1-7c2b-7def-8123-456789abcdef'
                """)
        #expect(try database.load("E", record) == "E =1")
        #expect(try database.load("E", ["key": 1.5, "data": .bytes([]), "real": .double(.nan)]) == "E !1")
        #expect(try database.load("E", ["key": 1.5, "data": .bytes([]), "text": "a"]) == "E ~1")
        #expect(try database.load("E", ["key": 1.5, "data": "", "text": "a"]) == "E =1")
        #expect(
            try database.load("E", ["key": .double(.nan)], ["key": .double(-0.0), "real": .double(-0.0)]) == "E +1 !1")
        #expect(try database.load("E", ["key": 0, "real": .double(-0.0)]) == "E =1")
    }

    @Test(arguments: StoreKind.allCases)
    func `a key of several attributes is one key`(_ kind: StoreKind) throws {
        let database = try StoreFixture(compositeWorld(), kind: kind)
        #expect(
            try database.load(
                "Region", ["country": "NO", "code": 3, "name": "Oslo"], ["country": "NO", "code": 4],
                ["country": "SE", "code": 3], ["code": 3, "country": "NO", "name": "Oslo"]) == "Region +3 =1")
        #expect(
            try database.text(of: "Region") == """
                3 'NO' 'Oslo' null null
                3 'SE' null null null
                4 'NO' null null null
                """)
    }

    @Test(arguments: StoreKind.allCases)
    func `a nested object counts for its own entity`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        let oslo: Literal = ["id": 1, "name": "Oslo", "country": ["code": "NO", "name": "Norway"]]
        #expect(try database.load("City", oslo) == "Country +1, City +1")
        #expect(
            try database.text() == """
                Country
                  'NO' 'Norway' null
                City
                  1 'Oslo' 'NO' null
                """)
        #expect(try database.load("City", oslo) == "Country =1, City =1")
        #expect(
            try database.load("City", ["id": 1, "country": ["code": "NO", "name": "Norge"]]) == "Country ~1, City =1")
        #expect(try database.load("City", ["id": 1, "country": nil]) == "City ~1")
        #expect(
            try database.text() == """
                Country
                  'NO' 'Norge' null
                City
                  1 'Oslo' null null
                """, "what is referred to no longer stays")
    }
}
