import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEndTests {
    /// `bmo watch`: the database and the remote, kept together.
    @Suite struct WatchTests {
        private func health(_ place: RemoteWorkspace<NoteServer>) -> String {
            (try? String(contentsOfFile: place.folder.appending("health.json"), encoding: .utf8)) ?? ""
        }

        @Test func `an entity that fails does not slow the others`() async throws {
            let place = try RemoteWorkspace.notes()
            let config = try String(contentsOfFile: place.folder.appending("bmo.yml"), encoding: .utf8)
            try place.folder.write(
                config
                    + """

                      Gone:
                        bridge: api
                        key: id
                        attributes: {id: integer}
                        rest: {path: /plain/notes/999, paging: none}

                    """, to: "bmo.yml")
            let watch = try place.start(["watch", "--every", "1s", "--health", "health.json"])
            defer { watch.signal(SIGKILL) }
            // With a pause for all that doubles, there would be seven rounds in this time.
            try await eventually("there are fifteen rounds", within: .seconds(90)) {
                let rounds = health(place).firstMatch(of: /"rounds":(\d+)/).flatMap { Int($0.1) }
                return (rounds ?? 0) >= 15
            }
            #expect(health(place).contains("Gone"), "\(health(place))")
            let requests = try place.server.events().filter { $0.event == "GET" }.map(\.path)
            let failing = requests.count { $0.hasPrefix("/plain/notes/999") }
            #expect((2...6).contains(failing) && requests.count - failing >= 14, "\(requests)")
        }

        @Test func `a watch brings what the remote has, sends each edit soon, and stops cleanly`() async throws {
            let place = try RemoteWorkspace.notes()
            let watch = try place.start(["watch", "--every", "1s", "--health", "health.json"])
            defer { watch.signal(SIGKILL) }
            try await eventually("a first sync is over") { health(place).contains(#""outcome":"finished""#) }
            // Another process edits; the watch has no lock then.
            try await place.expect("create", "Note", "--set", "text=from here")
            try await eventually("it is on the server") { try await place.server.content().contains("from here") }
            try await eventually("it has its key here") { try place.rows("SELECT id FROM Note") == [["1"]] }
            _ = try await place.server.curl(
                "plain/notes", "-X", "POST", "-H", "Content-Type: application/json", "-d", #"{"text": "from there"}"#)
            try await eventually("it is here") {
                try place.value("SELECT count(*) FROM Note WHERE text = 'from there'") == "1"
            }
            try await place.expect("update", "Note", "2", "--set", "text=changed here")
            try await eventually("the change is there") {
                try await place.server.content("notes/2").contains("changed here")
            }
            try await eventually("the health file tells") {
                health(place).contains(#""outbox":0"#) && health(place).contains(#""sent":1"#)
            }
            kill(watch.pid, SIGTERM)
            let ended = try await watch.finish(within: .seconds(20))
            #expect(ended.exitCode == 0, "\(ended)")
            #expect(ended.output.hasSuffix("stopped\n"), "\(ended)")
            #expect(ended.output.contains("Note 1 created (was -1)"), "\(ended)")
            #expect(health(place).contains(#""state":"stopped""#))
            #expect(
                try FileManager.default.contentsOfDirectory(atPath: place.folder.path).nonEmptyAllSatisfy {
                    !$0.contains(".tmp-") && !$0.hasSuffix("-lock")
                })
            #expect(try place.faults() == [])
        }

        @Test func `a watch whose database is replaced sends the edits of the new one and says so`() async throws {
            let place = try RemoteWorkspace.notes()
            let watch = try place.start(["watch", "--every", "1s", "--health", "health.json"])
            defer { watch.signal(SIGKILL) }
            try await eventually("a first sync is over") { health(place).contains(#""outcome":"finished""#) }
            try await place.expect("create", "Note", "--set", "text=before")
            try await eventually("it is on the server") { try await place.server.content().contains("before") }
            try await eventually("it has its key here") { try place.rows("SELECT id FROM Note") == [["1"]] }
            let backup = place.folder.appending("backup.sqlite")
            _ = try place.rows("VACUUM INTO '\(backup)'")
            for name in ["-wal", "-shm"] { try? FileManager.default.removeItem(atPath: place.database + name) }
            // In one step, so that the path always leads to a file.
            #expect(rename(backup, place.database) == 0)
            try await place.expect("update", "Note", "1", "--set", "text=after")
            try await eventually("the edit is sent") { try await place.server.content("notes/1").contains("after") }
            try await eventually("the watch says so") {
                health(place).contains("the database was replaced by another file")
            }
            let doctor = try await place.bmo("doctor", "--health", "health.json")
            #expect(doctor.exitCode == 0 && doctor.allOutput.contains("the database was replaced"), "\(doctor)")
            kill(watch.pid, SIGTERM)
            let ended = try await watch.finish(within: .seconds(20))
            #expect(ended.exitCode == 0, "\(ended)")
            // A page that is being written at that moment reports it, too.
            let notices = ended.errorOutput.split(separator: "\n").filter {
                $0.contains("the database was replaced") && $0.contains("are not sent")
            }
            #expect(notices.count == 1, "\(ended)")
        }

        @Test func `a watch goes on with a changed configuration, and as before with one that has a fault`()
            async throws
        {
            let place = try RemoteWorkspace.notes()
            let file = place.folder.appending("bmo.yml")
            let config = try String(contentsOfFile: file, encoding: .utf8)
            let watch = try place.start(["watch", "--every", "1s", "--health", "health.json"])
            defer { watch.signal(SIGKILL) }
            try await eventually("a first sync is over") { health(place).contains(#""outcome":"finished""#) }
            try place.folder.write(config.replacing("      text: text", with: "      text: nonsense"), to: "bmo.yml")
            try await eventually("the fault is told") { watch.errorOutput.contains("cannot be used as it is now") }
            try await place.expect("doctor", "--health", "health.json")
            let changed = config.replacing(
                "      text: text", with: "      body: {type: text, from: text, renamed_from: text}"
            )
            .replacing("match: [text]", with: "match: [body]")
            try place.folder.write(changed, to: "bmo.yml")
            try await eventually("it goes on with the new one") {
                watch.errorOutput.contains("bmo.yml has changed; the watch goes on with the new configuration")
            }
            // The edit is sent with the new names.
            try await place.expect("create", "Note", "--set", "body=from here")
            try await eventually("it is on the server") { try await place.server.content().contains("from here") }
            try await eventually("it has its key here") {
                try place.rows("SELECT id, body FROM Note") == [["1", "from here"]]
            }
            let columns = try place.rows("SELECT name FROM pragma_table_info('Note')").map { $0[0] }
            #expect(columns.contains("body") && !columns.contains("text"), "\(columns)")
            kill(watch.pid, SIGTERM)
            let ended = try await watch.finish(within: .seconds(20))
            #expect(ended.exitCode == 0, "\(ended)")
            let faults = ended.errorOutput.split(separator: "\n").filter { $0.contains("cannot be used as it is now") }
            #expect(faults.count == 1, "\(ended)")
        }

        @Test func `a long queue is sent with the configuration that the file has meanwhile`() async throws {
            let place = try RemoteWorkspace.notes()
            let slow = try String(contentsOfFile: place.folder.appending("bmo.yml"), encoding: .utf8)
                .replacing("timeout: 5", with: "timeout: 5, limits: {requests_per_second: 1}")
            try place.folder.write(slow, to: "bmo.yml")
            // Creates the tables: edits need a database.
            try await place.expect("sync")
            for number in 1...15 { try await place.expect("create", "Note", "--set", "text=note \(number)") }
            let watch = try place.start(["watch", "--every", "600s", "--health", "health.json"])
            defer { watch.signal(SIGKILL) }
            func sent() throws -> Int { try place.server.events().count { $0.event == "POST" } }
            try await eventually("some are sent") { try sent() > 1 }
            try place.folder.write(
                slow.replacing("requests_per_second: 1", with: "requests_per_second: 50"), to: "bmo.yml")
            try await eventually("the watch goes on with the new one") {
                watch.errorOutput.contains("bmo.yml has changed; the watch goes on with the new configuration")
            }
            #expect(try sent() < 12, "the rest of the queue waits for the new configuration")
            try await eventually("all are sent") { try place.value("SELECT count(*) FROM bmo_outbox") == "0" }
            #expect(try sent() == 15)
            #expect(try place.rows("SELECT count(*), min(id) FROM Note") == [["15", "1"]])
        }

        /// The reader of the pipe ends at once.
        @Test(arguments: [(["--json"], "> /dev/full"), (["--json"], "> >(true)"), ([], "> >(true)")])
        func `a watch whose output cannot be written says so once, and goes on`(
            options: [String], target: String
        ) async throws {
            let place = try RemoteWorkspace.notes()
            let words = (["watch", "--every", "1s", "--health", "health.json"] + options).joined(separator: " ")
            let watch = try RunningProcess(
                "bash", ["-c", "exec \"$0\" \(words) \(target)", BuiltCommand.path()], directory: place.folder.path)
            defer { watch.signal(SIGKILL) }
            try await eventually("a first sync is over") { health(place).contains(#""outcome":"finished""#) }
            try await place.expect("create", "Note", "--set", "text=from here")
            try await eventually("it is on the server") { try await place.server.content().contains("from here") }
            try await eventually("the health file tells") { health(place).contains(#""sent":1"#) }
            kill(watch.pid, SIGTERM)
            let ended = try await watch.finish(within: .seconds(20))
            #expect(ended.exitCode == 1, "\(ended)")
            #expect(ended.errorOutput.components(separatedBy: "the output cannot be written: ").count == 2, "\(ended)")
        }

        @Test func `a watch whose server is away says so, and goes on when it is back`() async throws {
            let place = try RemoteWorkspace.notes()
            let gone = try RemoteServer.fixture("objects.py").url
            try place.write(url: gone)
            let watch = try place.start(["watch", "--every", "1s", "--health", "health.json"])
            defer { watch.signal(SIGKILL) }
            try await eventually("it fails") { health(place).contains(#""state":"failing""#) }
            #expect(health(place).contains("unreachable"))
            kill(watch.pid, SIGINT)
            #expect(try await watch.finish(within: .seconds(20)).exitCode == 0)
        }
    }
}
