import Foundation
import Glibc
import ImportTestSupport
import TestSupport
import Testing

extension EndToEndTests {
    @Suite struct KillTests {
        /// BMO_TEST_KILLS=200 kills as often as that.
        private static let kills = ProcessInfo.processInfo.environment["BMO_TEST_KILLS"].flatMap { Int($0) } ?? 60

        @Test func `a sync that is killed at any instant and run again brings the rows of one that was not`()
            async throws
        {
            let place = try PagedWorkspace()
            let start = ContinuousClock.now
            let cleanRun = try await place.sync("clean.sqlite").finish()
            // How long to wait at most: it follows the machine, which may be busier now than later.
            var window = ContinuousClock.now - start
            try #require(cleanRun.exitCode == 0, "\(cleanRun)")
            let clean = try place.contents(of: "clean.sqlite")
            #expect(clean.count > 2 * PagedWorkspace.people)

            let seed = UInt64.random(in: 0...UInt64.max)
            var random = SplitMix64(seed: seed)
            var killed = 0
            var lives = 0
            var resumed = 0
            while killed < Self.kills {
                let run = try place.sync("killed.sqlite")
                try await Task.sleep(for: window * Double.random(in: 0..<1, using: &random))
                run.signal(SIGKILL)
                let ended = try await run.finish()
                killed += ended.signal == SIGKILL ? 1 : 0
                // Some come to their end.
                window = window * (ended.signal == SIGKILL ? 1.1 : 0.7)
                resumed += ended.allOutput.contains("continuing after page") ? 1 : 0
                let what: Comment = "seed \(seed), kill \(killed): \(ended)"
                try #require(ended.signal == SIGKILL || ended.exitCode == 0, what)
                guard place.isThere("killed.sqlite") else { continue }
                try #require(try place.faults(of: "killed.sqlite").isEmpty, what)
                // What is in is what a clean run brings, or waits as a stub for what is to come.
                guard ended.exitCode == 0 else { continue }
                let rows = try place.contents(of: "killed.sqlite")
                try #require(rows == clean, "\(what.rawValue): \(Self.difference(rows, clean))")
                place.remove("killed.sqlite")
                lives += 1
            }
            let last = try await place.sync("killed.sqlite").finish()
            #expect(last.exitCode == 0, "seed \(seed): \(last)")
            #expect(try place.contents(of: "killed.sqlite") == clean, "seed \(seed)")
            #expect(resumed > 0, "seed \(seed): no sync went on after a page: the kills came too early, or too late")
            #expect(lives < killed * 10, "seed \(seed): hardly any sync was killed")
        }

        @Test func `a sync that is killed while it deletes and run again deletes what one that was not would`()
            async throws
        {
            let place = try PagedWorkspace()
            try #require(try await place.sync("before.sqlite").finish().exitCode == 0)
            try place.write(without: { $0.isMultiple(of: 11) || $0 % 60 == 59 }, change: { $0.isMultiple(of: 13) })
            try place.copy("before.sqlite", to: "clean.sqlite")
            let start = ContinuousClock.now
            let cleanRun = try await place.sync("clean.sqlite").finish()
            let whole = ContinuousClock.now - start
            try #require(cleanRun.exitCode == 0, "\(cleanRun)")
            let clean = try place.contents(of: "clean.sqlite")
            #expect(cleanRun.allOutput.contains("63 deleted"), "\(cleanRun)")

            let seed = UInt64.random(in: 0...UInt64.max)
            var random = SplitMix64(seed: seed)
            var killed = 0
            var resumed = 0
            while killed < Self.kills / 2 {
                try place.copy("before.sqlite", to: "killed.sqlite")
                var isOver = false
                while !isOver {
                    let run = try place.sync("killed.sqlite")
                    try await Task.sleep(for: whole * Double.random(in: 0..<1.2, using: &random))
                    run.signal(SIGKILL)
                    let ended = try await run.finish()
                    killed += ended.signal == SIGKILL ? 1 : 0
                    resumed += ended.allOutput.contains("continuing after page") ? 1 : 0
                    let what: Comment = "seed \(seed), kill \(killed): \(ended)"
                    try #require(ended.signal == SIGKILL || ended.exitCode == 0, what)
                    try #require(try place.faults(of: "killed.sqlite").isEmpty, what)
                    isOver = ended.exitCode == 0
                    guard isOver else { continue }
                    let rows = try place.contents(of: "killed.sqlite")
                    try #require(rows == clean, "\(what.rawValue): \(Self.difference(rows, clean))")
                }
            }
            #expect(resumed > 0, "seed \(seed): no sync went on after a page: the kills came too early, or too late")
        }

        private static func difference(_ rows: [String], _ clean: [String]) -> String {
            rows.difference(from: clean).map { change in
                switch change {
                case .insert(_, let row, _): "+ \(row)"
                case .remove(_, let row, _): "- \(row)"
                }
            }.joined(separator: "\n")
        }
    }
}

