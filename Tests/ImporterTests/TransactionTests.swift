import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import RecordBatch
import StoreTestSupport
import Testing
import TestSupport

/// A page is in with all it brought, or not at all; over each store.
@Suite struct TransactionTests {
    @Test(arguments: StoreKind.allCases)
    func `a bad record goes to quarantine and the others go on`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        #expect(
            try database.addBatches(
                [
                    [["code": "NO"], ["name": "nowhere"]],
                    [["code": "SE", "size": "big", "cities": [7]], ["code": "DK"]],
                ], of: "Country", page: 3) == "Country +2 !2")
        #expect(
            try database.text() == """
                Country
                  'DK' null null
                  'NO' null null
                quarantine
                  Country remote 3 2 the key Country.code is missing {"name":"nowhere"} https://example.org
                  Country remote 3 3 Country.size: the text "big" is not an integer of 64 bits \
                {"code":"SE","size":"big","cities":[7]} https://example.org
                """)
    }

    @Test(arguments: StoreKind.allCases)
    func `the same bad record is in quarantine once`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        #expect(try database.load("Country", ["name": "x"], ["name": "x"], page: 1) == "Country !2")
        #expect(try database.load("Country", ["code": "NO"], ["name": "x"], page: 2) == "Country +1 !1")
        #expect(try database.load("Country", ["name": "y"], page: 2) == "Country !1")
        #expect(
            try database.text() == """
                Country
                  'NO' null null
                quarantine
                  Country remote 2 1 the key Country.code is missing {"name":"y"} https://example.org
                  Country remote 2 2 the key Country.code is missing {"name":"x"} https://example.org
                """)
    }

    @Test(arguments: StoreKind.allCases)
    func `a bridge rejects records too`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        let page = try PageImport(
            0, of: database.model, from: PageImport.Origin(bridge: "remote", page: 1), into: database.store)
        try page.reject(record: nil, reason: "no XML", representation: "<a", location: nil)
        try page.reject(record: 4, reason: "no XML", representation: "<b", location: "file")
        #expect(page.counts.text(database.model) == "Country !2")
        try page.commit(progress: nil)
        #expect(
            try database.text() == """
                quarantine
                  Country remote 1 0 no XML <a -
                  Country remote 1 5 no XML <b file
                """)
    }

    @Test(arguments: StoreKind.allCases)
    func `rollback leaves nothing`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        try database.load("Country", ["code": "NO", "languages": ["nn"], "cities": [1]])
        let before = try database.text()
        try database.load(
            "Country", ["code": "NO", "name": "Norge", "languages": ["se", "nn"], "cities": []],
            ["code": "SE", "languages": ["sv"], "cities": [["id": 2, "twin": 3]]], ["bad": true], end: .rollback)
        #expect(try database.text() == before)
    }

    @Test(arguments: StoreKind.allCases)
    func `progress is kept with the rows of its page`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        let second = ScanProgress(cursor: "c2", page: 1, request: "remote {}")
        let third = ScanProgress(cursor: "c3", page: 2, request: "remote {}")
        try database.load("Country", ["code": "NO"], progress: second)
        #expect(try database.text() == "Country\n  'NO' null null\nprogress\n  Country c2 1 remote {}")
        try database.load("Country", ["code": "SE"], progress: third, end: .rollback)
        #expect(try database.text() == "Country\n  'NO' null null\nprogress\n  Country c2 1 remote {}")
        try database.load("Country", ["code": "SE"], progress: third)
        try database.load("City", ["id": 1], progress: second)
        #expect(
            try database.text().hasSuffix("progress\n  City c2 1 remote {}\n  Country c3 2 remote {}"),
            "each entity has a scan of its own")
        try database.load("Country")
        try database.load("City")
        #expect(try database.text().contains("progress") == false, "the scans are over")
    }

    @Test(arguments: StoreKind.allCases)
    func `an empty page is fine`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        #expect(try database.load("Country").isEmpty)
        #expect(try database.addBatches([], of: "Country").isEmpty)
        #expect(try database.text().isEmpty)
    }

    @Test(arguments: StoreKind.allCases)
    func `rollback is safe twice and after commit`(_ kind: StoreKind) throws {
        let database = try StoreFixture(world(), kind: kind)
        let page = try PageImport(
            0, of: database.model, from: PageImport.Origin(bridge: "remote", page: 1), into: database.store)
        try page.add(try Literal.batch([["code": "NO"]]), location: nil)
        try page.commit(progress: nil)
        page.rollback()
        page.rollback()
        #expect(try database.text() == "Country\n  'NO' null null")
        #expect(try database.load("Country", ["code": "SE"]) == "Country +1")
    }
}
