import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import StoreTestSupport
import Testing
import TestSupport

/// Several bridges behind one entity; over each store.
@Suite struct SourceTests {
    /// Countries from a list, with facts from elsewhere, which bring a name too.
    private static func countries(precedence: [String]) throws -> CompiledModel {
        var country = Entity(
            "Country", key: ["code"],
            [.of("code", .text), .of("name", .text), .of("area", .real), .of("motto", .text)],
            [.one("capital", "City")])
        country.sources = [
            EntitySource(
                name: "facts", bridge: "wiki",
                attributes: [
                    .of("area", .real, from: ["size"]), .of("name", .text, from: ["title"]), .of("code", .text),
                ],
                relationships: [.one("capital", "City", from: ["seat"])],
                parent: ParentScan(relationship: nil))
        ]
        country.sourcedNames = ["area", "capital"]
        country.precedence = precedence
        return try CompiledModel.of(country, Entity("City", key: ["id"], [.of("id", .integer)]))
    }

    @Test(arguments: StoreKind.allCases)
    func `each source writes its attributes only`(_ kind: StoreKind) throws {
        let database = try StoreFixture(Self.countries(precedence: ["main", "facts"]), kind: kind)
        let norway: Literal = ["code": "NO", "name": "Norway", "area": 1, "motto": "x", "capital": 9]
        #expect(try database.load("Country", norway) == "Country +1")
        #expect(try database.text(of: "Country") == "'NO' 'Norway' null 'x' null", "the area is the facts' to tell")
        let facts: Literal = ["code": "NO", "size": 385.2, "motto": "y", "seat": 1]
        #expect(try database.load(source: "facts", of: "Country", facts) == "Country ~1, City ?1")
        #expect(try database.text(of: "Country") == "'NO' 'Norway' 385.2 'x' 1")
        #expect(try database.load("Country", norway) == "Country =1")
        #expect(try database.load(source: "facts", of: "Country", facts) == "Country =1")
    }

    @Test(arguments: StoreKind.allCases)
    func `the source of higher precedence wins whichever comes first`(_ kind: StoreKind) throws {
        for precedence in [["main", "facts"], ["facts", "main"]] {
            let winner = precedence[0] == "main" ? "Norway" : "Norge"
            for mainFirst in [true, false] {
                let database = try StoreFixture(Self.countries(precedence: precedence), kind: kind)
                for isMain in mainFirst ? [true, false, true] : [false, true, false] {
                    if isMain {
                        try database.load("Country", ["code": "NO", "name": "Norway"])
                    } else {
                        try database.load(source: "facts", of: "Country", ["code": "NO", "title": "Norge"])
                    }
                }
                #expect(
                    try database.text(of: "Country") == "'NO' '\(winner)' null null null", "\(precedence) \(mainFirst)")
            }
        }
    }

    @Test(arguments: StoreKind.allCases)
    func `a value that the winning source confirms is not replaced by the other's next one`(_ kind: StoreKind) throws {
        for precedence in [["main", "facts"], ["facts", "main"]] {
            let database = try StoreFixture(Self.countries(precedence: precedence), kind: kind)
            func load(winner: Bool, _ name: Literal) throws {
                if (precedence[0] == "main") == winner {
                    try database.load("Country", ["code": "NO", "name": name])
                } else {
                    try database.load(source: "facts", of: "Country", ["code": "NO", "title": name])
                }
            }
            try database.load("Country", ["code": "NO"])
            try load(winner: false, "Norge")
            try load(winner: true, "Norge")
            try load(winner: false, "Noreg")
            #expect(try database.text(of: "Country") == "'NO' 'Norge' null null null", "\(precedence)")
            try load(winner: true, "Norway")
            #expect(try database.text(of: "Country") == "'NO' 'Norway' null null null", "\(precedence)")
        }
    }

    @Test func `a value of another source is not cleared by one that has none`() throws {
        let facts: Literal = ["code": "IT", "title": "Italy"]
        let nothing: Literal = ["code": "IT", "name": nil, "title": nil]
        let database = try StoreFixture(Self.countries(precedence: ["main", "facts"]), kind: .sqlite)
        try database.load("Country", nothing)
        #expect(try database.load(source: "facts", of: "Country", facts) == "Country ~1")
        for _ in 1...2 {
            #expect(try database.load("Country", nothing) == "Country =1")
            #expect(try database.load(source: "facts", of: "Country", facts) == "Country =1")
        }
        #expect(try database.text(of: "Country") == "'IT' 'Italy' null null null")
        // What it brought itself, it takes away.
        #expect(try database.load("Country", ["code": "IT", "name": "Italia"]) == "Country ~1")
        #expect(try database.load("Country", nothing) == "Country ~1")
        #expect(try database.text(of: "Country") == "'IT' null null null null")

        let turned = try StoreFixture(Self.countries(precedence: ["facts", "main"]), kind: .sqlite)
        try turned.load("Country", ["code": "IT", "name": "Italia"])
        #expect(try turned.load(source: "facts", of: "Country", nothing) == "Country =1")
        #expect(try turned.load(source: "facts", of: "Country", facts) == "Country ~1")
        #expect(try turned.load(source: "facts", of: "Country", nothing) == "Country ~1")
        #expect(try turned.text(of: "Country") == "'IT' null null null null")
    }

    @Test(arguments: StoreKind.allCases)
    func `a source per object knows whose details it brings`(_ kind: StoreKind) throws {
        let database = try StoreFixture(Self.countries(precedence: ["main", "facts"]), kind: kind)
        try database.load("Country", ["code": "NO", "name": "Norway"])
        #expect(
            try database.load(source: "facts", of: "Country", ["size": 385.2], parent: [.text("NO")]) == "Country ~1")
        #expect(try database.text(of: "Country") == "'NO' 'Norway' 385.2 null null")
        #expect(
            try database.load(source: "facts", of: "Country", ["size": 1]) == "Country !1",
            "who asked for nobody's details gets none")
    }

    @Test(arguments: StoreKind.allCases)
    func `a source of lower precedence updates what it brought itself`(_ kind: StoreKind) throws {
        let database = try StoreFixture(Self.countries(precedence: ["facts", "main"]), kind: kind)
        try database.load("Country", ["code": "NO", "name": "Norway"])
        #expect(try database.load("Country", ["code": "NO", "name": "Norge"]) == "Country ~1")
        try database.load(source: "facts", of: "Country", ["code": "NO", "title": "Norvège"])
        #expect(try database.load("Country", ["code": "NO", "name": "Noreg"]) == "Country =1")
        #expect(try database.text(of: "Country") == "'NO' 'Norvège' null null null")

        let turned = try StoreFixture(Self.countries(precedence: ["main", "facts"]), kind: kind)
        try turned.load("Country", ["code": "NO"])
        try turned.load(source: "facts", of: "Country", ["code": "NO", "title": "Norvège"])
        #expect(try turned.load(source: "facts", of: "Country", ["code": "NO", "title": "Norge"]) == "Country ~1")
        #expect(try turned.text(of: "Country") == "'NO' 'Norge' null null null")
    }

    @Test func `details of another object than the one asked for are refused`() throws {
        let database = try StoreFixture(Self.countries(precedence: ["main", "facts"]), kind: .sqlite)
        try database.load("Country", ["code": "NO"], ["code": "SE"])
        #expect(
            try database.load(source: "facts", of: "Country", ["code": "SE", "size": 1], parent: [.text("NO")])
                == "Country !1")
        #expect(try database.text(of: "Country") == "'NO' null null null null\n'SE' null null null null")
    }
}
