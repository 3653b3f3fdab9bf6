import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import StoreTestSupport
import Testing
import TestSupport

/// Relationships to many: three ways to merge, three places to lie; over each store.
@Suite struct LinkTests {
    @Test(arguments: StoreKind.allCases)
    func `replace makes the list the whole value`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        try database.load("Language", ["code": "c"])
        func set(_ languages: Literal) throws -> String {
            _ = try database.load("Country", ["code": "NO", "languages": languages])
            return try database.text(of: "Country_languages")
        }
        #expect(try set(["a", "b", "c"]) == "'NO': 'a' 'b' 'c'")
        #expect(try set(["c", "a", "b"]) == "'NO': 'c' 'a' 'b'")
        #expect(try set(["b"]) == "'NO': 'b'")
        #expect(try set(["b", "d", "b", "b"]) == "'NO': 'b' 'd'", "twice in the list is once in the relationship")
        #expect(try database.load("Country", ["code": "NO"]) == "Country =1")
        #expect(try database.text(of: "Country_languages") == "'NO': 'b' 'd'", "absent is untouched")
        #expect(try set([]).isEmpty)
        #expect(try set(["a"]) == "'NO': 'a'")
        #expect(try set(nil).isEmpty, "null clears")
        #expect(
            try database.text(of: "Language") == "'c' null",
            "an object that is unlinked stays, unless nothing but its key was known")
    }

    @Test(arguments: StoreKind.allCases)
    func `append adds at the end`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(languages: .append), kind: kind)
        func set(_ languages: Literal) throws -> String {
            _ = try database.load("Country", ["code": "NO", "languages": languages])
            return try database.text(of: "Country_languages")
        }
        #expect(try set(["a", "b"]) == "'NO': 'a' 'b'")
        #expect(try set(["c", "a", "d", "c"]) == "'NO': 'a' 'b' 'c' 'd'")
        #expect(try set([]) == "'NO': 'a' 'b' 'c' 'd'")
        #expect(try set(nil) == "'NO': 'a' 'b' 'c' 'd'")
        #expect(try database.load("Country", ["code": "NO", "languages": ["d", "a"]]) == "Country =1")
    }

    @Test(arguments: StoreKind.allCases)
    func `insert at beginning puts the list in front`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(languages: .insertAtBeginning), kind: kind)
        func set(_ languages: Literal) throws -> String {
            _ = try database.load("Country", ["code": "NO", "languages": languages])
            return try database.text(of: "Country_languages")
        }
        #expect(try set(["a", "b"]) == "'NO': 'a' 'b'")
        #expect(try set(["c", "b"]) == "'NO': 'c' 'b' 'a'")
        #expect(try set([]) == "'NO': 'c' 'b' 'a'")
        #expect(try database.load("Country", ["code": "NO", "languages": ["c", "b"]]) == "Country =1")
    }

    @Test(arguments: StoreKind.allCases)
    func `many to many is seen from both ends`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        try database.load(
            "Country", ["code": "NO", "languages": ["nb", "nn", "se"]], ["code": "SE", "languages": ["sv"]])
        #expect(
            try database.load("Language", ["code": "se", "countries": ["SE", "FI"]]) == "Country ?1, Language +1 @1")
        #expect(
            try database.text(of: "Country_languages") == """
                'FI': 'se'
                'NO': 'nb' 'nn'
                'SE': 'sv' 'se'
                """)
        #expect(try database.load("Language", ["code": "se", "countries": ["FI", "SE", "SE"]]) == "Language =1")
        #expect(try database.load("Language", ["code": "nb", "countries": []]) == "Language +1 @1")
        #expect(try database.text(of: "Country_languages") == "'FI': 'se'\n'NO': 'nn'\n'SE': 'sv' 'se'")
        #expect(
            try database.load("Country", ["code": "NO", "languages": ["nn"]]) == "Country =1",
            "a gap that the other end left is no change")
        #expect(
            try database.load("Country", ["code": "NO", "languages": ["nn", "x"]]) == "Country =1 @1, Language ?1")
        #expect(try database.load("Country", ["code": "NO", "languages": ["x", "nn"]]) == "Country =1 @1")
        #expect(try database.text(of: "Country_languages") == "'FI': 'se'\n'NO': 'x' 'nn'\n'SE': 'sv' 'se'")
    }

    @Test(arguments: StoreKind.allCases)
    func `the other end merges too`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(countries: .append), kind: kind)
        try database.load("Country", ["code": "NO", "languages": ["se"]])
        #expect(try database.load("Language", ["code": "se", "countries": ["FI"]]) == "Country ?1, Language +1 @1")
        #expect(try database.text(of: "Country_languages") == "'FI': 'se'\n'NO': 'se'")
        #expect(try database.load("Language", ["code": "se", "countries": []]) == "Language =1")
    }

    @Test(arguments: StoreKind.allCases)
    func `both ends in one record agree`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        let record: Literal = [
            "code": "NO",
            "languages": [["code": "nn", "countries": ["NO"]], ["code": "se", "countries": ["SE", "NO"]]],
        ]
        try database.load("Country", record)
        #expect(try database.text(of: "Country_languages") == "'NO': 'nn' 'se'\n'SE': 'se'")
        #expect(try database.load("Country", record) == "Country =1, Language =2")
    }

    @Test(arguments: StoreKind.allCases)
    func `replacing children detaches them and deletes none`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        let cities: Literal = [["id": 1, "name": "Oslo"], ["id": 2, "name": "Bergen"], 3]
        #expect(try database.load("Country", ["code": "NO", "cities": cities]) == "Country +1, City +2 ?1")
        #expect(try database.load("Country", ["code": "NO", "cities": cities]) == "Country =1, City =2")
        #expect(
            try database.load("Country", ["code": "NO", "cities": [["id": 2, "name": "Bergen"]]])
                == "Country =1 @1, City =1")
        #expect(
            try database.text(of: "City") == "1 'Oslo' null null\n2 'Bergen' 'NO' null", "of 3 only the key was known")
        #expect(try database.load("Country", ["code": "NO"]) == "Country =1")
        #expect(try database.load("Country", ["code": "NO", "cities": []]) == "Country =1 @1")
        #expect(try database.text(of: "City") == "1 'Oslo' null null\n2 'Bergen' null null")
    }

    @Test(arguments: StoreKind.allCases)
    func `appended children leave the others attached`(_ kind: StoreKind) throws {
        for merge in [Relationship.Merge.append, .insertAtBeginning] {
            let database = try StoreFixture(world(cities: merge), kind: kind)
            try database.load("Country", ["code": "NO", "cities": [1, 2]])
            #expect(try database.load("Country", ["code": "NO", "cities": [3]]) == "Country =1, City ?1")
            #expect(try database.load("Country", ["code": "NO", "cities": []]) == "Country =1")
            #expect(try database.text(of: "City") == "1 null 'NO' null\n2 null 'NO' null\n3 null 'NO' null")
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a child moves to the object that lists it`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        try database.load("Country", ["code": "NO", "cities": [1, 2]], ["code": "SE"])
        #expect(
            try database.load("Country", ["code": "NO", "cities": [1]], ["code": "SE", "cities": [2]])
                == "Country =2, City ~1")
        #expect(try database.text(of: "City") == "1 null 'NO' null\n2 null 'SE' null")
        #expect(try database.load("City", ["id": 2, "country": "NO"]) == "City +1", "or says so itself")
        #expect(try database.text(of: "City") == "1 null 'NO' null\n2 null 'NO' null")
    }

    @Test(arguments: StoreKind.allCases)
    func `keys of several attributes are linked`(_ kind: StoreKind) throws {
        let database = try StoreFixture(compositeWorld(), kind: kind)
        let tree: Literal = [
            "country": "NO", "code": 0, "tags": ["north"],
            "parts": [["country": "NO", "code": 1], ["country": "NO", "code": 2]],
            "neighbours": [["country": "SE", "code": 0], ["country": "NO", "code": 0]],
        ]
        try database.load("Region", tree)
        #expect(
            try database.text() == """
                Region
                  0 'NO' null null null
                  0 'SE' null null null
                  1 'NO' null 'NO' 0
                  2 'NO' null 'NO' 0
                Tag
                  'north'
                Region_neighbours
                  'NO'/0: 'SE'/0 'NO'/0
                Region_tags
                  'NO'/0: 'north'
                stubs
                  Tag ["north"]
                """)
        let before = try database.text()
        #expect(try database.load("Region", tree).contains("+") == false)
        #expect(try database.text() == before)
        try database.load(
            "Region", ["country": "NO", "code": 0, "parts": [["country": "NO", "code": 2]], "neighbours": []])
        try database.load("Tag", ["name": "north", "regions": [["country": "SE", "code": 0]]])
        #expect(
            try database.text() == """
                Region
                  0 'NO' null null null
                  0 'SE' null null null
                  1 'NO' null null null
                  2 'NO' null 'NO' 0
                Tag
                  'north'
                Region_tags
                  'SE'/0: 'north'
                """)
    }

    @Test(arguments: StoreKind.allCases)
    func `a window replaces what lies within`(_ kind: StoreKind) throws {
        for isInverse in [false, true] {
            var messages = Relationship.many("messages", "Message", inverse: isInverse ? "chat" : nil)
            messages.window = "at"
            let database = try StoreFixture(
                .of(
                    Entity("Chat", key: ["id"], [.of("id", .integer)], [messages]),
                    Entity(
                        "Message", key: ["id"], [.of("id", .text), .of("at", .integer)],
                        isInverse ? [.one("chat", "Chat")] : [])), kind: kind)
            func set(_ list: (String, Literal)...) throws -> String {
                let messages = list.map { Literal.object([("id", .text($0)), ("at", $1)]) }
                try database.load("Chat", ["id": 1, "messages": .array(messages)])
                guard isInverse else { return try database.text(of: "Chat_messages") }
                let rows = try database.text(of: "Message").split(separator: "\n").filter { $0.hasSuffix(" 1") }
                return "1: " + rows.map { String($0.split(separator: " ")[0]) }.joined(separator: " ")
            }
            func expect(_ list: String, _ order: String) -> String { "1: " + (isInverse ? order : list) }
            #expect(try set(("d", 40), ("c", 30)) == expect("'c' 'd'", "'c' 'd'"))
            #expect(try set(("a", 10), ("b", 20)) == expect("'a' 'b' 'c' 'd'", "'a' 'b' 'c' 'd'"), "an earlier page")
            #expect(try set(("b", 20), ("x", 40)) == expect("'a' 'b' 'x'", "'a' 'b' 'x'"), "c and d have gone")
            #expect(try set() == expect("'a' 'b' 'x'", "'a' 'b' 'x'"), "an empty list spans nothing")
            #expect(try set(("n", nil)) == expect("'a' 'b' 'x' 'n'", "'a' 'b' 'n' 'x'"))
        }
    }
}
