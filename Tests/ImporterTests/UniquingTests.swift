import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import StoreTestSupport
import Testing
import TestSupport

/// What makes two records one object; over each store.
@Suite struct UniquingTests {
    @Test(arguments: StoreKind.allCases)
    func `the type of a key decides what is the same`(_ kind: StoreKind) throws {
        let integers = try StoreFixture(
            try .of(Entity("A", key: ["id"], [.of("id", .integer), .of("x", .text)])), kind: kind)
        #expect(
            try integers.load("A", ["id": 7, "x": "a"], ["id": "7", "x": "b"], ["id": .decimal("7.0")]) == "A +1 ~1 =1")
        #expect(try integers.text(of: "A") == "7 'b'")
        let texts = try StoreFixture(try .of(Entity("A", key: ["id"], [.of("id", .text)])), kind: kind)
        #expect(try texts.load("A", ["id": 7], ["id": "7"], ["id": "07"]) == "A +2 =1")
        #expect(try texts.text(of: "A") == "'07'\n'7'")
    }

    @Test(arguments: StoreKind.allCases)
    func `equal decimals are one key, however they are written`(_ kind: StoreKind) throws {
        let prices = Entity("Price", key: ["at"], [.of("at", .decimal), .of("paid", .decimal)])
        let order = Entity("Order", key: ["id"], [.of("id", .integer)], [.one("price", "Price")])
        let database = try StoreFixture(try .of(prices, order), kind: kind)
        #expect(
            try database.load("Price", ["at": 1], ["at": .decimal("1.0")], ["at": "+01.00", "paid": .decimal("1.50")])
                == "Price +1 ~1 =1")
        #expect(try database.load("Price", ["at": .decimal("2.50")], ["at": .decimal("-0.0")]) == "Price +2")
        #expect(try database.load("Price", ["at": .decimal("25e-1")], ["at": 0]) == "Price =2")
        #expect(
            try database.load(
                "Order", ["id": 1, "price": "2.5"], ["id": 2, "price": .decimal("2.500")],
                ["id": 3, "price": ["at": .decimal("1.000")]]) == "Price =1, Order +3")
        #expect(try database.text(of: "Price") == "'0' null\n'1' '1.50'\n'2.5' null")
        #expect(try database.text(of: "Order") == "1 '2.5'\n2 '2.5'\n3 '1'")
        #expect(try database.faults().isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `a prefix keeps two lists of ids apart`(_ kind: StoreKind) throws {
        var other = Entity("User", key: ["id"], [.of("id", .text, from: nil, .prefix("eu-"))])
        other.relationships = [.one("friend", "User")]
        let database = try StoreFixture(try .of(other), kind: kind)
        #expect(try database.load("User", ["id": 1, "friend": 2], ["id": 2]) == "User +2")
        #expect(try database.text(of: "User") == "'eu-1' 'eu-2'\n'eu-2' null", "a reference is read as the key is")
    }

    @Test(arguments: StoreKind.allCases)
    func `without a key every record is an object`(_ kind: StoreKind) throws {
        var log = Entity("Log", key: [], [.of("word", .text)], [.one("user", "User")])
        log.uniquing = .none
        let database = try StoreFixture(try .of(log, Entity("User", key: ["id"], [.of("id", .integer)])), kind: kind)
        let line: Literal = ["word": "in", "user": ["id": 1]]
        #expect(try database.load("Log", line, line, ["word": nil]) == "Log +3, User +1 =1")
        #expect(try database.load("Log", line) == "Log +1, User =1")
        #expect(try database.text(of: "Log") == "'in' 1\n'in' 1\n'in' 1\nnull null")
        #expect(try database.faults().isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `a singleton is one object`(_ kind: StoreKind) throws {
        var settings = Entity("Settings", key: [], [.of("theme", .text), .of("size", .integer)])
        settings.uniquing = .singleton
        let user = Entity("User", key: ["id"], [.of("id", .integer)], [.one("settings", "Settings")])
        let database = try StoreFixture(try .of(settings, user), kind: kind)
        #expect(try database.load("Settings", ["theme": "dark"]) == "Settings +1")
        #expect(try database.load("Settings", ["size": 3]) == "Settings ~1")
        #expect(try database.load("User", ["id": 1, "settings": ["theme": "light"]]) == "Settings ~1, User +1")
        #expect(try database.text() == "Settings\n  1 'light' 3\nUser\n  1 1")
        #expect(try database.faults().isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `cycles and back references in one reply are one object each`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        // Oslo's country has Oslo among its cities, whose twin is itself; Norway comes three times.
        let oslo: Literal = [
            "id": 1, "name": "Oslo", "twin": ["id": 1, "twin": 1],
            "country": [
                "code": "NO", "name": "Norway", "cities": [["id": 1, "country": ["code": "NO", "size": 385]], 2],
            ],
        ]
        try database.load("City", oslo)
        #expect(
            try database.text() == """
                Country
                  'NO' 'Norway' 385
                City
                  1 'Oslo' 'NO' 1
                  2 null 'NO' null
                stubs
                  City [2]
                """)
        #expect(try database.load("City", oslo) == "Country =2, City =3")
        #expect(try database.faults().isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `the parent of a scan is whom its objects refer to`(_ kind: StoreKind) throws {
        var city = Entity("City", key: ["id"], [.of("id", .integer)], [.one("country", "Country")])
        city.parent = ParentScan(relationship: "country")
        let database = try StoreFixture(
            try .of(city, Entity("Country", key: ["code"], [.of("code", .text)])), kind: kind)
        #expect(
            try database.addChildren(
                of: [.text("NO")], "City", ["id": 1], ["id": 2, "country": nil], ["id": 3, "country": "SE"])
                == "City +3, Country ?2")
        #expect(try database.text(of: "City") == "1 'NO'\n2 'NO'\n3 'SE'", "unless they say otherwise")
    }

    @Test(arguments: StoreKind.allCases)
    func `the order of an unordered list is not a change`(_ kind: StoreKind) throws {
        var model = try world().model
        model.entities[0].relationships[1].isOrdered = false
        let database = try StoreFixture(CompiledModel(model), kind: kind)
        func set(_ languages: Literal) throws -> String {
            let counts = try database.load("Country", ["code": "NO", "languages": languages])
            return try counts + "; " + database.text(of: "Country_languages")
        }
        #expect(try set(["a", "b", "c"]) == "Country +1 @1, Language ?3; 'NO': 'a' 'b' 'c'")
        #expect(try set(["c", "a", "b"]) == "Country =1; 'NO': 'a' 'b' 'c'")
        #expect(try set(["d", "c", "a"]) == "Country =1 @1, Language ?1; 'NO': 'a' 'c' 'd'")
        #expect(try set([]) == "Country =1 @1; ")
    }
}