/// Pages of people and teams on a real server of static files, and the command that brings them.
final class PagedWorkspace: TestWorkspace {
    static let people = 600
    private static let page = 30

    let folder: TemporaryFolder
    private let server: RemoteServer

    init() throws {
        folder = try TemporaryFolder()
        let files = folder.appending("files")
        for name in ["people", "teams"] {
            try FileManager.default.createDirectory(atPath: "\(files)/\(name)", withIntermediateDirectories: true)
        }
        server = try RemoteServer(blocking: ["python3", "-u", "-B", RemoteServer.script("files.py"), files])
        try write(without: { _ in false }, change: { _ in false })
    }

    /// Writes the pages, without some people and with another name for some.
    func write(without isGone: (Int) -> Bool, change isOther: (Int) -> Bool) throws {
        for (name, count, record) in [("people", Self.people, Self.person), ("teams", 60, Self.team)] {
            let isPeople = name == "people"
            let pages = (count + Self.page - 1) / Self.page
            for number in 1...pages {
                let items = ((number - 1) * Self.page..<min(count, number * Self.page))
                    .filter { !isPeople || !isGone($0) }
                    .map { isPeople && isOther($0) ? record($0).replacing("person", with: "other") : record($0) }
                let next = number < pages ? "\"/\(name)/\(number + 1).json\"" : "null"
                try "{\"items\": [\(items.joined(separator: ",\n"))], \"next\": \(next)}"
                    .write(
                        toFile: folder.appending("files/\(name)/\(number).json"), atomically: true, encoding: .utf8)
            }
        }
    }

    func copy(_ database: String, to other: String) throws {
        remove(other)
        try FileManager.default.copyItem(atPath: folder.appending(database), toPath: folder.appending(other))
    }

    /// Teams are nested, bare, and ahead of their own listing; badges belong to two people; some records are bad.
    private static func person(_ number: Int) -> String {
        let team =
            number.isMultiple(of: 3) ? "{\"id\": \(number % 60), \"name\": \"team \(number % 60)\"}" : "\(number % 60)"
        let badges = (0..<number % 4).map { "\"b\((number + $0) % 90)\"" }.joined(separator: ",")
        let age = number.isMultiple(of: 97) ? "\"old\"" : "\(number % 90)"
        return "{\"id\": \(number), \"name\": \"person \(number)\", \"age\": \(age), \"team\": \(team), "
            + "\"badges\": [\(badges)], \"boss\": \(number * 7 % people)}"
    }

    private static func team(_ number: Int) -> String { "{\"id\": \(number), \"name\": \"team \(number)\"}" }

    /// Starts the command on a database.
    ///
    /// - Parameter location: The database if it is not the file `database`.
    func sync(_ database: String, location: String? = nil) throws -> RunningProcess {
        let name = database.replacing(".sqlite", with: ".yml")
        try folder.write(
            """
            version: 1
            database: \(location ?? database)
            bridges: {api: {plugin: rest, options: {url: "\(server.url)"}}}
            entities:
              Person:
                bridge: api
                key: id
                attributes: {id: integer, name: text, age: integer}
                relationships: {team: {to: Team}, boss: {to: Person}, badges: {many: Badge}}
                rest: {path: /people/1.json, records: $.items, paging: {style: next_url, path: $.next}}
              Team:
                bridge: api
                key: id
                attributes: {id: integer, name: text}
                relationships: {members: {many: Person, inverse: team}}
                rest: {path: /teams/1.json, records: $.items, paging: {style: next_url, path: $.next}}
              Badge:
                bridge: api
                key: code
                attributes: {code: text}
                rest: {path: /teams/1.json, records: $.badges}
            """, to: name)
        return try start(["sync", "Person", "Team", "-f", name])
    }

    func isThere(_ database: String) -> Bool {
        FileManager.default.fileExists(atPath: folder.appending(database))
            && ((try? SQLiteFile(folder.appending(database)).value("SELECT count(*) FROM sqlite_schema")) ?? "0") != "0"
    }

    func remove(_ database: String) {
        for suffix in ["", "-wal", "-shm", "-lock"] {
            try? FileManager.default.removeItem(atPath: folder.appending(database + suffix))
        }
    }

    func faults(of database: String) throws -> [String] { try SQLiteFile(folder.appending(database)).faults() }

    /// All rows of all entities, links, stubs, and what is in quarantine or on its way.
    func contents(of database: String) throws -> [String] {
        let file = try SQLiteFile(folder.appending(database))
        return try [
            "Person", "Team", "Badge", "Person_badges", "bmo_stubs", "bmo_progress",
            "(SELECT entity, page, record, reason, representation FROM bmo_quarantine)",
        ].flatMap { table in
            try file.rows("SELECT * FROM \(table)").map { "\(table.prefix(16)): " + $0.joined(separator: " | ") }
                .sorted()
        }
    }
}
