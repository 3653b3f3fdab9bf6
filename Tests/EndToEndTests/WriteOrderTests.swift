import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// What a push takes for its own, and in which order it sends.
    @Suite struct WriteOrderTests {
        @Test func `a foreign object is never taken for one whose creation was lost`() async throws {
            let place = try RemoteWorkspace.notes(style: "limbo")
            let seed = #"{"text": "dup", "address": {"city": "theirs"}}"#
            _ = try await place.server.curl(
                "limbo/notes", "-X", "POST", "-H", "Content-Type: application/json", "-d", seed)
            // Not here before, and with another city.
            try await place.expect("create", "Note", "--set", "text=dup", "--set", "city=mine")
            for _ in 1...3 {
                let push = try await place.bmo("push", "--look-again-after", "0s")
                #expect(push.exitCode == 1 && push.output.contains("unknown     1"), "\(push)")
                #expect(push.output.contains("Note 1 with its text, which is a different object: its city"), "\(push)")
            }
            let reason = try place.value("SELECT last_error FROM bmo_outbox")
            #expect(reason.contains("504"), "the cause stays: \(reason)")
            #expect(reason.components(separatedBy: "bmo checked").count == 2, "\(reason)")
            #expect(try place.rows("SELECT text, city FROM Note WHERE id < 0") == [["dup", "mine"]])
            #expect(try place.server.events().filter { $0.event == "POST" }.count == 2)
        }

        @Test func `an object with another list is not the one whose creation was lost`() async throws {
            let place = try RemoteWorkspace.notes(style: "limbo")
            func post(_ path: String, _ json: String) async throws {
                _ = try await place.server.curl(
                    "limbo/\(path)", "-X", "POST", "-H", "Content-Type: application/json", "-d", json)
            }
            for name in ["x", "y"] { try await post("topics", #"{"name": "\#(name)"}"#) }
            try await place.expect("sync", "-q")
            try await post("notes", #"{"text": "dup", "tags": [1]}"#)
            try await place.expect("create", "Note", "--set", "text=dup", "--set", "tags=[2]")
            let push = try await place.bmo("push", "--look-again-after", "0s")
            #expect(push.exitCode == 1, "\(push)")
            #expect(push.output.contains("Note 1 with its text, which is a different object: its tags"), "\(push)")
        }

        @Test func `an object that was here before is not the one that was created`() async throws {
            let place = try RemoteWorkspace.notes(style: "limbo")
            let seed = #"{"text": "dup"}"#
            _ = try await place.server.curl(
                "limbo/notes", "-X", "POST", "-H", "Content-Type: application/json", "-d", seed)
            try await place.expect("sync", "-q")
            try await place.expect("create", "Note", "--set", "text=dup")
            let push = try await place.bmo("push", "--look-again-after", "0s")
            #expect(push.exitCode == 1, "\(push)")
            #expect(
                push.output.contains("Note 1 with its text, which is a different object: it existed here before"),
                "\(push)")
            #expect(try place.value("SELECT count(*) FROM Note") == "2")
        }

        @Test func `an update whose object can be read is not taken for one of a deleted object`() async throws {
            let place = try RemoteWorkspace.notes(style: "absent")
            try await place.expect("create", "Note", "--set", "text=a", "--push")
            let update = try await place.bmo("update", "Note", "1", "--set", "text=b", "--push")
            #expect(update.exitCode == 1 && update.output.contains("waits       2"), "\(update)")
            #expect(try place.value("SELECT count(*) FROM bmo_conflicts") == "0")
            #expect(try place.rows("SELECT text FROM Note") == [["b"]])
        }

        @Test func `objects are created in the order in which they were made`() async throws {
            let place = try RemoteWorkspace.notes()
            for number in 1...6 { try await place.expect("create", "Note", "--set", "text=o\(number)") }
            try await place.expect("push")
            let rows = try place.rows("SELECT id, text FROM Note ORDER BY id")
            #expect(rows == (1...6).map { ["\($0)", "o\($0)"] })
        }

        @Test func `an edit that waits is held back while its entity is not writable`() async throws {
            let place = try RemoteWorkspace.notes()
            try await place.expect("create", "Note", "--set", "text=a")
            try place.write(match: nil, readOne: false, url: place.server.url)
            let config = try String(contentsOfFile: place.folder.appending("bmo.yml"), encoding: .utf8)
            try place.folder.write(
                config.replacingOccurrences(of: "writable: true\n    # no", with: "writable: false\n    # no"),
                to: "bmo.yml")
            let push = try await place.bmo("push")
            #expect(push.exitCode == 1 && push.output.contains("Note is no longer writable"), "\(push)")
            #expect(try place.value("SELECT state FROM bmo_outbox") == "pending")
            #expect(try place.server.events().isEmpty)
        }

        @Test func `a delete waits for an earlier create that refers to its object`() async throws {
            let plain = try RemoteWorkspace.notes()
            try await plain.expect("create", "Topic", "--set", "name=t", "--push")
            try await plain.expect("create", "Note", "--set", "text=a", "--set", "topic=1")
            try await plain.expect("delete", "Topic", "1")
            try await plain.expect("push")
            let writes = try plain.server.events().map(\.event).filter { $0 == "POST" || $0 == "DELETE" }
            #expect(writes == ["POST", "POST", "DELETE"], "\(writes)")
        }
    }
}
