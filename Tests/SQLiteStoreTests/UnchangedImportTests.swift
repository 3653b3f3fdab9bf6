import ImportTestSupport
import Importer
import StoreContract
import Mapping
import Model
import SQLiteStore
import StoreTestSupport
import Testing
import TestSupport

/// An import that changes nothing writes nothing: not a byte of the log, and no watcher wakes.
@Suite struct UnchangedImportTests {
    private let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture(
            CompiledModel.of(
                Entity(
                    "Country", key: ["code"],
                    [
                        .of("code", .text), .of("name", .text), .of("area", .real), .of("extra", .json),
                        .of("flag", .data),
                        .of("founded", .timestamp),
                    ],
                    [.many("cities", "City", inverse: "country"), .many("languages", "Language")]),
                Entity("City", key: ["id"], [.of("id", .integer)], [.one("country", "Country"), .one("twin", "City")]),
                Entity(
                    "Language", key: ["code"], [.of("code", .text)],
                    [.many("countries", "Country", inverse: "languages")])
            ))
    }

    private static func record(_ number: Int) -> Literal {
        let city: Literal = ["id": .integer(Int64(number)), "twin": .integer(Int64(number + 1))]
        let bareCity = Literal.integer(Int64(number + 10_000))
        let bareLanguage = Literal.text("l\(number % 7)")
        let language: Literal = ["code": .text("l\(number % 7 + 1)")]
        return [
            "code": .text("c\(number)"), "name": .text("Country \(number)"), "area": .double(Double(number) / 3),
            "extra": ["a": [1, nil]], "flag": .bytes([0, 1]), "founded": .timestamp(microseconds: Int64(number)),
            "cities": .array([city, bareCity]), "languages": .array([bareLanguage, language]),
        ]
    }

    private func importAll(_ records: [Literal]) throws -> [ImportCounts.Entity] {
        var counts: [ImportCounts.Entity] = []
        for number in 1...3 {
            let page = try fixture.begin("Country", page: number)
            try page.add(try Literal.batch(records), location: "page \(number)")
            let progress = number < 3 ? ScanProgress(cursor: "\(number)", page: number, request: "r") : nil
            try page.commit(progress: progress)
            counts.append(page.counts[0])
        }
        return counts
    }

    @Test func `the files stay as they are`() throws {
        let records = (0..<200).map(Self.record)
        _ = try importAll(records)
        let watcher = try fixture.file()
        let version = try watcher.value("PRAGMA data_version")
        let before = try FileBytes(fixture.path)
        #expect(before.log != nil)
        let counts = try importAll(records)
        #expect(counts.map(\.unchanged) == [200, 200, 200])
        #expect(counts.nonEmptyAllSatisfy { $0.inserted + $0.updated + $0.stubs + $0.relinked == 0 })
        #expect(try FileBytes(fixture.path) == before, "not a byte is written")
        #expect(try watcher.value("PRAGMA data_version") == version, "no watcher wakes")
        #expect(try watcher.faults().isEmpty)
        try fixture.store.releaseQuarantine(of: "Country", notSeenSince: "9999")
        #expect(try FileBytes(fixture.path) == before, "nor by what follows a whole scan")
    }

    @Test func `one changed row writes little`() throws {
        try fixture.add("Country", ["code": "NO", "name": "Norway"], ["code": "SE"])
        let file = try fixture.file()
        try file.rows("CREATE TABLE seen (code)")
        try file.rows("CREATE TRIGGER watch AFTER UPDATE ON Country BEGIN INSERT INTO seen VALUES (new.code); END")
        try fixture.add("Country", ["code": "NO", "name": "Norge"], ["code": "SE", "name": nil])
        #expect(try file.table("seen") == "code\n'NO'")
    }

    @Test func `a column that did not change is not written`() throws {
        try fixture.add("Country", ["code": "NO", "name": "Norway", "area": 1.5])
        let file = try fixture.file()
        try file.rows("CREATE TABLE seen (what)")
        try file.rows(
            "CREATE TRIGGER area AFTER UPDATE OF area ON Country BEGIN INSERT INTO seen VALUES ('area'); END")
        try file.rows(
            "CREATE TRIGGER name AFTER UPDATE OF name ON Country BEGIN INSERT INTO seen VALUES ('name'); END")
        try fixture.add("Country", ["code": "NO", "name": "Norge", "area": 1.5])
        #expect(try file.table("seen") == "what\n'name'")
    }
}
