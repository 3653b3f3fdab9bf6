import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import SQLiteStore
import StoreTestSupport
import Testing
import TestSupport

/// What `bmo_changes` tells of a run.
@Suite struct ChangeLogTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture(
            CompiledModel.of(
                Entity(
                    "Country", key: ["code"],
                    [
                        .of("code", .text), .of("name", .text), .of("area", .real), .of("debt", .decimal),
                        .of("flag", .data), .of("people", .integer), .of("eu", .boolean),
                    ],
                    [.many("cities", "City", inverse: "country"), .many("languages", "Language")]),
                Entity("City", key: ["id"], [.of("id", .integer), .of("name", .text)], [.one("country", "Country")]),
                Entity(
                    "Language", key: ["code"], [.of("code", .text), .of("name", .text)],
                    [.many("countries", "Country", inverse: "languages")])))
    }

    /// Runs `body` as a run, and returns its changes, a line each.
    private func run(_ body: () throws -> Void) throws -> [String] {
        let last = try fixture.file().value("SELECT ifnull(max(id), 0) FROM bmo_changes")
        try fixture.store.beginRun(kind: "sync")
        try body()
        try fixture.store.endRun(outcome: "finished", summary: nil, always: false)
        return try fixture.file().rows(
            """
            SELECT entity || ' ' || ifnull(key, '-') || ' ' || change || ' ' || ifnull(old, '-') || ' ' || ifnull(new, '-')
            FROM bmo_changes WHERE id > \(last) ORDER BY id
            """
        ).map { String($0[0].dropFirst().dropLast()) }
    }

    private var runs: [[String]] {
        get throws { try fixture.file().rows("SELECT id, kind, outcome, finished IS NULL FROM bmo_runs ORDER BY id") }
    }

    @Test func `a first load is one record`() throws {
        let changes = try run {
            try fixture.add(
                "Country", ["code": "NO", "cities": [1, ["id": 2]], "languages": ["nb", "nn"]], ["code": "SE"])
            try fixture.add("Country", ["code": "DK", "name": "Denmark"], ["code": "NO", "name": "Norway"], page: 2)
        }
        #expect(changes == ["Country - loaded - -", "City - loaded - -", "Language - loaded - -"])
        #expect(try runs == [["1", "'sync'", "'finished'", "0"]])
    }

    @Test func `rows that come later are recorded each`() throws {
        _ = try run { try fixture.add("Country", ["code": "NO"]) }
        let changes = try run {
            try fixture.add("Country", ["code": "SE", "name": "Sweden", "area": 4.0], ["code": "NO"])
        }
        #expect(changes == [#"Country ["SE"] inserted - {"code":"SE","name":"Sweden","area":4.0}"#])
    }

    @Test func `changed columns keep their old values whatever their type`() throws {
        _ = try run {
            try fixture.add(
                "Country",
                [
                    "code": "NO", "name": "Nor\"way\n", "area": 1.5, "debt": .decimal("1.10"),
                    "flag": .bytes([0, 255]),
                    "people": 5, "eu": false,
                ])
        }
        let changes = try run {
            try fixture.add(
                "Country",
                [
                    "code": "NO", "name": nil, "area": 2.0, "debt": .decimal("1.1"), "flag": .bytes([]),
                    "people": .integer(Int64.min), "eu": true,
                ])
        }
        #expect(
            changes == [
                #"Country ["NO"] updated {"name":"Nor\"way\n","area":1.5,"debt":"1.10","flag":{"base64":"AP8="},"people":5,"eu":0} "#
                    + #"{"name":null,"area":2.0,"debt":"1.1","flag":{"base64":""},"people":-9223372036854775808,"eu":1}"#
            ])
    }

    @Test func `an unchanged run has no row`() throws {
        _ = try run { try fixture.add("Country", ["code": "NO"]) }
        #expect(try run { try fixture.add("Country", ["code": "NO"]) } == [])
        #expect(try runs.count == 1)
    }

    @Test func `without a run nothing is recorded`() throws {
        try fixture.add("Country", ["code": "NO"])
        try fixture.add("Country", ["code": "SE"])
        #expect(try fixture.file().rows("SELECT * FROM bmo_changes").isEmpty)
        #expect(try runs.isEmpty)
    }

    @Test func `stubs and what fills them`() throws {
        _ = try run { try fixture.add("Country", ["code": "NO"]) }
        _ = try run { try fixture.add("City", ["id": 1, "country": "NO"]) }
        #expect(
            try run { try fixture.add("City", ["id": 2, "country": "SE"]) } == [
                #"City [2] inserted - {"id":2,"country":"SE"}"#, #"Country ["SE"] stubbed - {"code":"SE"}"#,
            ])
        #expect(
            try run { try fixture.add("Country", ["code": "SE", "name": "Sweden"]) }
                == [#"Country ["SE"] inserted {"name":null} {"name":"Sweden"}"#])
        #expect(
            try run { try fixture.add("Country", ["code": "SE", "cities": [3]]) }
                == [
                    #"City [3] stubbed - {"id":3,"country":"SE"}"#,
                    #"City [2] updated {"country":"SE"} {"country":null}"#,
                ])
    }

    @Test func `links are recorded as the part that changed`() throws {
        _ = try run {
            try fixture.add(
                "Country", ["code": "NO", "languages": ["a", "b", "c"]], ["code": "SE", "languages": ["a"]])
        }
        #expect(
            try run { try fixture.add("Country", ["code": "NO", "languages": ["a", "d", "c"]]) }.filter {
                $0.contains("relinked")
            } == [
                #"Country ["NO"] relinked {"relationship":"languages","at":1,"keys":[["b"]]} {"relationship":"languages","at":1,"keys":[["d"]]}"#
            ])
        #expect(
            try run { try fixture.add("Language", ["code": "a", "countries": ["SE", "DK"]]) }.filter {
                $0.contains("relinked")
            } == [
                #"Language ["a"] relinked {"relationship":"countries","keys":[["NO"]],"positions":[0]} {"relationship":"countries","keys":[["DK"]],"positions":[0]}"#
            ])
    }

    @Test func `a page that is taken back leaves no change and no run`() throws {
        try fixture.store.beginRun(kind: "sync")
        let page = try fixture.begin("Country")
        try page.add(try Literal.batch([["code": "NO"]]), location: nil)
        page.rollback()
        #expect(try runs.isEmpty)
        try fixture.add("Country", ["code": "NO"])
        try fixture.add("Country", ["code": "SE"])
        let second = try fixture.begin("Country")
        try second.add(try Literal.batch([["code": "DK"]]), location: nil)
        second.rollback()
        try fixture.add("Country", ["code": "FI"])
        try fixture.store.endRun(outcome: "finished", summary: "{}", always: false)
        #expect(
            try fixture.file().rows("SELECT run, entity, change FROM bmo_changes") == [["1", "'Country'", "'loaded'"]])
        #expect(try runs == [["1", "'sync'", "'finished'", "0"]])
    }

    @Test func `a run that died is known as killed`() throws {
        try fixture.store.beginRun(kind: "sync")
        try fixture.add("Country", ["code": "NO"])
        try fixture.reopen()
        #expect(try runs == [["1", "'sync'", "'running'", "1"]])
        #expect(try fixture.store.runs().map(\.outcome) == ["killed"], "nobody has the lock")
        let lock = try SQLiteStores().lock(fixture.path, command: "bmo sync")
        #expect(try fixture.store.runs().map(\.outcome) == ["running"])
        lock.release()
        try fixture.store.beginRun(kind: "sync")
        #expect(try runs == [["1", "'sync'", "'killed'", "1"]])
    }

    @Test func `a change says where it came from`() throws {
        try fixture.store.beginRun(kind: "sync")
        let page = try fixture.begin("Country")
        try page.add(try Literal.batch([["code": "NO", "cities": [["id": 1]]]]), location: "https://x/1")
        try page.commit(progress: nil)
        #expect(
            try fixture.file().rows("SELECT entity, bridge, walk, location FROM bmo_changes") == [
                ["'Country'", "'remote'", "'Country'", "'https://x/1'"],
                ["'City'", "'remote'", "'Country'", "'https://x/1'"],
            ])
    }
}
