import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEndTests {
    /// Scans that ask for less: `order: newest_first` and `parent: {changed: true}`.
    @Suite struct LeanScanTests {
        private typealias Place = RemoteWorkspace<RemoteServer>

        private func place(_ incremental: String = "incremental: {field: updated, order: newest_first}") async throws
            -> Place
        {
            let place = try await Place("newest-issues.py")
            try place.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(place.url)", limits: {concurrency: 1}}}}
                entities:
                  Issue:
                    bridge: api
                    key: id
                    attributes: {id: integer, updated: timestamp, title: text}
                    \(incremental)
                    rest: {path: /issues, records: $.items, paging: {style: page, has_more: $.more}}
                  Comment:
                    bridge: api
                    key: id
                    attributes: {id: integer, text: text}
                    relationships: {issue: {to: Issue}}
                    parent: {relationship: issue, changed: true, concurrency: 1}
                    rest: {path: /comments, query: {issue: "{parent.id}"}, paging: none}

                """, to: "bmo.yml")
            try write((1...20).map { ($0, day($0)) }, to: place)
            return place
        }

        private func day(_ number: Int) -> String { "2026-03-\(number < 10 ? "0" : "")\(number)T00:00:00Z" }

        private func read(_ name: String, of place: Place) -> String {
            (try? String(contentsOfFile: place.folder.appending(name), encoding: .utf8)) ?? ""
        }

        private func write(_ issues: [(Int, String)], title: String = "old", to place: Place) throws {
            let known = read("issues", of: place)
            var lines: [String: String] = [:]
            for line in known.split(separator: "\n") { lines[String(line.prefix { $0 != " " })] = String(line) }
            for (id, updated) in issues { lines["\(id)"] = "\(id) \(updated) \(title)" }
            try place.folder.write(lines.values.joined(separator: "\n"), to: "issues")
        }

        /// What was asked since the last call.
        private func asked(_ place: Place, _ kind: String) throws -> [String] {
            let lines = read("asked", of: place)
            try place.folder.write("", to: "asked")
            return lines.split(separator: "\n").filter { $0.hasPrefix(kind) }.map {
                String($0.split(separator: " ")[1])
            }
        }

        /// The number of pages that are asked for at most before the one that ends the scan was looked at: while it is
        /// imported, the host receives the next page and asks for the one after, and the bridge asks for one more.
        private static let ahead = 3

        private func lastPage(_ asked: [String]) throws -> Int { try #require(asked.compactMap { Int($0) }.max()) }

        private func newest(_ place: Place) async throws -> String {
            try await place.query("SELECT newest_remote FROM bmo_cursors WHERE entity = 'Issue'")
        }

        @Test func `a scan of the newest first ends behind the known records of the same time`() async throws {
            let place = try await place()
            try await place.expectSuccess("sync", "Issue")
            #expect(try lastPage(asked(place, "issues")) >= 10)
            #expect(try await newest(place) == day(20))
            // Of the new ones two have the newest known time, and come behind the known one.
            try write([(1, day(20)), (2, day(20)), (30, day(25))], title: "new", to: place)
            let plan = try await place.expectSuccess("plan", "Issue")
            #expect(
                plan.output.contains("the newest first, until all that follow are older than 2026-03-20T"), "\(plan)")
            try await place.expectSuccess("sync", "Issue")
            #expect(try lastPage(asked(place, "issues")) <= 3 + Self.ahead)
            #expect(
                try await place.query(
                    "SELECT group_concat(id, ' ') FROM (SELECT id FROM Issue WHERE title = 'new' ORDER BY id)")
                    == "1 2 30")
            #expect(try await newest(place) == day(25))
            // Nothing is missing from a listing that was not read to its end.
            #expect(try await place.query("SELECT count(*) FROM Issue") == "21")
            let full = try await place.expectSuccess("sync", "Issue", "--full")
            #expect(try lastPage(asked(place, "issues")) >= 11, "\(full)")
        }

        @Test func `a record that moved up while the pages were read is found by looking again`() async throws {
            let place = try await place()
            try await place.expectSuccess("sync", "Issue")
            try write((21...26).map { ($0, day($0)) }, title: "new", to: place)
            // While page 2 is asked for, an issue of page 1 is removed: the first one of page 2 moves to page 1.
            try place.folder.write("2 26", to: "drop")
            try await place.expectSuccess("sync", "Issue")
            #expect(try await place.query("SELECT count(*) FROM Issue WHERE id IN (21, 22, 23, 24, 25)") == "5")
            #expect(!FileManager.default.fileExists(atPath: place.folder.appending("drop")))
        }

        @Test func `a scan that was interrupted leaves the watermark where it was`() async throws {
            let place = try await place()
            try await place.expectSuccess("sync", "Issue")
            #expect(try lastPage(asked(place, "issues")) >= 10)
            try write((21...30).map { ($0, day($0)) }, title: "new", to: place)
            try place.folder.write("3", to: "broken")
            let broken = try await place.bmo("sync", "Issue")
            #expect(broken.exitCode == 1, "\(broken)")
            #expect(try await newest(place) == day(20))
            #expect(try await place.query("SELECT count(*) FROM Issue WHERE title = 'new'") == "4")
            // What comes meanwhile is on pages before the place where the scan goes on.
            try write([(31, day(31))], title: "new", to: place)
            try FileManager.default.removeItem(atPath: place.folder.appending("broken"))
            try await place.expectSuccess("sync", "Issue")
            #expect(try await place.query("SELECT count(*) FROM Issue WHERE title = 'new'") == "11")
            #expect(try lastPage(asked(place, "issues")) <= 7 + Self.ahead)
        }

        @Test func `a listing in another order is read to its end, with a warning`() async throws {
            let place = try await place()
            try place.folder.write("oldest", to: "order")
            try await place.expectSuccess("sync", "Issue")
            try write([(21, day(21))], title: "new", to: place)
            let run = try await place.expectSuccess("sync", "Issue")
            run.expectMessages("the records are not in order, the newest `updated` first")
            #expect(try await place.query("SELECT title FROM Issue WHERE id = 21") == "new")
        }

        @Test func `what cannot end at what is known, and a tree of changed parents, are faults`() async throws {
            let place = try await place()
            try place.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(place.url)"}}}
                entities:
                  Issue:
                    bridge: api
                    key: id
                    attributes: {id: integer, updated: timestamp}
                    incremental: {field: updated, order: newest_first}
                    rest: {path: "/{kind}", each: {kind: [issues, others]}}
                  Folder:
                    bridge: api
                    key: id
                    attributes: {id: integer}
                    relationships: {up: {to: Folder}}
                    parent: {relationship: up, changed: true}
                    rest: {path: "/folders/{parent.id}"}
                  Note:
                    bridge: api
                    key: id
                    attributes: {id: integer}
                    full_every: 7d
                    rest: {path: /notes}

                """, to: "bmo.yml")
            let first = try await place.bmo("check")
            #expect(first.exitCode == 2, "\(first)")
            first.expectMessages(
                #""changed" of "parent" of entity "Folder", whose parents are its own objects"#,
                #""full_every" of entity "Note" without "incremental" or "changed: true" of its parent"#)
            try place.folder.write(
                String(contentsOfFile: place.folder.appending("bmo.yml"), encoding: .utf8)
                    .replacing(", changed: true", with: "").replacing("full_every: 7d", with: ""), to: "bmo.yml")
            let second = try await place.bmo("check")
            #expect(second.exitCode == 2, "\(second)")
            second.expectMessages("each, split and since.window make several listings")
        }

        @Test func `a parent that changed in a sync that was killed is scanned by the next one`() async throws {
            let place = try await place()
            try place.folder.write("100 3 first", to: "comments")
            try await place.expectSuccess("sync")
            #expect(try Set(asked(place, "comments")).count == 20)
            try write([(3, day(21))], title: "new", to: place)
            try place.folder.write("100 3 first\n101 3 second\n102 4 third", to: "comments")
            // A dry run leaves no trace.
            try await place.expectSuccess("sync", "--dry-run")
            #expect(try asked(place, "comments") == ["3"])
            try place.folder.write("", to: "hold")
            let killed = try place.start(["sync"])
            try await eventually("the comments are asked for") { try asked(place, "comments") == ["3"] }
            killed.signal(SIGKILL)
            _ = try await killed.finish()
            try FileManager.default.removeItem(atPath: place.folder.appending("hold"))
            #expect(try await place.query("SELECT title FROM Issue WHERE id = 3") == "new", "the parent is in")
            // The issue has its former values again, which only the killed run knows to be a change.
            try write([(3, day(3))], to: place)
            try await place.expectSuccess("sync", "--full", "Issue")
            let plan = try await place.expectSuccess("plan", "Comment")
            #expect(plan.output.contains("once for each of 20 Issue, of which 1 is due"), "\(plan)")
            try await place.expectSuccess("sync")
            #expect(try asked(place, "comments") == ["3"])
            // That of issue 4, which did not change, comes with the next full scan.
            #expect(try await place.query("SELECT group_concat(id, ' ') FROM Comment") == "100 101")
            try await place.expectSuccess("sync")
            #expect(try asked(place, "comments") == [])
        }
    }
}
