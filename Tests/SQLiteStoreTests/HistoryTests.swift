import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import SQLiteStore
import StoreTestSupport
import TestSupport
import Testing

/// Reading what runs did, where rows came from, and how it stands.
@Suite struct HistoryTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture(
            CompiledModel.of(
                Entity(
                    "Country", key: ["code"], [.of("code", .text), .of("name", .text), .of("area", .real)],
                    [.many("cities", "City", inverse: "country"), .many("languages", "Language")]),
                Entity("City", key: ["id"], [.of("id", .integer), .of("name", .text)], [.one("country", "Country")]),
                Entity("Language", key: ["code"], [.of("code", .text), .of("name", .text)])))
    }

    @discardableResult
    private func run(keeping retention: HistoryRetention = .usual, _ body: () throws -> Void) throws -> Int64? {
        try fixture.store.beginRun(kind: "sync")
        try body()
        return try fixture.store.endRun(outcome: "finished", summary: nil, always: false, keeping: retention)
    }

    /// The changes of a run, a line each.
    private func diff(_ run: Int64, entity: String? = nil) throws -> [String] {
        var lines: [String] = []
        try fixture.store.changes(of: run, entity: entity) { change in
            let columns = change.columns.map { "\($0.name) \($0.old?.literal ?? "-")>\($0.new?.literal ?? "-")" }
            let links = change.links.map { link in
                func list(_ keys: [[StoredValue]]) -> String {
                    keys.map { $0.map(\.literal).joined(separator: "/") }.joined(separator: ",")
                }
                return "\(link.relationship)@\(link.at ?? -1) [\(list(link.old))]>[\(list(link.new))]"
            }
            lines.append(
                ([change.entity, change.key.map(\.literal).joined(separator: "/"), change.kind.rawValue] + columns
                    + links)
                    .joined(separator: " "))
        }
        return lines
    }

    @Test func `the changes of a row are taken together`() throws {
        try run { try fixture.add("Country", ["code": "NO", "name": "a"], ["code": "SE"]) }
        try run {
            try fixture.add("Country", ["code": "NO", "name": "b"], ["code": "DK", "name": "x"])
            try fixture.add("Country", ["code": "NO", "name": "c", "area": 1.5], ["code": "DK", "name": "y"], page: 2)
            try fixture.add("Country", ["code": "SE", "name": "tmp"], page: 3)
            try fixture.add("Country", ["code": "SE", "name": nil], page: 4)
            try fixture.add("City", ["id": 7, "country": "FI"])
            try fixture.add("Country", ["code": "FI", "languages": ["fi", "sv"]])
        }
        let second = try diff(2)
        #expect(
            second == [
                "City  loaded", "Country 'DK' inserted code ->'DK' name ->'y'",
                "Country 'FI' inserted code ->'FI' languages@0 []>['fi','sv']",
                "Country 'NO' updated name 'a'>'c' area null>1.5", "Language  loaded",
            ])
        #expect(try diff(2, entity: "City") == ["City  loaded"])
        #expect(try diff(1) == ["Country  loaded"])
        #expect(try diff(3).isEmpty)
        let undo = try fixture.store.undo(run: 2)
        let undone = try diff(undo, entity: "Country")
        #expect(
            undone == [
                "Country 'DK' deleted code 'DK'>- name 'y'>-",
                "Country 'FI' deleted code 'FI'>- languages@0 ['fi','sv']>[]",
                "Country 'NO' updated name 'c'>'a' area 1.5>null",
            ])
    }

    @Test func `a changed list is reported whole, also after later runs`() throws {
        func lists(_ run: Int64) throws -> [String] {
            var lines: [String] = []
            try fixture.store.changes(of: run, entity: "Country") { change in
                for link in change.links {
                    func list(_ keys: [[StoredValue]]) -> String {
                        keys.map { $0[0].description }.joined(separator: ",")
                    }
                    lines.append(link.whole.map { "[\(list($0.old))]>[\(list($0.new))]" } ?? "?")
                }
            }
            return lines
        }
        try run { try fixture.add("Country", ["code": "SE"]) }
        try run { try fixture.add("Country", ["code": "NO", "languages": ["a", "b", "c"]]) }
        try run { try fixture.add("Country", ["code": "NO", "languages": ["b", "c"]]) }
        #expect(try lists(3) == ["[a,b,c]>[b,c]"])
        try run { try fixture.add("Country", ["code": "NO", "languages": ["b", "x", "c", "y"]]) }
        try run { try fixture.add("Country", ["code": "NO", "languages": []]) }
        #expect(try lists(3) == ["[a,b,c]>[b,c]"])
        #expect(try lists(4) == ["[b,c]>[b,x,c,y]"] && lists(5) == ["[b,x,c,y]>[]"])
        #expect(try lists(fixture.store.undo(run: 5)) == ["[]>[b,x,c,y]"])
        // What another program did to the links is in no history: then only the part is told.
        try fixture.file().rows("DELETE FROM Country_languages WHERE position = 0")
        #expect(try lists(3) == ["?"])
    }

    @Test func `runs are listed newest first`() throws {
        try run { try fixture.add("Country", ["code": "NO"]) }
        try run { try fixture.add("Country", ["code": "NO", "name": "a"], ["code": "SE"]) }
        _ = try fixture.store.undo(run: 2)
        let runs = try fixture.store.runs()
        #expect(runs.map(\.id) == [3, 2, 1])
        #expect(runs.map(\.kind) == ["undo", "sync", "sync"] && runs.map(\.undoes) == [2, nil, nil])
        #expect(
            runs.map { "\($0.counts.loaded) \($0.counts.inserted) \($0.counts.updated) \($0.counts.deleted)" } == [
                "0 0 1 1", "0 1 1 0", "1 0 0 0",
            ])
        #expect(try fixture.store.runs(limit: 1).map(\.id) == [3])
        #expect(try fixture.store.lastRunWithChanges() == 3)
    }

    // MARK: retention

    @Test func `old runs are forgotten`() throws {
        for number in 0..<5 as Range<Int64> {
            try run(keeping: .runs(3)) { try fixture.add("Country", ["code": "NO", "area": .integer(number)]) }
        }
        #expect(try fixture.store.runs().map(\.id) == [5, 4, 3])
        #expect(try fixture.file().rows("SELECT DISTINCT run FROM bmo_changes ORDER BY 1") == [["3"], ["4"], ["5"]])
        try fixture.file().rows("UPDATE bmo_runs SET started = '2001-01-01T00:00:00.000000Z' WHERE id <= 4")
        try run(keeping: .seconds(60)) { try fixture.add("Country", ["code": "NO", "area": 7]) }
        #expect(try fixture.store.runs().map(\.id) == [6, 5])
        try fixture.file().rows("UPDATE bmo_runs SET started = '2001-01-01T00:00:00.000000Z'")
        try run(keeping: .forever) { try fixture.add("Country", ["code": "NO", "area": 8]) }
        #expect(try fixture.store.runs().map(\.id) == [7, 6, 5])
        try fixture.file().rows("UPDATE bmo_runs SET started = '2001-01-01T00:00:00.000000Z'")
        try run(keeping: .seconds(1)) { try fixture.add("Country", ["code": "NO", "area": 9]) }
        #expect(try fixture.store.runs().map(\.id) == [8])
    }

    @Test func `an unchanged run forgets nothing`() throws {
        for number in 0..<3 as Range<Int64> {
            try run { try fixture.add("Country", ["code": "NO", "area": .integer(number)]) }
        }
        let before = try FileBytes(fixture.path)
        try run(keeping: .runs(1)) { try fixture.add("Country", ["code": "NO"]) }
        #expect(try FileBytes(fixture.path) == before)
    }

    // MARK: provenance

    private func sources(_ entity: String, _ key: StoredValue) throws -> [String] {
        let index = try #require(fixture.model.index(of: entity))
        let history = try fixture.store.history(of: index, key: [key])
        return [history.isStub ? "stub" : history.isListed ? "listed" : "unlisted"]
            + history.groups.map { group in
                "\(group.isListing ? "own" : "\(group.bridge)/\(group.scan)") \(group.columns.sorted().joined(separator: ",")) "
                    + "\(group.firstRun ?? 0)-\(group.lastRun ?? 0)"
            }
    }

    @Test func `what its own listing brought needs no record`() throws {
        try run { try fixture.add("Country", ["code": "NO", "name": "a"]) }
        try run { try fixture.add("Country", ["code": "NO", "name": "b"]) }
        #expect(try fixture.file().rows("SELECT * FROM bmo_provenance").isEmpty)
        #expect(try sources("Country", .text("NO")) == ["listed", "own area,code,name 1-2"])
    }

    @Test func `what came nested is another sources`() throws {
        try run { try fixture.add("Country", ["code": "NO", "cities": [["id": 1, "name": "Oslo"]]]) }
        #expect(try sources("City", .integer(1)) == ["unlisted", "remote/Country country,id,name 1-1"])
        // Seen by its own listing, unchanged: listed from now on.
        try run { try fixture.add("City", ["id": 1], ["id": 2]) }
        #expect(try sources("City", .integer(1)) == ["listed", "remote/Country country,id,name 1-1"])
        // A column belongs to who wrote it last.
        try run { try fixture.add("City", ["id": 1, "name": "OSLO"]) }
        let split = try sources("City", .integer(1))
        #expect(split == ["listed", "own name 3-3", "remote/Country country,id 1-1"])
        try run { try fixture.add("Country", ["code": "NO", "cities": [["id": 1, "name": "Christiania"]]]) }
        #expect(try sources("City", .integer(1)) == ["listed", "remote/Country country,id,name 1-4"])
        #expect(try sources("City", .integer(2)).first == "listed")
    }

    @Test func `a stub has no source until it is filled`() throws {
        try run { try fixture.add("City", ["id": 1, "country": "NO"]) }
        #expect(try sources("Country", .text("NO")) == ["stub"])
        try run { try fixture.add("Country", ["code": "NO", "cities": [2]]) }
        #expect(try sources("Country", .text("NO")).first == "listed")
        #expect(try sources("City", .integer(2)) == ["stub"])
        try run { try fixture.add("Country", ["code": "SE", "cities": [["id": 2, "name": "x"]]]) }
        #expect(try sources("City", .integer(2)).first == "unlisted")
    }

    @Test func `an unchanged nested row writes nothing`() throws {
        func both() throws {
            try fixture.add("City", ["id": 1, "name": "Oslo"], ["id": 3, "name": "x", "country": "NO"])
            try fixture.add("Country", ["code": "NO", "cities": [["id": 1, "name": "Oslo"], ["id": 2], 3]])
        }
        try run(both)
        let before = try FileBytes(fixture.path)
        try run(both)
        #expect(try FileBytes(fixture.path) == before)
    }

    @Test func `a page that is taken back takes its sources back`() throws {
        let page = try fixture.begin("Country")
        try page.add(try Literal.batch([["code": "NO", "cities": [["id": 1]]]]), location: nil)
        page.rollback()
        #expect(try fixture.file().rows("SELECT * FROM bmo_sources").isEmpty)
        try fixture.add("Country", ["code": "NO", "cities": [["id": 1]]])
        #expect(
            try fixture.file().rows("SELECT entity, key, listed FROM bmo_provenance") == [["'City'", "'[1]'", "0"]])
        #expect(try fixture.file().faults().isEmpty)
    }

    @Test func `the events of a row are listed newest first`() throws {
        try run { try fixture.add("Country", ["code": "NO", "name": "a"]) }
        try run { try fixture.add("Country", ["code": "NO", "name": "b"], ["code": "SE"]) }
        try run { try fixture.add("Country", ["code": "NO", "area": 1.0]) }
        let norway = try fixture.store.history(of: 0, key: [.text("NO")])
        #expect(
            norway.events.map { "\($0.run) \($0.change.kind) \($0.change.columns.map(\.name))" } == [
                #"3 updated ["area"]"#, #"2 updated ["name"]"#, "1 loaded []",
            ])
        let sweden = try fixture.store.history(of: 0, key: [.text("SE")])
        #expect(sweden.events.map(\.run) == [2], "the load was before it")
        let nobody = try fixture.store.history(of: 0, key: [.text("XX")])
        #expect(nobody.values == nil && nobody.groups.isEmpty)
    }

    // MARK: status

    @Test func `the status counts what there is`() throws {
        let place = ScanProgress(cursor: "c", page: 4, request: "r")
        try run {
            try fixture.add("City", ["id": 1, "country": "NO"], ["id": "x"], progress: place)
            try fixture.add("Country", ["code": "SE"])
        }
        let status = try fixture.store.status()
        #expect(
            status.map { "\($0.name) \($0.rows) \($0.stubs) \($0.quarantined) \($0.lastRun ?? 0)" } == [
                "Country 1 1 0 1", "City 1 0 1 1", "Language 0 0 0 0",
            ])
        #expect(status[1].interrupted?.page == 4 && status[1].interrupted?.isFresh == true)
        #expect(status[0].interrupted == nil)
        #expect(try fixture.store.stubs(of: "Country") == [#"["NO"]"#])
    }

    @Test func `a position that was saved in the future is not resumed`() throws {
        try fixture.add("City", ["id": 1], progress: ScanProgress(cursor: "c", page: 4, request: "r"))
        for (pause, isFresh) in [(60, true), (86_400, false)] as [(Int64, Bool)] {
            let saved = Clock.text(after: .seconds(pause))
            try fixture.file().rows("UPDATE bmo_progress SET saved = '\(saved)'")
            let position = try fixture.store.progress(of: ScanScope(entity: "City"))
            #expect((position != nil) == isFresh)
            #expect(try fixture.store.status()[1].interrupted?.isFresh == isFresh)
        }
    }

    // MARK: rehearsal

    @Test func `a rehearsal leaves the file as it is`() throws {
        try run { try fixture.add("Country", ["code": "NO", "name": "a"]) }
        try fixture.store.close()
        let before = try FileBytes(fixture.path)
        let store = try SQLiteStore(rehearsing: fixture.path, model: fixture.model)
        func page(_ records: Literal..., ends: Bool = true) throws {
            let page = try PageImport(
                0, of: fixture.model, from: PageImport.Origin(bridge: "remote", page: 1), into: store)
            try page.add(try Literal.batch(records), location: nil)
            if ends { try page.commit(progress: nil) } else { page.rollback() }
        }
        try store.beginRun(kind: "sync")
        try page(["code": "NO", "name": "b"], ["code": "SE"])
        try page(["code": "DK"], ends: false)
        let run = try #require(try store.endRun(outcome: "finished", summary: nil, always: false))
        var seen: [String] = []
        try store.changes(of: run) { seen.append("\($0.key.map(\.literal).joined()) \($0.kind)") }
        #expect(seen == ["'NO' updated", "'SE' inserted"])
        try store.close()
        #expect(try FileBytes(fixture.path) == before)
    }

    @Test func `a rehearsal makes no file`() throws {
        let path = fixture.folder.appending("none.sqlite")
        let store = try SQLiteStore(rehearsing: path, model: fixture.model)
        try store.beginRun(kind: "sync")
        let page = try PageImport(
            0, of: fixture.model, from: PageImport.Origin(bridge: "remote", page: 1), into: store)
        try page.add(try Literal.batch([["code": "NO"]]), location: nil)
        try page.commit(progress: ScanProgress(cursor: "c", page: 1, request: "r"))
        #expect(try store.progress(of: ScanScope(entity: "Country"))?.cursor == "c", "it sees what it wrote")
        #expect(try store.endRun(outcome: "finished", summary: nil, always: false) == 1)
        try store.close()
        #expect(throws: SQLiteFile.Refusal.self) { try SQLiteFile(path) }
    }
}
