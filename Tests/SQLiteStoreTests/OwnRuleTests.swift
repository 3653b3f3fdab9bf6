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

    // MARK: deletions

    /// Lists cities as a complete scan, which deletes the others.
    private func sweep(_ records: Literal..., limit: DeletePolicy.DeletionLimit? = nil) throws -> SweepResult {
        let scope = ScanScope(entity: "City")
        try fixture.store.beginScan(scope, afterPage: nil)
        defer { fixture.store.endScan(scope) }
        let page = try fixture.begin("City")
        try page.add(try Literal.batch(records), location: nil)
        return try page.commit(end: ScanEnd(sweep: SweepRule(deletionLimit: limit)))
    }

    @Test(arguments: ["", "DEFERRABLE INITIALLY DEFERRED"])
    func `a row that a table of another program refers to becomes a stub`(when: String) throws {
        try fixture.add("City", ["id": 1, "name": "a", "twins": [2]], ["id": 2, "name": "b"], ["id": 3, "name": "c"])
        try fixture.file().rows("CREATE TABLE mine (city INTEGER REFERENCES City \(when))")
        try fixture.file().rows("INSERT INTO mine VALUES (1)")
        let result = try sweep(["id": 3, "name": "c"])
        #expect(result.deleted == [0: 2] && result.kept == nil)
        #expect(try fixture.rows("City") == ["1 null null", "3 'c' null"])
        #expect(try fixture.stubs() == ["City [1]"])
        #expect(try sweep(["id": 3, "name": "c"]) == SweepResult(), "it is settled")
        #expect(try fixture.faults().isEmpty)
    }

    @Test func `a row whose other columns a table refers to stays as it is`() throws {
        try fixture.add("City", ["id": 1, "name": "a"], ["id": 2, "name": "b"])
        try fixture.file().rows("CREATE UNIQUE INDEX names ON City (name)")
        try fixture.file().rows("CREATE TABLE mine (city TEXT REFERENCES City (name) DEFERRABLE INITIALLY DEFERRED)")
        try fixture.file().rows("INSERT INTO mine VALUES ('a')")
        let result = try sweep(["id": 3, "name": "c"])
        #expect(result.deleted == [0: 1])
        #expect(result.kept?.reason.hasPrefix("a foreign key of the table mine refers to it") == true)
        #expect(try fixture.rows("City") == ["1 'a' null", "3 'c' null"])
        #expect(try fixture.faults().isEmpty)
    }

    @Test(arguments: ["ABORT, 'keep it'", "IGNORE"])
    func `a row that a trigger does not let go stays, and the rest goes on`(action: String) throws {
        try fixture.add("City", ["id": 1, "name": "a", "twins": [3]], ["id": 2, "name": "b"], ["id": 3, "name": "c"])
        try fixture.file().rows(
            "CREATE TRIGGER mine BEFORE DELETE ON City WHEN old.id = 1 BEGIN SELECT raise(\(action)); END")
        let result = try sweep(["id": 3, "name": "C"], ["id": 4, "name": "d"])
        #expect(result.deleted == [0: 1])
        let kept = try #require(result.kept)
        #expect(kept.count == 1 && kept.entity == "City" && kept.key == [.integer(1)])
        #expect(
            kept.words.hasPrefix(
                "City 1 stays, although the remote does not have it any more: a trigger of the database "))
        #expect(try fixture.rows("City") == ["1 'a' null", "3 'C' null", "4 'd' null"])
        #expect(try fixture.file().table("City_twins") == "source | position | target\n1 | 0 | 3")
        #expect(try fixture.faults().isEmpty)
        try fixture.file().rows("DROP TRIGGER mine")
        let later = try sweep(["id": 3, "name": "C"], ["id": 4, "name": "d"])
        #expect(later.deleted == [0: 1] && later.kept == nil)
    }

    @Test(arguments: [
        "WHEN EXISTS (SELECT 1 FROM City_twins WHERE source = old.id) BEGIN SELECT raise(ABORT, 'twins'); END",
        "BEGIN DELETE FROM City WHERE id = old.id; END",
    ])
    func `a trigger that needs the links to go first, or deletes the row itself, lets it go`(trigger: String) throws {
        try fixture.add("City", ["id": 1, "name": "a", "twins": [3]], ["id": 2, "name": "b"], ["id": 3, "name": "c"])
        try fixture.file().rows("CREATE TRIGGER mine BEFORE DELETE ON City \(trigger)")
        let result = try sweep(["id": 3, "name": "c"])
        #expect(result.deleted == [0: 2] && result.kept == nil)
        #expect(try fixture.rows("City") == ["3 'c' null"])
        #expect(try fixture.file().table("City_twins") == "source | position | target")
        #expect(try fixture.faults().isEmpty)
    }

    @Test func `rows that only refer to each other by a column of the user's are deleted together`() throws {
        try fixture.add("City", ["id": 1], ["id": 2], ["id": 3], ["id": 4], ["id": 5])
        try fixture.file().rows(
            "ALTER TABLE City ADD COLUMN next INTEGER REFERENCES City (id) DEFERRABLE INITIALLY DEFERRED")
        try fixture.file().rows("UPDATE City SET next = CASE id WHEN 1 THEN 2 WHEN 2 THEN 1 WHEN 3 THEN 3 ELSE 4 END")
        let result = try sweep(["id": 5])
        #expect(result.deleted == [0: 4] && result.kept == nil)
        #expect(try fixture.file().rows("SELECT id, next FROM City ORDER BY id") == [["4", "4"], ["5", "4"]])
        #expect(try fixture.stubs() == ["City [4]"])
        #expect(try fixture.faults().isEmpty)
    }

    @Test func `rows that a trigger keeps do not count towards the deletion limit`() throws {
        try fixture.add("City", ["id": 1], ["id": 2], ["id": 3], ["id": 4], ["id": 5])
        try fixture.file().rows(
            "CREATE TRIGGER mine BEFORE DELETE ON City WHEN old.id < 4 BEGIN SELECT raise(ABORT, 'keep it'); END")
        let limit = DeletePolicy.DeletionLimit(share: 0.2, rows: 1)
        let result = try sweep(["id": 5], limit: limit)
        #expect(result.held == nil && result.deleted == [0: 1] && result.kept?.count == 3)
        #expect(try fixture.file().rows("SELECT id FROM City ORDER BY id") == [["1"], ["2"], ["3"], ["5"]])
        try fixture.file().rows("DROP TRIGGER mine")
        let later = try sweep(["id": 5], limit: limit)
        #expect(later.held == SweepResult.LimitExceeded(gone: 3, total: 4))
    }

    @Test func `a reference that does not hold names the tables`() throws {
        try fixture.add("City", ["id": 1, "name": "a"])
        try fixture.file().rows(
            "CREATE TRIGGER gone AFTER INSERT ON City WHEN new.id = 9 BEGIN DELETE FROM City WHERE id = 9; END")
        let broken = try storeError { _ = try fixture.add("City", ["id": 9, "twins": [1]]) }
        #expect(broken.message == "a row of the table City_twins refers to one of City that is not there")
        try fixture.file().rows("CREATE TABLE mine (city TEXT REFERENCES City (name))")
        let invalid = try storeError { _ = try fixture.add("City", ["id": 1, "name": "b"]) }
        #expect(invalid.code == .schema && invalid.message.contains(#""mine" referencing "City""#))
    }

    // MARK: RAISE(IGNORE)

    @Test func `a change that a trigger ignores goes to quarantine`() throws {
        try fixture.add("City", ["id": 1, "name": "a"], ["id": 2, "name": "b"])
        try fixture.file().rows(
            "CREATE TRIGGER mine BEFORE UPDATE ON City WHEN old.id = 1 BEGIN SELECT raise(IGNORE); END")
        let counts = try fixture.add("City", ["id": 1, "name": "x"], ["id": 2, "name": "y"])
        #expect(counts.quarantined == 1 && counts.updated == 1)
        #expect(try fixture.rows("City") == ["1 'a' null", "2 'y' null"])
        #expect(
            try fixture.store.quarantined().map(\.record.reason) == [
                "City 1: a trigger of the database keeps the row of City as it is; "
                    + "drop the trigger that bmo did not create"
            ])
    }

    @Test(arguments: ["INSERT", "UPDATE", "DELETE"])
    func `an edit that a trigger ignores is refused`(event: String) throws {
        try fixture.add("City", ["id": 1, "name": "a"])
        try fixture.file().rows("CREATE TRIGGER mine BEFORE \(event) ON City BEGIN SELECT raise(IGNORE); END")
        let edits = [
            "INSERT": LocalEdit(.create, entity: "City", values: ["name": .text("b")]),
            "UPDATE": LocalEdit(.update, entity: "City", key: [.integer(1)], values: ["name": .text("b")]),
            "DELETE": LocalEdit(.delete, entity: "City", key: [.integer(1)]),
        ]
        let edit = try #require(edits[event])
        let error = try storeError { _ = try fixture.store.edit([edit]) }
        #expect(error.code == .constraint && error.message.hasPrefix("a trigger of the database "))
        #expect(try fixture.rows("City") == ["1 'a' null"])
        #expect(try fixture.store.outbox().isEmpty)
    }

    @Test func `a new key that a trigger ignores leaves the edit in the outbox`() throws {
        let edit = LocalEdit(.create, entity: "City", values: ["name": .text("a")])
        let entry = try #require(try fixture.store.edit([edit]).first?.entry)
        try fixture.file().rows("CREATE TRIGGER mine BEFORE UPDATE ON City BEGIN SELECT raise(IGNORE); END")
        let page = try fixture.begin("City")
        let error = try storeError { try page.acknowledge(entry, key: [.integer(7)]) }
        page.rollback()
        #expect(error.code == .constraint && error.message.contains("keeps the key of the row of City as it is"))
        #expect(try fixture.store.outbox().map(\.id) == [entry])
    }
}
