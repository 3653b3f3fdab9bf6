import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEndTests {
    /// Edits over servers that go away, and answers that get lost: each object is there once, on both sides.
    @Suite struct WriteFaultTests {
        /// BMO_TEST_KILLS=100 kills as often as that.
        private static let kills = ProcessInfo.processInfo.environment["BMO_TEST_KILLS"].flatMap { Int($0) } ?? 10

        @Test func `a server that is down is reported, and the edit is sent when it is up`() async throws {
            let place = try RemoteWorkspace.notes()
            try await place.expect("create", "Note", "--set", "text=a")
            // A port at which nobody listens: the server that was there is gone.
            let gone = try RemoteServer.fixture("objects.py").url
            try place.write(url: gone)
            let down = try await place.bmo("push")
            #expect(down.exitCode == 1)
            #expect(down.output.contains("waits       1  Note -1 created: unreachable: "), "\(down)")
            #expect(down.output.contains("next try at 20"), "\(down)")
            #expect(try place.value("SELECT state || attempts FROM bmo_outbox") == "pending1")
            try place.write(url: place.server.url)
            // The pause after a first failure is a second at most.
            try await eventually("the edit is due and sent") { try await place.bmo("push").exitCode == 0 }
            #expect(try await place.server.content() == #"[{"text": "a", "id": 1}]"#)
        }

        @Test func `a server that is busy is asked again no sooner than it wants`() async throws {
            let place = try RemoteWorkspace.notes(style: "busy")
            try await place.expect("create", "Note", "--set", "text=a")
            let push = try await place.bmo("push")
            #expect(push.exitCode == 1 && push.output.contains("waits       1"), "\(push)")
            #expect(try place.value("SELECT not_before > created FROM bmo_outbox") == "1")
            #expect(try await place.bmo("push").output.contains("waits"))
            // Retry-After: 1. A busy machine may come to the second push after that.
            let posts = try place.server.events().filter { $0.event == "POST" }.map(\.time)
            #expect(posts.count == 1 || posts[1] - posts[0] >= 1, "\(posts)")
        }

        @Test func `an edit whose next try is years away, since the clock was wrong, is sent`() async throws {
            let place = try RemoteWorkspace.notes()
            try await place.expect("create", "Note", "--set", "text=a")
            _ = try place.rows("UPDATE bmo_outbox SET not_before = '2999-01-01T00:00:00.000000Z', attempts = 1")
            #expect(try await place.expect("push") == "sent        1  Note 1 created (was -1)\n1 sent\n")
        }

        @Test func `an object whose answer got lost is found by what it matches and not made twice`() async throws {
            let place = try RemoteWorkspace.notes(style: "drop")
            try await place.expect("create", "Note", "--set", "text=only once")
            #expect(try await place.expect("push") == "sent        1  Note 1 created (was -1)\n1 sent\n")
            #expect(try place.server.events().filter { $0.event == "POST" }.count == 1)
            #expect(try await place.server.content() == #"[{"text": "only once", "id": 1}]"#)
            #expect(try place.rows("SELECT id, text FROM Note") == [["1", "only once"]])
        }

        @Test func `without a way to find it an edit stays unknown and is never sent again by itself`() async throws {
            let place = try RemoteWorkspace.notes(style: "droponce", match: nil)
            try await place.expect("create", "Note", "--set", "text=a")
            for _ in 1...3 {
                let push = try await place.bmo("push", "--look-again-after", "0s")
                #expect(push.exitCode == 1)
                #expect(push.output.contains("unknown     1"), "\(push)")
                #expect(push.output.contains(#"the entity has no "match" by which to find it"#), "\(push)")
            }
            #expect(try place.server.events().filter { $0.event == "POST" }.count == 1)
            let shown = try await place.expect("outbox", "show", "1")
            #expect(
                shown.contains("sends it again, which makes a second object if the remote has this one"), "\(shown)")
            let retry = try await place.bmo("outbox", "retry", "--unknown", "1")
            #expect(retry.exitCode == 0, "\(retry)")
            #expect(
                retry.errorOutput.contains(
                    "bmo: warning: Note -1 may be created a second time: its first request may have")
                    && retry.errorOutput.contains("`bmo outbox drop 1`"), "\(retry)")
            // The same idempotency key: this server gives what it has.
            try await place.expect("push")
            #expect(try await place.server.content() == #"[{"text": "a", "id": 1}]"#)
            #expect(try place.rows("SELECT id FROM Note") == [["1"]])
        }

        @Test func `a remote that keeps idempotency keys gets it again at once`() async throws {
            let place = try RemoteWorkspace.notes(style: "droponce", match: nil, more: "idempotency: true")
            #expect(try await place.expect("create", "Note", "--set", "text=a", "--push").contains("sent"))
            let posts = try place.server.events().filter { $0.event == "POST" }
            #expect(posts.count == 2)
            #expect(Set(posts.map { $0.headers["idempotency-key"] }).count == 1)
            #expect(try await place.server.content() == #"[{"text": "a", "id": 1}]"#)
        }

        @Test func `a request that never arrived is sent again only after a while`() async throws {
            let place = try RemoteWorkspace.notes(style: "lose")
            try await place.expect("create", "Note", "--set", "text=a")
            let first = try await place.bmo("push", "--look-again-after", "1h")
            #expect(first.exitCode == 1)
            #expect(first.output.contains("the remote does not have it yet"), "\(first)")
            #expect(try await place.bmo("push", "--look-again-after", "1h").output.contains("unknown     1"))
            #expect(try place.server.events().filter { $0.event == "POST" }.count == 1)
            #expect(try await place.expect("push", "--look-again-after", "0s").contains("1 sent"))
            #expect(try await place.server.content() == #"[{"text": "a", "id": 1}]"#)
        }

        @Test func `an update and a delete whose answers got lost are seen to be done`() async throws {
            let place = try RemoteWorkspace.notes(style: "droponce")
            try await place.expect("create", "Note", "--set", "text=a", "--push")
            let update = try await place.expect("update", "Note", "1", "--set", "text=b", "--push")
            #expect(update.contains("sent"))
            #expect(try place.server.events().filter { $0.event == "PATCH" }.count == 1)
            #expect(try place.rows("SELECT text FROM Note") == [["b"]])
            // A delete may be sent twice: the bridge says so, and it waits its turn.
            let delete = try await place.bmo("delete", "Note", "1", "--push")
            #expect(delete.exitCode == 1 && delete.output.contains("waits"), "\(delete)")
            try await eventually("it is due and sent") { try await place.bmo("push").exitCode == 0 }
            #expect(try await place.server.content() == "[]")
            #expect(try place.rows("SELECT * FROM Note").isEmpty)
        }

        @Test func `an update that got lost does not overwrite what the remote changed meanwhile`() async throws {
            let place = try RemoteWorkspace.notes(style: "forget")
            try await place.expect("create", "Note", "--set", "text=a", "--push")
            try await place.expect("update", "Note", "1", "--set", "text=mine")
            let lost = try await place.bmo("push", "--look-again-after", "1h")
            #expect(lost.exitCode == 1 && lost.output.contains("the remote does not have it yet"), "\(lost)")
            try await place.server.change(1, #"{"text": "theirs"}"#)
            let push = try await place.bmo("push", "--look-again-after", "0s")
            #expect(push.exitCode == 1 && push.output.contains("1 conflict"), "\(push)")
            #expect(push.allOutput.contains("the remote has other values now"), "\(push)")
            #expect(try await place.server.content() == #"[{"text": "theirs", "id": 1}]"#)
            let conflicts = try await place.expect("conflicts")
            let words = conflicts.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(words.contains("Note 1 text a mine theirs"), "\(conflicts)")
            try await place.expect("resolve", "Note", "1", "--take", "local")
            try await place.expect("push")
            #expect(try await place.server.content() == #"[{"text": "mine", "id": 1}]"#)
        }

        @Test func `an update that got lost is sent again over other changes of the remote`() async throws {
            let place = try RemoteWorkspace.notes(style: "forget")
            try await place.expect("create", "Note", "--set", "text=a", "--push")
            try await place.expect("update", "Note", "1", "--set", "text=mine")
            _ = try await place.bmo("push", "--look-again-after", "1h")
            try await place.server.change(1, #"{"more": "theirs"}"#)
            try await place.expect("push", "--look-again-after", "0s")
            #expect(try await place.server.content() == #"[{"text": "mine", "id": 1, "more": "theirs"}]"#)
        }

        @Test func `an update of the whole object does not overwrite what the remote changed`() async throws {
            let place = try RemoteWorkspace.notes()
            let config = try String(contentsOfFile: place.folder.appending("bmo.yml"), encoding: .utf8)
            try place.folder.write(
                config.replacing(
                    "{format: merge_patch}, delete: {}, if_match: etag", with: "{method: PUT}, delete: {}"),
                to: "bmo.yml")
            try await place.expect("create", "Note", "--set", "text=a", "--set", "city=Lyon", "--push")
            try await place.expect("update", "Note", "1", "--set", "text=mine")
            try await place.server.change(1, #"{"text": "theirs"}"#)
            let push = try await place.bmo("push")
            #expect(push.exitCode == 1 && push.output.contains("1 conflict"), "\(push)")
            let conflicts = try await place.expect("conflicts")
            let words = conflicts.split(whereSeparator: \.isWhitespace).joined(separator: " ")
            #expect(words.contains("Note 1 text a mine theirs"), "\(conflicts)")
            try await place.expect("resolve", "Note", "1", "--take", "local")
            try await place.server.change(1, #"{"address": {"city": "Nice"}}"#)
            try await place.expect("push")
            #expect(try await place.server.content() == #"[{"text": "mine", "address": {"city": "Nice"}, "id": 1}]"#)
        }

        @Test func `a remote that ignores a value is reported`() async throws {
            let place = try RemoteWorkspace.notes(style: "deaf")
            try await place.expect("create", "Note", "--set", "text=a", "--push")
            let update = try await place.expect(
                "update", "Note", "1", "--set", "text=b", "--set", "city=Lyon", "--push")
            #expect(
                update.contains("Note 1 updated; warning: the remote has other values than were sent: text"),
                "\(update)")
            #expect(try place.rows("SELECT text, city FROM Note") == [["a", "Lyon"]])
        }

        @Test func `a create that was accepted without a key, and is not found, is never sent again`() async throws {
            let place = try RemoteWorkspace.notes(style: "mute")
            try await place.expect("create", "Note", "--set", "text=a")
            for _ in 0..<3 {
                let run = try await place.bmo("push", "--look-again-after", "0s")
                #expect(run.exitCode == 1 && run.output.contains("1 unknown"), "\(run)")
            }
            #expect(try await place.server.content() == #"[{"text": "A", "id": 1}]"#)
            #expect(try await place.bmo("outbox", "show", "1").output.contains("accepted it"))
            // The user has looked.
            try await place.expect("outbox", "drop", "1")
            try await place.expect("sync")
            #expect(try place.rows("SELECT id, text FROM Note") == [["1", "A"]])
        }

        @Test func `a lost create is not looked for inside of other objects`() async throws {
            let place = try RemoteWorkspace.notes(style: "drop")
            let config = try String(contentsOfFile: place.folder.appending("bmo.yml"), encoding: .utf8)
            try place.folder.write(
                config.replacing("{topic: {to: Topic}", with: "{parent: {to: Note}, topic: {to: Topic}"), to: "bmo.yml")
            _ = try await place.server.curl(
                "drop/notes", "-X", "POST", "-H", "Content-Type: application/json", "-d",
                #"{"text": "other", "parent": {"id": 5, "text": "ours"}}"#)
            try await place.expect("create", "Note", "--set", "text=ours")
            let push = try await place.expect("push", "--look-again-after", "0s")
            #expect(push.contains("Note 2 created (was -1)"), "\(push)")
            #expect(try place.rows("SELECT id, text FROM Note ORDER BY id") == [["2", "ours"]])
        }

        @Test func `an edit that is made while a push connects goes along`() async throws {
            let place = try RemoteWorkspace.notes()
            try await place.expect("create", "Note", "--set", "text=a", "--push")
            let config = try String(contentsOfFile: place.folder.appending("bmo.yml"), encoding: .utf8)
            let slow = config.replacing("timeout: 5", with: "timeout: 5, headers: {X-Token: {file: token}}")
            try place.folder.write(slow, to: "slow.yml")
            // A secret's file that makes the connection wait until it is written.
            try #require(mkfifo(place.folder.appending("token"), 0o600) == 0)
            try await place.expect("update", "Note", "1", "--set", "text=FIRST")
            let push = try place.start(["push", "-f", "slow.yml"])
            defer { push.signal(SIGKILL) }
            try await Task.sleep(for: .seconds(1))
            try await place.expect("update", "Note", "1", "--set", "text=SECOND")
            try await place.expect("update", "Note", "1", "--set", "city=Paris")
            _ = try await ProcessRun.run("sh", ["-c", "echo x > \"$0\"", place.folder.appending("token")])
            let ended = try await push.finish(within: .seconds(60))
            #expect(ended.exitCode == 0, "\(ended)")
            #expect(try place.rows("SELECT text, city FROM Note") == [["SECOND", "Paris"]])
            #expect(try await place.server.content("notes/1").contains("SECOND"))
            #expect(try await place.server.content("notes/1").contains("Paris"))
        }

        @Test func `what an edit sets and the configuration has no more is held back`() async throws {
            let place = try RemoteWorkspace.notes()
            try await place.expect("create", "Note", "--set", "text=a", "--push")
            try await place.expect("update", "Note", "1", "--set", "city=Paris")
            let config = try String(contentsOfFile: place.folder.appending("bmo.yml"), encoding: .utf8)
            try place.folder.write(
                config.replacing("city: {type: text, from: address.city}", with: "town: text"), to: "bmo.yml")
            let push = try await place.bmo("push")
            #expect(push.exitCode == 1 && push.output.contains("has no city any more"), "\(push)")
            #expect(try place.server.events().filter { $0.event == "PATCH" }.isEmpty)
            try place.folder.write(config, to: "bmo.yml")
            try await place.expect("outbox", "retry", "2")
            try await place.expect("push")
            #expect(try await place.server.content("notes/1").contains("Paris"))
        }

        @Test func `a push that is killed at any instant leaves each object once on both sides`() async throws {
            let place = try RemoteWorkspace.notes(style: "slow")
            try await place.expect("sync", "-q")
            var killed = 0
            var looked = 0
            var number = 0
            while killed < Self.kills {
                number += 1
                try await place.expect("create", "Note", "--set", "text=n\(number)")
                let run = try place.start(["push"])
                // The server has it 1.5 s before it answers: most are killed in between, some before, some after.
                let requests = try place.server.events().filter { $0.event == "POST" }.count
                if number.isMultiple(of: 5) {
                    try await Task.sleep(for: .milliseconds(number % 100))
                } else {
                    try await eventually("the server has it") {
                        try place.server.events().filter { $0.event == "POST" }.count > requests
                    }
                    // After the answer, and around the commit.
                    if number.isMultiple(of: 2) { try await Task.sleep(for: .milliseconds(1480 + number * 7 % 60)) }
                }
                run.signal(SIGKILL)
                killed += try await run.finish().signal == SIGKILL ? 1 : 0
                #expect(try place.faults() == [])
                let state = try place.rows("SELECT state FROM bmo_outbox").first?.first
                looked += state == "sending" ? 1 : 0
                let next = try await place.bmo("push", "--look-again-after", "0s")
                try #require(next.exitCode == 0, "\(number), \(state ?? "sent"): \(next)")
            }
            let expected = (1...number).map { "n\($0)" }.sorted()
            #expect(try place.rows("SELECT text FROM Note").map { $0[0] }.sorted() == expected)
            #expect(try place.value("SELECT count(*) FROM Note WHERE id <= 0") == "0")
            let remote = try await place.server.content()
            for text in expected { #expect(remote.components(separatedBy: "\"\(text)\"").count == 2, "\(text)") }
            #expect(try place.value("SELECT count(*) FROM bmo_outbox") == "0")
            #expect(looked > 0, "no push was killed while an edit was on its way")
        }
    }
}
