import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// A page that was asked for before an edit was sent, and comes after the remote took it.
    @Suite struct StalePageTests {
        /// A sync whose listing of the notes is held by the server while `body` runs.
        private func sync(
            _ place: RemoteWorkspace<NoteServer>, _ arguments: String..., while body: () async throws -> Void
        )
            async throws
        {
            // The answer is late, and not given up.
            let config = try String(contentsOfFile: place.folder.appending("bmo.yml"), encoding: .utf8)
            try place.folder.write(config.replacingOccurrences(of: "timeout: 5", with: "timeout: 90"), to: "bmo.yml")
            _ = try await place.server.curl("plain/hold", "-X", "POST")
            let sync = try place.start(["sync", "Note"] + arguments)
            try await eventually("the listing is held") {
                try place.server.events().contains { $0.event == "HELD" && $0.path == "/plain/notes" }
            }
            try await body()
            _ = try await place.server.curl("plain/release", "-X", "POST")
            let run = try await sync.finish(within: .seconds(90))
            #expect(run.exitCode == 0, "\(run)")
        }

        @Test func `an object that was deleted meanwhile does not come back`() async throws {
            let place = try RemoteWorkspace.notes()
            try await place.expect("create", "Note", "--set", "text=a", "--push")
            try await place.expect("create", "Note", "--set", "text=b", "--push")
            try await sync(place) {
                try await place.expect("delete", "Note", "1", "--push")
            }
            #expect(try place.rows("SELECT id, text FROM Note") == [["2", "b"]])
            #expect(try place.rows("SELECT key, operation FROM bmo_acknowledged") == [["[1]", "delete"]])
            // The next scan knows better, and what was kept for the one before is gone.
            try await place.expect("sync", "-q")
            #expect(try place.rows("SELECT id, text FROM Note") == [["2", "b"]])
            #expect(try place.rows("SELECT * FROM bmo_acknowledged").isEmpty)
            #expect(try place.faults() == [])
        }

        @Test func `an update that was taken meanwhile is not put back`() async throws {
            let place = try RemoteWorkspace.notes()
            for name in ["x", "y"] { try await place.expect("create", "Topic", "--set", "name=\(name)", "--push") }
            try await place.expect(
                "create", "Note", "--set", "text=a", "--set", "city=Lyon", "--set", "tags=[1]", "--push")
            try await place.expect("create", "Note", "--set", "text=other", "--push")
            try await sync(place) {
                try await place.expect(
                    "update", "Note", "1", "--set", "text=b", "--set", "tags=[1,2]", "--push")
                // One that is based on what was taken, and waits.
                try await place.expect("update", "Note", "1", "--set", "text=c")
                // What another client does in the meantime comes with the next sync.
                try await place.server.change(2, #"{"text": "changed"}"#)
            }
            #expect(try place.rows("SELECT id, text FROM Note ORDER BY id") == [["1", "c"], ["2", "other"]])
            #expect(try place.value("SELECT city FROM Note WHERE id = 1") == "Lyon")
            #expect(try place.value("SELECT count(*) FROM Note_tags") == "2")
            #expect(try place.value("SELECT count(*) FROM bmo_conflicts") == "0")
            let old = try place.rows("SELECT entity FROM bmo_changes WHERE new LIKE '%\"text\":\"a\"%'")
            #expect(old.count == 1, "only the create: \(old)")
            try await place.expect("push")
            try await place.expect("sync", "-q")
            #expect(try place.rows("SELECT text FROM Note ORDER BY id") == [["c"], ["changed"]])
            #expect(try await place.server.content().contains(#""text": "c""#))
        }

        @Test func `a listing that began before an object was created does not delete it`() async throws {
            let place = try RemoteWorkspace.notes()
            try await place.expect("create", "Note", "--set", "text=a", "--push")
            try await place.expect("sync", "-q")
            try await sync(place, "--allow-deletes") {
                try await place.expect("create", "Note", "--set", "text=b", "--push")
                try await place.expect("update", "Note", "2", "--set", "city=Lyon", "--push")
            }
            #expect(try place.rows("SELECT id, text FROM Note ORDER BY id") == [["1", "a"], ["2", "b"]])
            let why = try await place.expect("why", "Note", "2")
            #expect(why.hasPrefix("Note 2: created here, and in no listing yet"), "\(why)")
            // It was never in a listing, and a later listing lacks it.
            _ = try await place.server.curl("plain/notes/2", "-X", "DELETE")
            try await place.expect("sync", "Note", "-q", "--allow-deletes")
            #expect(try place.rows("SELECT id, text FROM Note") == [["1", "a"]])
        }
    }
}
