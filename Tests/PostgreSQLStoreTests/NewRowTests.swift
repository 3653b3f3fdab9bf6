import ImportTestSupport
import Importer
import Mapping
import Model
import StoreContract
import StoreTestSupport
import TestSupport
import Testing

/// New rows whose key is one integer, which a page sends without looking at them again.
@Suite(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
struct NewRowTests {
    private static func model() throws -> CompiledModel {
        try CompiledModel.of(
            Entity(
                "Thing", key: ["number"],
                [
                    .of("number", .integer), .of("text", .text), .of("count", .integer), .of("size", .real),
                    .of("isNew", .boolean), .of("price", .decimal), .of("changed", .timestamp), .of("born", .date),
                    .of("photo", .data), .of("more", .json), .of("site", .url), .of("id", .uuid),
                ], [.one("parent", "Thing"), .one("place", "Place")]),
            Entity("Place", key: ["code"], [.of("code", .text)]))
    }

    private static let full: Literal = [
        "number": 1, "text": "ä", "count": .integer(.min), "size": .double(-0.0), "isNew": .bool(false),
        "price": .decimal("12.50"), "changed": .timestamp(microseconds: -1), "born": "0001-02-28",
        "photo": .bytes([0, 255]), "more": ["a": [1, nil]], "site": "https://example.com/ä",
        "id": "0189F7EA-AE2C-7809-8AEB-B819CF5E9E7F",
    ]

    @Test func `new rows have the values of their records`() throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.model())
        let records: [Literal] = [Self.full, ["number": 2], ["number": .integer(.min), "size": .double(-1e300)]]
        let counts = try fixture.add("Thing", records[0], records[1], records[2])
        #expect(counts.inserted == 3)
        #expect(
            try fixture.lines("Thing") == [
                "-9223372036854775808 null null -1e+300 null null null null null null null null null null",
                "1 'ä' -9223372036854775808 0.0 0 '12.50' '1969-12-31T23:59:59.999999Z' '0001-02-28' x'00ff' "
                    + "'{\"a\":[1,null]}' 'https://example.com/ä' '0189f7ea-ae2c-7809-8aeb-b819cf5e9e7f' null null",
                "2 null null null null null null null null null null null null null",
            ])
        #expect(try fixture.add("Thing", records[0], records[1], records[2]).unchanged == 3)
    }

    @Test func `a page may list a new row again, and refer to it`() throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.model())
        let counts = try fixture.add(
            "Thing", ["number": 1, "text": "a"], ["number": 2, "parent": 1], ["number": 3, "parent": 4],
            ["number": 1, "text": "b"], ["number": 2, "parent": 1], ["number": 4, "place": "x"], ["number": 5])
        #expect(counts.inserted == 5 && counts.updated == 1 && counts.unchanged == 1)
        let rows = try fixture.table("Thing", "number", "text", "parent", "place").map { $0.joined(separator: " ") }
        #expect(rows == ["1 'b' null null", "2 null 1 null", "3 null 4 null", "4 null null 'x'", "5 null null null"])
        #expect(try fixture.stubs() == ["Place [\"x\"]"])
        let again = try fixture.add("Thing", ["number": 6], ["number": 5, "parent": 6], ["number": 6, "parent": 5])
        #expect(again.inserted == 1 && again.updated == 2)
        #expect(try fixture.faults() == [])
    }

    @Test func `a value that PostgreSQL cannot hold leaves the other rows of the page`() throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.model())
        let long = Literal.text(String(repeating: "k", count: 2_800))
        let counts = try fixture.add(
            "Thing", ["number": 1, "count": 7], ["number": 2, "count": 8, "more": ["a": "b"], "text": "a\0"],
            ["number": 3, "place": long], ["number": 4, "text": "d"])
        #expect(counts.quarantined == 2 && counts.inserted == 2)
        #expect(
            try fixture.table("Thing", "number", "count", "text").map { $0.joined(separator: " ") } == [
                "1 7 null", "4 null 'd'",
            ])
        let reasons = try fixture.store.quarantined().map(\.record.reason)
        #expect(reasons.contains { $0.contains("U+0000") && $0.contains("Thing.text") })
        #expect(reasons.contains { $0.contains("longer than a PostgreSQL index allows") })
    }

    @Test func `a row that another program inserts during the page makes the page run again`() throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.model())
        for entity in ["Thing", "Place"] {
            let key: Literal = entity == "Thing" ? ["number": 7, "text": "remote"] : ["code": "x"]
            let page = try fixture.begin(entity)
            _ = try fixture.server.rows(
                entity == "Thing"
                    ? "INSERT INTO \(fixture.schema).\"Thing\" (number, text) VALUES (7, 'by hand')"
                    : "INSERT INTO \(fixture.schema).\"Place\" (bmo_row, code) VALUES (77, 'x')")
            let error = try storeError {
                try page.add(try Literal.batch([key]), location: nil)
                try page.commit(progress: nil)
            }
            #expect(error.isTransient && error.description.contains("_pkey"))
            page.rollback()
            #expect(try fixture.add(entity, key).quarantined == 0)
        }
        #expect(try fixture.table("Thing", "number", "text") == [["7", "'remote'"]])
        #expect(try fixture.table("Place", "code") == [["'x'"]])
    }

    @Test func `a page may have more new rows than a statement`() throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.model())
        let page = try fixture.begin("Thing")
        let records = (0..<12_000 as Range<Int64>).map { number -> Literal in ["number": .integer(number)] }
        try page.add(try Literal.batch(records), location: nil)
        try page.add(try Literal.batch(records + [["number": 12_000, "parent": 12_001]]), location: nil)
        try page.commit(progress: nil)
        let counts = page.counts[try #require(fixture.model.index(of: "Thing"))]
        #expect(counts.inserted == 12_001 && counts.unchanged == 12_000 && counts.stubs == 1)
        #expect(try fixture.store.count(of: RowQuery("Thing")) == 12_002)
        #expect(try fixture.faults() == [])
    }

    @Test func `a page that is rolled back leaves no rows`() throws {
        let fixture = try StoreFixture(overPostgreSQL: Self.model())
        let page = try fixture.begin("Thing")
        try page.add(try Literal.batch([["number": 1], ["number": 2]]), location: nil)
        page.rollback()
        #expect(try fixture.lines("Thing") == [])
        #expect(try fixture.add("Thing", ["number": 2]).inserted == 1)
    }

    @Test func `a row that another program's constraint refuses fails the page, and the error names the constraint`()
        throws
    {
        let fixture = try StoreFixture(overPostgreSQL: Self.model())
        _ = try fixture.server.rows(
            #"ALTER TABLE "\#(fixture.schema)"."Thing" ADD CONSTRAINT few CHECK (number < 100)"#)
        let page = try fixture.begin("Thing")
        let records = (0..<1_000 as Range<Int64>).map { number -> Literal in ["number": .integer(number)] }
        let error = #expect(throws: StoreError.self) {
            // Some are sent before the page ends, and the second listing of a row asks for them.
            try page.add(try Literal.batch(records + records), location: nil)
            try page.commit(progress: nil)
        }
        page.rollback()
        #expect(error?.description.contains("violates check constraint \"few\"") == true)
        #expect(try fixture.store.quarantined().count == 0)
        #expect(try fixture.add("Thing", ["number": 7]).inserted == 1)
    }
}
