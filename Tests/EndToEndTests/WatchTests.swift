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
