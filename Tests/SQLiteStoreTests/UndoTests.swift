import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import StoreTestSupport
import Testing
import TestSupport

/// Runs that are taken back.
@Suite(.overAllStores, .namingTheStore) struct UndoTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture(
            CompiledModel.of(
                Entity(
                    "Country", key: ["code"],
                    [
                        .of("code", .text), .of("name", .text), .of("area", .real), .of("debt", .decimal),
                        .of("flag", .data), .of("people", .integer), .of("eu", .boolean), .of("tree", .json),
                    ],
                    [
                        .many("cities", "City", inverse: "country"), .many("languages", "Language"),
                        .one("capital", "City"),
                    ]),
                Entity("City", key: ["id"], [.of("id", .integer), .of("name", .text)], [.one("country", "Country")]),
                Entity(
                    "Language", key: ["code"], [.of("code", .text), .of("name", .text)],
                    [.many("countries", "Country", inverse: "languages")]),
                Entity(
                    "Part", key: ["city", "hash"], [.of("city", .integer), .of("hash", .data), .of("name", .text)],
                    [.many("neighbours", "Part")])))
    }

    private func run(_ body: () throws -> Void) throws {
        try fixture.store.beginRun(kind: "sync")
        try body()
        try fixture.store.endRun(outcome: "finished", summary: nil, always: false)
    }

    /// All tables and stubs as text.
    private func contents() throws -> String {
        let tables = try ["Country", "City", "Language", "Part", "Country_languages", "Part_neighbours"].map { name in
            "\(name)\n\(try fixture.place.table(name))"
        }
        return (tables + (try fixture.stubs())).joined(separator: "\n")
    }

    /// Runs `body` as a run, undoes it, undoes that, and undoes it once more: the contents follow.
    private func expectUndoable(
        sourceLocation: Testing.SourceLocation = #_sourceLocation, _ body: () throws -> Void
    ) throws {
        let before = try contents()
        try run(body)
        let after = try contents()
        #expect(after != before, sourceLocation: sourceLocation)
        var id = try #require(try fixture.store.lastRunWithChanges())
        for expected in [before, after, before] {
            id = try fixture.store.undo(run: id)
            let actual = try contents()
            #expect(actual == expected, sourceLocation: sourceLocation)
            #expect(try fixture.faults().isEmpty, sourceLocation: sourceLocation)
        }
    }

    @Test func `a first load`() throws {
        try expectUndoable {
            try fixture.add(
                "Country", ["code": "NO", "cities": [1, ["id": 2, "name": "Oslo"]], "languages": ["nb", "nn"]],
                ["code": "SE", "capital": ["id": 9, "name": "Stockholm"], "languages": ["sv"]])
            try fixture.add("City", ["id": 1, "name": "Bergen"], ["id": 3, "country": "DK"], page: 2)
        }
    }

    @Test func `columns of each type`() throws {
        try run {
            try fixture.add(
                "Country",
                [
                    "code": "NO", "name": "Nor\"way\u{0}\u{9f}e\u{301}", "area": 1.0, "debt": .decimal("1.10"),
                    "flag": .bytes([0, 255, 128]), "people": .integer(Int64.max), "eu": false,
                    "tree": ["a": [nil, 1.5, "x"]],
                ])
            try fixture.add("Country", ["code": "SE", "flag": .bytes([])], ["code": "DK", "name": ""])
        }
        try expectUndoable {
            try fixture.add(
                "Country",
                [
                    "code": "NO", "name": nil, "area": 1e300, "debt": .decimal("1.1"), "flag": nil,
                    "people": .integer(Int64.min), "eu": nil, "tree": nil,
                ], ["code": "SE", "flag": .bytes([1])], ["code": "DK", "name": nil])
        }
    }

    @Test func `new rows and stubs`() throws {
        try run { try fixture.add("Country", ["code": "NO"], ["code": "SE", "capital": 5]) }
        try run { try fixture.add("City", ["id": 1, "country": "NO"]) }
        try expectUndoable {
            try fixture.add("City", ["id": 5, "name": "Stockholm", "country": "SE"], ["id": 7, "country": "FI"])
            try fixture.add("Country", ["code": "FI", "name": "Finland", "capital": 8])
            try fixture.add("City", ["id": 8])
        }
    }

    @Test func `relationships from either end`() throws {
        try run {
            try fixture.add(
                "Country", ["code": "NO", "languages": ["a", "b", "c"], "cities": [1, 2]],
                ["code": "SE", "languages": ["c", "a"], "cities": [3]])
        }
        try expectUndoable { try fixture.add("Country", ["code": "NO", "languages": ["c", "x", "b", "a"]]) }
        try expectUndoable { try fixture.add("Country", ["code": "NO", "languages": [], "cities": []]) }
        try expectUndoable { try fixture.add("Language", ["code": "a", "countries": ["DK"]]) }
        try expectUndoable { try fixture.add("Country", ["code": "NO", "cities": [3, 4]]) }
    }

    @Test func `cycles of new rows`() throws {
        try run {
            try fixture.add("Country", ["code": "NO"])
            try fixture.add("City", ["id": 1])
        }
        try expectUndoable {
            try fixture.add("Country", ["code": "SE", "capital": ["id": 2, "name": "Stockholm", "country": "SE"]])
            try fixture.add("Country", ["code": "DK", "capital": 3])
            try fixture.add("City", ["id": 3, "country": "DK"])
        }
    }

    @Test func `composite keys with bytes`() throws {
        try run { try fixture.add("Part", ["city": 1, "hash": .bytes([0, 1]), "name": "a"]) }
        try expectUndoable {
            try fixture.add(
                "Part",
                [
                    "city": 1, "hash": .bytes([0, 1]), "name": "b",
                    "neighbours": [["city": 1, "hash": .bytes([2])], ["city": 2, "hash": .bytes([])]],
                ])
        }
    }

    @Test func `rows without a key`() throws {
        var entity = Entity("Event", key: [], [.of("what", .text), .of("size", .integer)])
        entity.uniquing = .none
        let fixture = try StoreFixture(CompiledModel.of(entity))
        func run(_ records: Literal...) throws {
            try fixture.store.beginRun(kind: "sync")
            let page = try fixture.begin("Event")
            try page.add(try Literal.batch(records), location: nil)
            try page.commit(progress: nil)
            try fixture.store.endRun(outcome: "finished", summary: nil, always: false)
        }
        func rows() throws -> [[String]] {
            try fixture.store.rows(of: RowQuery("Event")).map { ($0.key + $0.values).map(\.literal) }
        }
        try run(["what": "a", "size": 1], ["what": "a", "size": 1])
        try run(["what": "a", "size": 1], ["what": "b"])
        let after = try rows()
        #expect(after.count == 4)
        let undo = try fixture.store.undo(run: 2)
        #expect(try rows() == Array(after.prefix(2)))
        _ = try fixture.store.undo(run: undo)
        #expect(try rows() == after)
        let load = try fixture.store.undo(run: 1)
        #expect(try rows() == Array(after.suffix(2)))
        _ = try fixture.store.undo(run: load)
        #expect(try rows() == after)
    }

    @Test func `objects of a family`() throws {
        let has: (String) -> Matcher = { Matcher([.has(RemotePath([$0]))]) }
        var dog = Entity("Dog", key: [], [.of("breed", .text)], [.one("friend", "Animal")])
        dog.superentity = "Animal"
        dog.matcher = has("breed")
        var cat = Entity("Cat", key: [], [.of("lives", .integer)], [.one("enemy", "Dog")])
        cat.superentity = "Animal"
        cat.matcher = has("lives")
        let fixture = try StoreFixture(
            CompiledModel.of(Entity("Animal", key: ["id"], [.of("id", .integer), .of("name", .text)]), dog, cat))
        func run(_ records: Literal...) throws {
            try fixture.store.beginRun(kind: "sync")
            let page = try fixture.begin("Animal")
            try page.add(try Literal.batch(records), location: nil)
            try page.commit(progress: nil)
            try fixture.store.endRun(outcome: "finished", summary: nil, always: false)
        }
        func contents() throws -> String {
            try fixture.place.table("Animal") + "\n" + fixture.stubs().joined(separator: "\n")
        }
        try run(["id": 1, "name": "a"], ["id": 2, "breed": "x"])
        let before = try contents()
        try run(
            ["id": 1, "lives": 9, "enemy": 3], ["id": 2, "breed": "y", "friend": 4],
            ["id": 5, "breed": "z", "friend": 1])
        let after = try contents()
        #expect(after.contains("Cat"), "1 was recognised as a cat: \(after)")
        var id: Int64 = 2
        for expected in [before, after, before] {
            id = try fixture.store.undo(run: id)
            let actual = try contents()
            #expect(actual == expected)
            #expect(try fixture.faults().isEmpty)
        }
        _ = try fixture.store.undo(run: id)
        // A stub that is made again is of the entity that it was.
        try run(["id": 6, "lives": 1, "enemy": 3])
        _ = try fixture.store.undo(run: 2)
        #expect(try fixture.table("Animal", "id", "entity").contains(["3", "'Dog'"]))
        let history = try fixture.store.history(of: 2, key: [.integer(6)])
        #expect(history.values != nil && history.events.count == 1)
        #expect(try fixture.store.history(of: 1, key: [.integer(6)]).values == nil, "6 is no dog")
        #expect(try fixture.store.status().map(\.rows) == [3, 1, 1], "3 is a stub")
    }

    @Test func `a row that later rows refer to stays as a stub`() throws {
        try run { try fixture.add("Country", ["code": "NO"]) }
        try run { try fixture.add("Country", ["code": "SE", "name": "Sweden", "languages": ["sv"]]) }
        try run { try fixture.add("City", ["id": 1, "country": "SE"]) }
        let undone = try fixture.store.undo(run: 2)
        #expect(
            try fixture.table("Country", "code", "name") == [
                ["'NO'", "null"], ["'SE'", "null"],
            ])
        #expect(try fixture.stubs() == [#"Country ["SE"]"#])
        #expect(try fixture.table("Country_languages").isEmpty)
        #expect(try fixture.faults().isEmpty)
        _ = try fixture.store.undo(run: undone)
        #expect(try fixture.table("Country", "code", "name").contains(["'SE'", "'Sweden'"]))
        #expect(try fixture.store.stubCount(of: "Country") == 0)
        #expect(try fixture.faults().isEmpty)
    }

    @Test func `later runs are in the way`() throws {
        try run { try fixture.add("Country", ["code": "NO"], ["code": "SE"], ["code": "DK"]) }
        try run { try fixture.add("Country", ["code": "NO", "name": "a"], ["code": "SE", "name": "b"]) }
        try run { try fixture.add("Country", ["code": "NO", "name": "c"], ["code": "DK", "name": "d"]) }
        let before = try contents()
        let refusal = try #require(throws: UndoRefusal.self) { try fixture.store.undo(run: 2) }
        #expect(refusal.conflicts.map(\.description) == [#"Country ["NO"]: run 3 changed it later (updated)"#])
        let load = try #require(throws: UndoRefusal.self) { try fixture.store.undo(run: 1) }
        #expect(load.count == 3)
        #expect(try contents() == before)
        #expect(try fixture.store.runs().count == 3, "a refused undo is no run")

        // A later run that was undone itself is not in the way.
        let undo = try fixture.store.undo(run: 3)
        _ = try fixture.store.undo(run: 2)
        #expect(Set(try fixture.table("Country", "name")) == [["null"]])
        #expect(throws: UndoRefusal.self, "its rows are others' now") { try fixture.store.undo(run: undo) }
    }

    @Test func `a load is undone around the rows of later runs`() throws {
        try run { try fixture.add("Country", ["code": "NO"], ["code": "SE"]) }
        try run { try fixture.add("Country", ["code": "DK", "name": "Denmark"]) }
        let undo = try fixture.store.undo(run: 1)
        #expect(try fixture.table("Country", "code") == [["'DK'"]])
        _ = try fixture.store.undo(run: undo)
        #expect(try fixture.table("Country", "code") == [["'DK'"], ["'NO'"], ["'SE'"]])
    }

    @Test(.overSQLiteOnly) func `what another program wrote is in the way`() throws {
        try run { try fixture.add("Country", ["code": "NO", "name": "a"]) }
        try run { try fixture.add("Country", ["code": "NO", "name": "b"], ["code": "SE", "name": "x"]) }
        try fixture.file().rows("UPDATE Country SET name = 'mine'")
        let refusal = try #require(throws: UndoRefusal.self) { try fixture.store.undo(run: 2) }
        #expect(
            refusal.conflicts.map(\.description) == [
                #"Country ["SE"]: its name is "mine", where the run left "x""#,
                #"Country ["NO"]: its name is "mine", where the run left "b""#,
            ])
        try fixture.file().rows("DELETE FROM Country")
        let second = try #require(throws: UndoRefusal.self) { try fixture.store.undo(run: 2) }
        #expect(second.conflicts.map(\.reason) == Array(repeating: "it is gone, but bmo did not delete it", count: 2))
    }

    @Test func `only a run with changes that is not undone can be`() throws {
        try run { try fixture.add("Country", ["code": "NO"]) }
        #expect(
            try storeError { _ = try fixture.store.undo(run: 9) }.description.hasPrefix("there is no run 9; `bmo runs`")
        )
        let undo = try fixture.store.undo(run: 1)
        #expect(
            try storeError { _ = try fixture.store.undo(run: 1) }.description
                == "run 1 was already undone by run \(undo); `bmo undo \(undo)` reverts that")
        try fixture.store.beginRun(kind: "sync")
        try fixture.store.endRun(outcome: "failed", summary: "{}", always: true)
        #expect(try storeError { _ = try fixture.store.undo(run: undo + 1) }.code == .request)
    }

    @Test func `the places of the walks are forgotten`() throws {
        let place = ScanProgress(cursor: "c", page: 1, request: "r")
        try run {
            try fixture.add("Country", ["code": "NO", "cities": [["id": 1]]], progress: place)
            try fixture.add("Language", ["code": "a"], progress: place)
        }
        try run { try fixture.add("Country", ["code": "NO", "cities": [["id": 2]]], progress: place) }
        _ = try fixture.store.undo(run: 2)
        #expect(try fixture.store.progress(of: ScanScope(entity: "Country")) == nil)
        #expect(try fixture.store.progress(of: ScanScope(entity: "Language")) == place)
    }

    @Test func `the counts of stubs are right afterwards`() throws {
        try run { try fixture.add("Country", ["code": "NO"]) }
        try run { try fixture.add("City", ["id": 1, "country": "SE"]) }
        _ = try fixture.store.undo(run: 2)
        try fixture.add("City", ["id": 1, "country": "SE"])
        #expect(try fixture.add("Country", ["code": "SE"]).inserted == 1, "it was a stub until now")
        #expect(try fixture.store.stubCount(of: "Country") == 0)
    }

    @Test func `a refused undo leaves the store usable`() throws {
        try run { try fixture.add("Country", ["code": "NO"]) }
        try run { try fixture.add("Country", ["code": "NO", "name": "a"]) }
        #expect(throws: UndoRefusal.self) { try fixture.store.undo(run: 1) }
        try run { try fixture.add("Country", ["code": "SE"]) }
        #expect(try fixture.store.runs().map(\.counts.total) == [1, 1, 1])
    }
}
