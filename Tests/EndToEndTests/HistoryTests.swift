import Foundation
import ImportTestSupport
import TestSupport
import Testing

extension EndToEndTests {
    /// What runs changed, shown and taken back by the built command.
    @Suite struct HistoryTests {
        private static let before = (
            countries: """
            [{"code": "NO", "name": "Norway", "cities": [{"id": 1, "name": "Oslo"}, 2], "languages": ["nb", "nn"]},
             {"code": "SE", "name": "Sweden", "eu": true}]
            """,
            cities: #"[{"id": 3, "name": "Stockholm", "country": "SE"}, {"id": 4, "country": "DK"}]"#
        )
        private static let after = """
            [{"code": "NO", "name": "Norge", "area": 385.2, "cities": [{"id": 1, "name": "Oslo"}], "languages": ["nn"]},
             {"code": "SE", "name": null, "eu": false}, {"code": "FI", "name": "", "cities": [7]}]
            """

        @Test func `diff shows what a run changed, undo takes it back, and undoing that brings it again`() async throws
        {
            let site = try await RemoteWorkspace.site()
            try site.publish(countries: Self.before.countries, cities: Self.before.cities)
            try await site.expectSuccess("sync")
            let first = try await site.tables()
            #expect(
                try await site.expectSuccess("diff").words.dropFirst(2) == [
                    "City loaded the first rows; 4 now", "Country loaded the first rows; 3 now",
                    "Language loaded the first rows; 2 now", "3 rows: 3 loaded",
                ])

