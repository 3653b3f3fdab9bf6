import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import SQLiteStore
import StoreTestSupport
import Testing
import TestSupport

/// Rows that others only referred to, when nothing refers to them any more.
@Suite struct AbandonedStubTests {
    private func model() throws -> CompiledModel {
        try CompiledModel.of(
            Entity("A", key: ["id"], [.of("id", .integer), .of("name", .text)]),
            Entity("B", key: ["id"], [.of("id", .integer), .of("name", .text)], [.one("a", "A")]))
    }

    /// A whole listing.
    @discardableResult
    private func scan(_ fixture: StoreFixture, _ entity: String, _ records: Literal...) throws -> SweepResult {
        let scope = ScanScope(entity: entity)
        try fixture.store.beginScan(scope, afterPage: nil)
        defer { fixture.store.endScan(scope) }
        let page = try fixture.begin(entity)
        try page.add(try Literal.batch(records), location: nil)
        return try page.commit(end: ScanEnd(sweep: SweepRule(deletionLimit: nil)))
    }

    private func fill(_ fixture: StoreFixture) throws {
        try scan(fixture, "A", ["id": 1, "name": "one"], ["id": 3, "name": "three"])
        try scan(fixture, "B", ["id": 1, "a": 1], ["id": 3, "a": 3])
    }

    private func run(_ fixture: StoreFixture, _ body: () throws -> Void) throws {
        try fixture.store.beginRun(kind: "sync")
        try body()
        try fixture.store.endRun(outcome: "finished", summary: nil, always: false)
    }

    @Test func `a row that goes before what refers to it leaves nothing`() throws {
        let fixture = try StoreFixture(try model())
        try run(fixture) { try fill(fixture) }
        try run(fixture) {
            let first = try scan(fixture, "A", ["id": 1, "name": "one"])
            #expect(first.deleted == [0: 1])
            #expect(try fixture.rows("A") == ["1 'one'", "3 null"], "a row still refers to it")
            let second = try scan(fixture, "B", ["id": 1, "a": 1])
            #expect(second.deleted == [1: 1])
        }
        #expect(try fixture.rows("A") == ["1 'one'"])
        #expect(try fixture.file().value("SELECT count(*) FROM bmo_stubs") == "0")
        var changes: [String] = []
        try fixture.store.changes(of: 2) { changes.append("\($0.entity) \($0.kind.rawValue)") }
        #expect(changes == ["A deleted", "B deleted"], "the run did one thing to each row")
        _ = try fixture.store.undo(run: 2)
        #expect(try fixture.rows("A") == ["1 'one'", "3 'three'"])
        #expect(try fixture.rows("B") == ["1 null 1", "3 null 3"])
        _ = try fixture.store.undo(run: 3)
        #expect(try fixture.rows("A") == ["1 'one'"])
        #expect(try fixture.file().faults().isEmpty)
    }

    @Test func `an undo of the last reference takes the stub`() throws {
        let fixture = try StoreFixture(try model())
        try run(fixture) { try fill(fixture) }
        try run(fixture) { _ = try fixture.add("B", ["id": 1, "a": 9]) }
        #expect(try fixture.rows("A").last == "9 null")
        _ = try fixture.store.undo(run: 2)
        #expect(try fixture.rows("A") == ["1 'one'", "3 'three'"])
    }

    @Test func `a local edit of the last reference takes the stub`() throws {
        let fixture = try StoreFixture(try model())
        try fixture.add("B", ["id": 1, "a": 9], ["id": 2, "a": 8])
        _ = try fixture.store.edit([LocalEdit(.update, entity: "B", key: [.integer(1)], values: ["a": .null])])
        #expect(try fixture.rows("A") == ["8 null"])
        let delete = try fixture.store.edit([LocalEdit(.delete, entity: "B", key: [.integer(2)])])
        #expect(try fixture.rows("A") == [])
        try fixture.store.dropOutbox([try #require(delete[0].entry)])
        #expect(try fixture.rows("A") == ["8 null"], "what comes back refers to it again")
        #expect(try fixture.file().faults().isEmpty)
    }

    @Test func `what other programs left is removed when that is asked for`() throws {
        let fixture = try StoreFixture(try model())
        try fixture.add("B", ["id": 1, "a": 9], ["id": 2, "a": 8])
        try fixture.file().rows("UPDATE B SET a = NULL WHERE id = 1")
        let before = try FileBytes(fixture.path)
        try fixture.add("B", ["id": 2, "a": 8])
        #expect(try FileBytes(fixture.path) == before)
        #expect(try fixture.store.removeAbandonedStubs() == 1)
        #expect(try fixture.rows("A") == ["8 null"])
        let after = try FileBytes(fixture.path)
        #expect(try fixture.store.removeAbandonedStubs() == 0)
        #expect(try FileBytes(fixture.path) == after, "there is nothing to write")
    }

    @Test func `a stub that another table refers to stays`() throws {
        let fixture = try StoreFixture(try model())
        try fixture.add("B", ["id": 1, "a": 9])
        let file = try fixture.file()
        try file.rows("CREATE TABLE notes (a INTEGER REFERENCES A (id))")
        try file.rows("INSERT INTO notes VALUES (9)")
        #expect(try fixture.add("B", ["id": 1, "a": nil]).updated == 1)
        #expect(try fixture.rows("A") == ["9 null"])
        #expect(try file.value("SELECT count(*) FROM bmo_stubs") == "1")
        #expect(try file.faults().isEmpty)
    }

    @Test func `a list leaves stubs out and counts its limit without them`() throws {
        let fixture = try StoreFixture(try model())
        try fixture.add("B", ["id": 1, "a": 1])
        try fixture.add("A", ["id": 2, "name": "two"], ["id": 3])
        func list(_ limit: Int?, includesStubs: Bool) throws -> [StoredValue] {
            var query = RowQuery("A", limit: limit)
            query.includesStubs = includesStubs
            return try fixture.store.rows(of: query).map { $0.values[0] }
        }
        #expect(try list(nil, includesStubs: true) == [.integer(1), .integer(2), .integer(3)])
        #expect(try list(nil, includesStubs: false) == [.integer(2), .integer(3)])
        #expect(try list(1, includesStubs: false) == [.integer(2)])
        #expect(try fixture.store.status().map(\.rows) == [2, 1])
        #expect(try fixture.store.status().map(\.stubs) == [1, 0])
    }
}
