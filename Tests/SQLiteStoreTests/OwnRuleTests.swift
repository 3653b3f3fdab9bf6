import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import SQLiteStore
import StoreTestSupport
import Testing
import TestSupport

/// Indexes and triggers that the user added: a record that they refuse does not hold up the others.
@Suite struct OwnRuleTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture(
            CompiledModel.of(
                Entity(
                    "City", key: ["id"], [.of("id", .integer), .of("name", .text)],
                    [.one("country", "Country"), .many("twins", "City")]),
                Entity("Country", key: ["code"], [.of("code", .text), .of("name", .text)])))
    }

    private func quarantine() throws -> [String] {
        try fixture.store.quarantined().map {
            "\($0.record.entity) \($0.record.record ?? 0): \($0.record.reason) \($0.record.representation)"
        }
    }

    private static let remedy = "drop the index or trigger that bmo did not create, or correct the value"

    @Test func `what a unique index refuses goes to quarantine and the rest goes on`() throws {
        try fixture.add("City", ["id": 1, "name": "a"], ["id": 2, "name": "b", "twins": [1]])
        try fixture.file().rows("CREATE UNIQUE INDEX mine ON City (name)")
        let counts = try fixture.add(
            "City", ["id": 2, "name": "a", "twins": [4], "country": "SE"], ["id": 3, "name": "a", "twins": [1]],
            ["id": 4, "name": "d", "country": ["code": "NO", "name": "Norway"]], page: 2)
        #expect(counts.quarantined == 2 && counts.inserted == 1 && counts.updated == 0 && counts.relinked == 0)
        #expect(
            try quarantine() == [
                "City 1: City 2: the database's own constraint on City.name: another row has the same; "
                    + #"\#(Self.remedy) {"id":2,"name":"a","twins":[4],"country":"SE"}"#,
                "City 2: City 3: the database's own constraint on City.name: another row has the same; "
                    + #"\#(Self.remedy) {"id":3,"name":"a","twins":[1]}"#,
            ])
        #expect(try fixture.rows("City") == ["1 'a' null", "2 'b' null", "4 'd' 'NO'"])
        #expect(try fixture.rows("Country") == ["'NO' 'Norway'"], "what a refused record refers to is not made")
        #expect(try fixture.file().table("City_twins") == "source | position | target\n2 | 0 | 1")
        #expect(try fixture.file().faults().isEmpty)
        try fixture.file().rows("DROP INDEX mine")
        #expect(try fixture.add("City", ["id": 3, "name": "a"]).inserted == 1)
    }

    @Test func `what a trigger refuses goes to quarantine`() throws {
        try fixture.file().rows(
            "CREATE TRIGGER seven BEFORE INSERT ON City WHEN new.id = 7 BEGIN SELECT raise(ABORT, 'no sevens'); END")
        try fixture.file().rows(
            "CREATE TRIGGER eight BEFORE INSERT ON City WHEN new.id = 8 BEGIN SELECT raise(IGNORE); END")
        #expect(try fixture.add("City", ["id": 6], ["id": 7], ["id": 8], ["id": 9]).inserted == 2)
        #expect(try fixture.rows("City") == ["6 null null", "9 null null"])
        #expect(
            try fixture.store.quarantined().map(\.record.reason) == [
                "City 7: a trigger of the database refuses it: no sevens; \(Self.remedy)",
                "City 8: a trigger of the database keeps the row out of City; drop the trigger that bmo did not create",
            ])
    }

    @Test func `a refused nested object is reported with its record`() throws {
        try fixture.file().rows("CREATE UNIQUE INDEX mine ON Country (name)")
        try fixture.add("Country", ["code": "NO", "name": "Norway"])
        let counts = try fixture.add("City", ["id": 1, "country": ["code": "XX", "name": "Norway"]], ["id": 2])
        #expect(counts.quarantined == 1 && counts.inserted == 2)
        #expect(
            try fixture.store.quarantined().map(\.record.reason) == [
                "Country XX: the database's own constraint on Country.name: another row has the same; \(Self.remedy)"
            ])
        #expect(try fixture.rows("Country") == ["'NO' 'Norway'", "'XX' null"], "a stub holds its place")
        #expect(try fixture.file().faults().isEmpty)
    }
}
