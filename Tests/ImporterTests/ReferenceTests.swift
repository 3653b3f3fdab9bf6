import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import StoreTestSupport
import Testing
import TestSupport

/// References to objects that are not there yet, to themselves, and in circles; over each store.
@Suite struct ReferenceTests {
    @Test(arguments: StoreKind.allCases)
    func `a forward reference leaves a stub that a later page fills`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        #expect(try database.load("City", ["id": 1, "country": "NO"]) == "Country ?1, City +1")
        #expect(
            try database.text() == """
                Country
                  'NO' null null
                City
                  1 null 'NO' null
                stubs
                  Country ["NO"]
                """)
        #expect(try database.load("City", ["id": 1, "country": "NO"]) == "City =1", "the stub already exists")
        #expect(try database.load("Country", ["code": "NO", "name": "Norway"]) == "Country +1")
        #expect(
            try database.text() == """
                Country
                  'NO' 'Norway' null
                City
                  1 null 'NO' null
                """)
        #expect(try database.load("Country", ["code": "NO", "name": "Norway"]) == "Country =1")
    }

    @Test(arguments: StoreKind.allCases)
    func `a stub that is filled with its key alone is a stub no longer`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        try database.load("City", ["id": 1, "country": "NO"])
        #expect(try database.load("Country", ["code": "NO"]) == "Country +1")
        #expect(try database.text() == "Country\n  'NO' null null\nCity\n  1 null 'NO' null")
        #expect(try database.load("Country", ["code": "NO"]) == "Country =1")
    }

    @Test(arguments: StoreKind.allCases)
    func `an object of the same page needs no stub`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        #expect(try database.load("City", ["id": 1, "twin": 2], ["id": 2, "twin": 1]) == "City +2")
        #expect(try database.text() == "City\n  1 null null 2\n  2 null null 1")
    }

    @Test(arguments: StoreKind.allCases)
    func `an object may refer to itself`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        #expect(try database.load("City", ["id": 1, "twin": 1]) == "City +1")
        #expect(try database.load("City", ["id": 1, "twin": 1]) == "City =1")
        #expect(try database.load("City", ["id": 2, "twin": ["id": 2, "name": "Paris"]]) == "City +1 ~1")
        #expect(try database.text() == "City\n  1 null null 1\n  2 'Paris' null 2")
    }

    @Test(arguments: StoreKind.allCases)
    func `circles in one record are resolved`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        let circle: Literal = [
            "code": "NO",
            "cities": [
                ["id": 1, "twin": ["id": 2, "twin": ["id": 1, "name": "Oslo"], "country": ["code": "NO"]]], 2,
            ],
        ]
        #expect(try database.load("Country", circle) == "Country +1 =1, City +2 ~1")
        #expect(
            try database.text() == """
                Country
                  'NO' null null
                City
                  1 'Oslo' 'NO' 2
                  2 null 'NO' 1
                """)
    }

    @Test(arguments: StoreKind.allCases)
    func `a reference that changes leaves a stub for the new target`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        try database.load("City", ["id": 1, "country": ["code": "NO"]])
        #expect(try database.load("City", ["id": 1, "country": "SE"]) == "Country ?1, City ~1")
        #expect(try database.load("City", ["id": 1, "country": "NO"]) == "City ~1", "the old target is still there")
        #expect(try database.text(of: "Country") == "'NO' null null", "nothing refers to the stub any more")
    }

    @Test(arguments: StoreKind.allCases)
    func `bare keys in a list leave stubs`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        #expect(
            try database.load("Country", ["code": "NO", "cities": [1, 2], "languages": ["nn"]])
                == "Country +1 @1, City ?2, Language ?1")
        #expect(
            try database.text() == """
                Country
                  'NO' null null
                City
                  1 null 'NO' null
                  2 null 'NO' null
                Language
                  'nn' null
                Country_languages
                  'NO': 'nn'
                stubs
                  City [1]
                  City [2]
                  Language ["nn"]
                """)
        #expect(try database.load("City", ["id": 1, "name": "Oslo"]) == "City +1")
        #expect(try database.text(of: "City") == "1 'Oslo' 'NO' null\n2 null 'NO' null")
    }

    @Test(arguments: StoreKind.allCases)
    func `a bare key does not touch a known object`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        try database.load("Language", ["code": "nn", "name": "Nynorsk"])
        #expect(try database.load("Country", ["code": "NO", "languages": ["nn"]]) == "Country +1 @1")
        #expect(try database.text(of: "Language") == "'nn' 'Nynorsk'")
    }

    @Test(arguments: StoreKind.allCases)
    func `a reference by a several part key leaves no stub twice`(_ kind: StoreKind) throws {
        let database = try StoreFixture(compositeWorld(), kind: kind)
        #expect(
            try database.load(
                "Region", ["country": "NO", "code": 1, "parent": ["country": "NO", "code": 0, "name": "Norway"]])
                == "Region +2")
        #expect(
            try database.load("Region", ["country": "NO", "code": 1, "parent": nil]) == "Region ~1")
        #expect(try database.text(of: "Region") == "0 'NO' 'Norway' null null\n1 'NO' null null null")
    }

    @Test(arguments: StoreKind.allCases)
    func `stubs of a page that is taken back are forgotten`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        try database.load("City", ["id": 1, "country": "NO"], end: .rollback)
        #expect(try database.load("Country", ["code": "NO"]) == "Country +1")
        try database.load("City", ["id": 1, "country": "SE"])
        try database.load("Country", ["code": "SE"], end: .rollback)
        #expect(try database.load("Country", ["code": "SE"]) == "Country +1", "it is a stub again")
    }
}