            try site.publish(countries: Self.after, cities: Self.before.cities)
            try await site.expectSuccess("sync", "Country")
            let second = try await site.tables()
            let lines = try await site.expectSuccess("diff").words.dropFirst()
            #expect(
                lines == [
                    "entity key change column old new", #"City 2 deleted id: 2, country: "NO" ->"#,
                    #"City 7 stubbed -> id: 7, country: "FI""#, #"Country FI inserted -> code: "FI", name: """#,
                    #"Country NO updated name "Norway" -> "Norge""#, "area null -> 385.2",
                    #"languages ["nb", "nn"] -> ["nn"]"#, #"Country SE updated name "Sweden" -> null"#,
                    "eu true -> false", #"Language nb stubbed code: "nb" ->"#,
                    "6 rows: 1 deleted, 2 stubbed, 1 inserted, 2 updated",
                ])
            let json = try await site.expectSuccess("diff", "2", "--entity", "Country", "--json")
            let changes = try #require(
                JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]], "\(json)")
            #expect(changes.count == 3)
            let columns = try #require(changes[2]["columns"] as? [String: [String: Any]])
            #expect(columns["eu"]?["old"] as? Bool == true && columns["eu"]?["new"] as? Bool == false)
            #expect(columns["name"]?["new"] is NSNull)

            // A rehearsal that fails once crashed at its end, in one of six runs.
            for _ in 1...20 {
                let missing = try await site.bmo("undo", "99", "--dry-run", "--json")
                #expect(missing.exitCode == 2 && missing.errorOutput.contains("there is no run 99"), "\(missing)")
            }
            let preview = try await site.expectSuccess("undo", "2", "--dry-run")
            #expect(preview.words.last == "dry run: nothing was written")
            #expect(try await site.tables() == second)
            #expect(
                try await site.expectSuccess("undo", "2").words.last
                    == "run 2 is undone by run 3; `bmo undo 3` reverts that")
            #expect(try await site.tables() == first)
            try await site.expectSuccess("undo", "3")
            #expect(try await site.tables() == second)
            #expect(
                try await site.expectSuccess("runs", "--limit", "3").words.dropFirst().map {
                    String($0.split(separator: " ").filter { !$0.contains("T") }.joined(separator: " "))
                } == [
                    "4 undo of 3 finished 1 inserted, 3 updated, 1 relinked, 3 stubbed",
                    "3 undo of 2 finished 1 deleted, 3 updated, 1 relinked, 3 stubbed".replacing(
                        "1 deleted, 3 updated", with: "3 updated, 1 deleted"),
                    "2 sync finished 1 inserted, 3 updated, 1 relinked, 3 stubbed", "3 runs",
                ])
            // The remote was not touched: a sync brings what it has.
            try await site.expectSuccess("undo", "4")
            try await site.expectSuccess("sync", "Country")
            #expect(try await site.tables() == second)
        }

        @Test func `an undo is refused with the rows that changed since`() async throws {
            let site = try await RemoteWorkspace.site()
            try site.publish(countries: Self.before.countries)
            try await site.expectSuccess("sync", "Country")
            try site.publish(countries: #"[{"code": "NO", "name": "a"}, {"code": "SE", "name": "b"}]"#)
            try await site.expectSuccess("sync", "Country")
            try site.publish(countries: #"[{"code": "NO", "name": "c"}, {"code": "SE", "name": "b"}]"#)
            try await site.expectSuccess("sync", "Country")
            let tables = try await site.tables()
            let refused = try await site.bmo("undo", "2")
            #expect(refused.exitCode == 1)
            #expect(
                refused.errorOutput == """
                    bmo: error: run 2 is not undone: 1 of its rows has changed since; nothing was written
                      Country ["NO"]: run 3 changed it later (updated)

                    """)
            #expect(try await site.tables() == tables)
            let unknown = try await site.bmo("undo", "77")
            #expect(unknown.exitCode == 2 && unknown.errorOutput.contains("there is no run 77"), "\(unknown)")
        }

        @Test func `a dry run shows what a sync would change and writes not one byte`() async throws {
            let site = try await RemoteWorkspace.site()
            try site.publish(countries: Self.before.countries, cities: Self.before.cities)
            let cold = try await site.expectSuccess("sync", "--dry-run")
            #expect(cold.words.contains("Country loaded the first rows; 3 now"), "\(cold)")
            #expect(cold.words.last == "dry run: nothing was written")
            #expect(try FileManager.default.contentsOfDirectory(atPath: site.folder.path) == ["bmo.yml"])

            try await site.expectSuccess("sync")
            let bytes = site.bytes()
            try site.publish(countries: Self.after, cities: Self.before.cities)
            let dry = try await site.expectSuccess("sync", "Country", "--dry-run")
            #expect(site.bytes() == bytes)
            let events = try await site.expectSuccess("sync", "Country", "--dry-run", "--json")
            #expect(site.bytes() == bytes)
            #expect(events.output.split(separator: "\n").filter { $0.hasPrefix(#"{"event":"change""#) }.count == 6)
            try await site.expectSuccess("sync", "Country")
            let diff = try await site.expectSuccess("diff")
            #expect(dry.words.starts(with: diff.words.dropFirst()), "\(dry) \(diff)")

            site.stop()
            let failed = try await site.bmo("sync", "--dry-run")
            #expect(failed.exitCode == 1, "\(failed)")
        }

        @Test func `why shows the source of each column and what each run did`() async throws {
            let site = try await RemoteWorkspace.site()
            try site.publish(countries: Self.before.countries, cities: Self.before.cities)
            try await site.expectSuccess("sync", "Country", "--quiet")
            let nested = try await site.expectSuccess("why", "City", "1")
            #expect(nested.words.first == "City 1: known only from other entities' records or other sources")
            #expect(
                nested.words.contains {
                    $0.hasPrefix("id, name, country site, in the scan of Country run 1 run 1 http")
                })
            #expect(
                try await site.expectSuccess("why", "City", "2").words.first
                    == "City 2: a stub: only referred to so far")
            try site.publish(countries: Self.before.countries, cities: #"[{"id": 1, "name": "OSLO"}, {"id": 2}]"#)
            try await site.expectSuccess("sync", "City", "--quiet")
            let listed = try await site.expectSuccess("why", "City", "1")
            #expect(listed.words.first == "City 1: listed")
            #expect(listed.words.contains { $0.hasPrefix("name site, its own listing run 2 run 2 http") }, "\(listed)")
            #expect(listed.words.contains { $0.hasPrefix("id, country site, in the scan of Country run 1 run 1 http") })
            #expect(
                listed.words.contains { $0.hasPrefix("2 sync 20") && $0.hasSuffix(#"updated name "Oslo" -> "OSLO""#) })
            let json = try await site.expectSuccess("why", "City", "1", "--json")
            let object = try #require(JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
            #expect(object["listed"] as? Bool == true && (object["sources"] as? [Any])?.count == 2, "\(json)")
            let nobody = try await site.bmo("why", "City", "99")
            #expect(nobody.exitCode == 1 && nobody.errorOutput.contains("there is no City 99"), "\(nobody)")
        }

        @Test(arguments: ["hard", "soft"])
        func `rows that a listing lacked come back when its run is undone`(deletes: String) async throws {
            let site = try await RemoteWorkspace.site()
            try site.configure(deletes: deletes)
            try site.publish(countries: Self.before.countries, cities: Self.before.cities)
            try await site.expectSuccess("sync")
            try await site.expectSuccess("sync")
            let before = try await site.tables()
            try site.publish(countries: #"[{"code": "NO"}]"#, cities: #"[{"id": 3, "country": "SE"}]"#)
            try await site.expectSuccess("sync")
            let diff = try await site.expectSuccess("diff")
            #expect(diff.words.contains { $0.hasPrefix("City 4 deleted") }, "\(diff)")
            let gone = deletes == "hard" ? "Country SE stubbed" : "Country SE deleted"
            #expect(diff.words.contains { $0.hasPrefix(gone) }, "City 3 still refers to it: \(diff)")
            let after = try await site.tables()
            let run = try #require(diff.words.first?.split(separator: ",").first?.split(separator: " ").last)
            try await site.expectSuccess("undo", String(run))
            #expect(try await site.tables() == before)
            let undo = try await site.query("SELECT max(id) FROM bmo_runs").filter(\.isNumber)
            try await site.expectSuccess("undo", undo)
            #expect(try await site.tables() == after)
        }

        @Test func `what is in quarantine is imported again when the config lets it`() async throws {
            let site = try await RemoteWorkspace.site()
            try site.publish(
                countries:
                    #"[{"code": "NO", "area": "big"}, {"code": "SE", "area": 1}, {"code": "DK", "area": "wide"}, 7]"#)
            try await site.expectSuccess("sync", "Country")
            try site.configure(area: "{type: real, transform: {map: {big: 9.5}}}")
            site.stop()
            let retry = try await site.expectSuccess("quarantine", "retry")
            #expect(retry.words.last == "1 record fits now, run 2; 2 in quarantine", "\(retry)")
            #expect(retry.words.contains { $0.contains(#"stays: Country.area: "#) && $0.contains("wide") }, "\(retry)")
            #expect(try await site.query("SELECT code, area FROM Country ORDER BY 1") == "NO|9.5\nSE|1.0")
            #expect(try await site.expectSuccess("quarantine").words.last == "2 records in quarantine")
            let diff = try await site.expectSuccess("diff")
            #expect(diff.words.contains(#"Country NO inserted -> code: "NO", area: 9.5"#), "\(diff)")
            #expect(try await site.expectSuccess("why", "Country", "DK").output.contains("in quarantine since"))
            try await site.expectSuccess("undo", "2")
            #expect(try await site.query("SELECT count(*) FROM Country") == "1")
        }

        @Test func `a sync reports the records that are still in quarantine at its end`() async throws {
            let site = try await RemoteWorkspace.site()
            let norway = #"{"code": "NO", "area": "big"}, {"code": "NO", "area": 1}"#
            try site.publish(countries: #"[\#(norway), {"code": "SE", "area": "wide"}]"#)
            let first = try await site.expectSuccess("sync", "Country")
            #expect(first.errorOutput.contains("Country: 1 record is in quarantine; "), "\(first)")
            try site.publish(countries: "[\(norway)]")
            let second = try await site.expectSuccess("sync", "Country")
            #expect(!second.errorOutput.contains("in quarantine"), "\(second)")
            #expect(try await site.expectSuccess("quarantine").words.last == "0 records in quarantine")
        }

        @Test func `what an index of the user's refuses stays in quarantine until that goes`() async throws {
            let site = try await RemoteWorkspace.site()
            try site.publish(countries: #"[{"code": "NO", "name": "Norway"}]"#)
            try await site.expectSuccess("sync", "Country")
            try SQLiteFile(site.database).rows("CREATE UNIQUE INDEX mine ON Country (name)")
            try SQLiteFile(site.database).rows("ALTER TABLE Country ADD COLUMN note TEXT")
            try site.publish(countries: #"[{"code": "NO", "name": "Norway"}, {"code": "N2", "name": "Norway"}]"#)
            try await site.expectSuccess("sync", "Country")
            try await site.expectSuccess("sync", "Country")
            let retry = try await site.expectSuccess("quarantine", "retry")
            #expect(retry.words.last == "0 records fit now; 1 in quarantine", "\(retry)")
            #expect(
                retry.words.contains {
                    $0.contains(
                        "stays: Country N2: the database's own constraint on Country.name: another row has the same")
                }, "\(retry)")
            try SQLiteFile(site.database).rows("DROP INDEX mine")
            let again = try await site.expectSuccess("quarantine", "retry")
            #expect(again.words.last?.hasPrefix("1 record fits now") == true, "\(again)")
            #expect(try await site.query("SELECT code FROM Country ORDER BY 1") == "N2\nNO")

            try site.publish(countries: #"[{"code": "NO", "name": "Norway"}]"#)
            try await site.expectSuccess("sync", "Country")
            let run = try await site.query("SELECT max(id) FROM bmo_runs").trimmingCharacters(
                in: .whitespacesAndNewlines)
            let undo = try await site.bmo("undo", run)
            #expect(undo.exitCode == 0, "\(undo)")
            #expect(
                undo.errorOutput.contains(
                    "warning: Country.note: bmo did not create this column and does not know the values: they are empty "
                        + "in the rows that the undo restores"), "\(undo)")
        }

        @Test func `the status counts rows, stubs, records in quarantine and runs`() async throws {
            let site = try await RemoteWorkspace.site()
            try site.publish(countries: Self.before.countries, cities: #"[{"id": 3, "country": "DK"}, {"id": "x"}]"#)
            try await site.expectSuccess("sync", "--quiet")
            let status = try await site.expectSuccess("status", "--stubs")
            #expect(status.words[1].hasPrefix("last run 1, sync, 20") && status.words[1].hasSuffix(", finished"))
            #expect(status.words.contains { $0.hasPrefix("Country 2 1 0 1 20") }, "\(status)")
            #expect(status.words.contains { $0.hasPrefix("City 2 1 1 1 20") }, "\(status)")
            #expect(
                status.words.suffix(4) == [
                    #"stub Country ["DK"]"#, "stub City [2]", #"stub Language ["nb"]"#, #"stub Language ["nn"]"#,
                ])
            let json = try await site.expectSuccess("status", "--json")
            let object = try #require(JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any])
            #expect((object["entities"] as? [[String: Any]])?.map { $0["stubs"] as? Int } == [1, 1, 2], "\(json)")
        }

        @Test func `runs that are older than the config says are forgotten`() async throws {
            let site = try await RemoteWorkspace.site()
            try site.configure(more: "history: {keep: 2 runs}")
            for number in 1...4 {
                try site.publish(countries: #"[{"code": "NO", "area": \#(number)}]"#)
                try await site.expectSuccess("sync", "Country", "--quiet")
            }
            #expect(try await site.query("SELECT id FROM bmo_runs") == "3\n4")
            #expect(try await site.query("SELECT DISTINCT run FROM bmo_changes") == "3\n4")
        }

        @Test func `a killed run is reported, and can be undone`() async throws {
            let workplace = try await RemoteWorkspace.demo(countryPage: 20)
            try workplace.server.misbehave("delay 300")
            let sync = try workplace.start(["sync", "Country"])
            try await eventually("pages of countries are committed") { try await workplace.count("Country") ?? 0 > 20 }
            sync.signal(SIGKILL)
            _ = try await sync.finish()
            let kept = try #require(try await workplace.count("Country"))

            let stopped = try await workplace.bmo("status")
            stopped.expectMessages(
                "last run 1, sync", "killed", "Country: a scan stopped after page", "the next sync continues there")
            try workplace.server.misbehave()
            let next = try await workplace.bmo("sync", "Country")
            #expect(next.exitCode == 0, "\(next)")
            try await workplace.expectRows(of: "Country")
            let runs = try await workplace.bmo("runs")
            #expect(runs.words[1].contains(" finished \(249 - kept) inserted"), "\(runs)")
            #expect(runs.words[2].contains(" killed 1 loaded"), "\(runs)")

            let undo = try await workplace.bmo("undo", "1")
            #expect(undo.exitCode == 0, "\(undo)")
            #expect(try await workplace.count("Country") == 249 - kept, "the rows of the second run stay")
            let second = try await workplace.bmo("undo", "2")
            #expect(second.exitCode == 0, "\(second)")
            #expect(try await workplace.count("Country") == 0)
            let again = try await workplace.bmo("sync", "Country")
            #expect(again.exitCode == 0, "\(again)")
            try await workplace.expectRows(of: "Country")
        }

        @Test func `an interrupted dry run leaves nothing`() async throws {
            let workplace = try await RemoteWorkspace.demo(countryPage: 20)
            try workplace.server.misbehave("delay 300")
            let sync = try workplace.start(["sync", "Country", "--dry-run"])
            try await eventually("it has begun") { sync.errorOutput.contains("Country") }
            sync.signal(SIGINT)
            let ended = try await sync.finish(within: .seconds(20))
            #expect(ended.exitCode == 130, "\(ended)")
            #expect(ended.errorOutput.contains("interrupted; nothing was written"), "\(ended)")
            #expect(!FileManager.default.fileExists(atPath: workplace.database))
        }
    }
}
