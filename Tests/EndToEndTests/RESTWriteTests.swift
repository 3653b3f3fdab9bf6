import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Edits that go to a JSON API and are read back there with curl.
    @Suite struct RESTWriteTests {
        @Test func `an object is created, changed and deleted here, and curl finds it so`() async throws {
            let place = try RemoteWorkspace.notes()
            try await place.expect("sync", "-q")
            let created = try await place.expect("create", "Note", "--set", "text=buy milk", "--set", "city=Lyon")
            #expect(created == "Note -1 created (temporary key), to be sent: outbox 1\n")
            #expect(try await place.server.content() == "[]", "it is sent later")
            #expect(
                try await place.expect("push", "--dry-run")
                    == """
                    create  Note -1  {"text":"buy milk","address":{"city":"Lyon"}}
                    dry run: 1 edit would be sent; nothing was sent

                    """)
            #expect(try await place.expect("get", "Note", "--", "-1").contains("to be sent: text, city"))
            #expect(
                try await place.expect("push") == "sent        1  Note 1 created (was -1)\n1 sent\n")
            #expect(
                try await place.server.content() == #"[{"text": "buy milk", "address": {"city": "Lyon"}, "id": 1}]"#)
            #expect(try place.rows("SELECT id, text, city FROM Note") == [["1", "buy milk", "Lyon"]])

            let updated = try await place.expect(
                "update", "Note", "1", "--set", "text=oat", "--set-null", "city", "--push")
            #expect(updated == "Note 1 updated\nsent        2  Note 1 updated\n")
            #expect(try await place.server.content("notes/1").contains(#""text": "oat""#))
            #expect(try await place.server.content("notes/1").contains(#"{"city": null}"#))

            try await place.expect("delete", "Note", "1", "--push")
            #expect(try await place.server.content() == "[]")
            #expect(try place.rows("SELECT * FROM Note").isEmpty)
            #expect(try await place.expect("outbox") == "0 edits in the outbox\n")
            #expect(try await place.expect("sync", "Note").contains("finished"))
            #expect(try place.faults() == [])
        }

        @Test func `a temporary key gives way everywhere, and what refers to a new object is sent after it`()
            async throws
        {
            let place = try RemoteWorkspace.notes()
            try await place.expect("sync", "-q")
            let topic = try await place.expect("create", "Topic", "--set", "name=food", "--json")
            #expect(topic.contains(#""key":[-1],"temporary_key":true"#), "\(topic)")
            try await place.expect("create", "Note", "--set", "text=bread", "--set", "topic=-1", "--set", "tags=[-1]")
            let pushed = try await place.expect("push", "Note")
            #expect(
                pushed.hasPrefix("sent        1  Topic 1 created (was -1)\nsent        2  Note 1 created"), "\(pushed)")
            #expect(try await place.server.content() == #"[{"text": "bread", "topic": 1, "tags": [1], "id": 1}]"#)
            #expect(try place.rows("SELECT id, topic FROM Note") == [["1", "1"]])
            #expect(try place.rows("SELECT source, target FROM Note_tags") == [["1", "1"]])
            #expect(try place.rows("SELECT id FROM Topic") == [["1"]])
            #expect(try place.faults() == [])
        }

        @Test(arguments: [false, true])
        func `a uuid that the remote makes takes the place of the one made here`(isSent: Bool) async throws {
            let place = try RemoteWorkspace.notes(style: "own")
            let path = "bmo.yml"
            let key = isSent ? "id: uuid" : "id: {type: uuid, write: false}"
            let config = try String(contentsOfFile: place.folder.appending(path), encoding: .utf8).replacing(
                "id: {type: integer, write: false}", with: key)
            try place.folder.write(
                isSent ? config : config.replacing("create: {}", with: "create: {path: '/own/notes?strict=1'}"),
                to: path)
            let created = try await place.expect("create", "Note", "--set", "text=a", "--set", "city=Lyon", "--push")
            #expect(created.contains("created (was "), "\(created)")
            let keys = try place.rows("SELECT id FROM Note")
            #expect(keys.count == 1)
            let key0 = try #require(keys.first?.first)
            #expect(try await place.server.content().contains("\"id\": \"\(key0)\""))
            try await place.expect("update", "Note", key0, "--set", "text=b", "--push")
            #expect(try await place.server.content("notes/\(key0)").contains(#""text": "b""#))
            try await place.expect("sync", "Note")
            #expect(try place.rows("SELECT id, text FROM Note") == [[key0, "b"]])
        }

        @Test
        func `an ETag that reading brings first is not a change, and what reading does not show is not overwritten`()
            async throws
        {
            let place = try RemoteWorkspace.notes(style: "brief")
            for text in ["a", "b"] {
                let body = "{\"text\": \"\(text)\"}"
                _ = try await place.server.curl("brief/notes", "-H", "Content-Type: application/json", "-d", body)
            }
            try await place.expect("sync", "Note")
            #expect(try place.rows("SELECT etag FROM Note WHERE etag IS NOT NULL").isEmpty)
            let deleted = try await place.expect("delete", "Note", "1", "--push")
            #expect(deleted.contains("sent        1  Note 1 deleted"), "\(deleted)")
            let update = try await place.bmo("update", "Note", "2", "--set", "text=ours", "--push")
            #expect(update.exitCode == 1)
            #expect(
                update.output.contains("the object as it is read has no text; let \"read_one\" return it"), "\(update)")
            #expect(
                try await place.server.content().contains(#""text": "b""#), "nobody knows what would be overwritten")
            try await place.expect("outbox", "retry", "2")
            try await place.expect("push")
            #expect(try await place.server.content().contains(#""text": "ours""#), "told to, it is sent")
        }

        @Test func `objects of a JSON file are made in one transaction, and each is sent`() async throws {
            let place = try RemoteWorkspace.notes()
            try place.folder.write(#"[{"text": "a", "city": "X"}, {"text": "b", "tags": []}]"#, to: "list.json")
            try place.folder.write("{\"text\": \"c\"}\n\n{\"text\": \"d\"}\n", to: "lines.ndjson")
            #expect(try await place.expect("create", "Note", "--values", "list.json").split(separator: "\n").count == 2)
            try await place.expect("create", "Note", "--values", "lines.ndjson", "--push")
            let remote = try await place.server.content()
            for text in ["a", "b", "c", "d"] { #expect(remote.contains("\"text\": \"\(text)\"")) }
            try place.folder.write(#"[{"id": 1, "text": "a2"}, {"id": 2, "text": "b2"}]"#, to: "changes.json")
            try await place.expect("update", "Note", "--values", "changes.json", "--push")
            #expect(try await place.server.content().contains(#""text": "b2""#))
            try place.folder.write(#"[{"text": "e"}, {"text": "f", "nothing": 1}]"#, to: "bad.json")
            let bad = try await place.bmo("create", "Note", "--values", "bad.json")
            #expect(bad.exitCode == 2)
            #expect(
                bad.errorOutput.hasPrefix(#"bmo: error: object 2: Note has no attribute or relationship "nothing""#))
            #expect(try place.value("SELECT count(*) FROM Note WHERE text = 'e'") == "0")
        }

        @Test func `an edit that the remote's version replaces is reported as dropped, and not as sent`()
            async throws
        {
            let place = try RemoteWorkspace.notes(more: "conflicts: remote")
            try await place.expect("create", "Note", "--set", "text=a", "--push")
            try await place.server.change(1, #"{"text": "theirs"}"#)
            let update = try await place.bmo("update", "Note", "1", "--set", "text=ours", "--push")
            #expect(update.exitCode == 1 && update.output.hasPrefix("Note 1 updated\ndropped"), "\(update)")
            #expect(update.output.contains("it wins by `conflicts` of Note"), "\(update)")
            #expect(try place.rows("SELECT text FROM Note") == [["theirs"]])
            #expect(try await place.expect("push") == "nothing to send\n")

            try await place.server.change(1, #"{"text": "theirs again"}"#)
            let line = try await place.bmo(
                "update", "Note", "1", "--set", "text=ours", "--or-rollback", "--json")
            #expect(line.exitCode == 1 && line.output.contains(#""rolled_back":true"#), "\(line)")

            // What the configuration decided leaves nothing behind.
            try await place.server.change(1, #"{"text": "theirs at last"}"#)
            try await place.expect("update", "Note", "1", "--set", "text=ours")
            #expect(try await place.expect("push").hasSuffix("1 dropped\n"))
            #expect(try await place.server.content("notes/1").contains("theirs at last"))
            #expect(try place.rows("SELECT text FROM Note") == [["theirs at last"]])
        }

        @Test func `what only one side changed is merged and sent, and what both changed waits for a decision`()
            async throws
        {
            let place = try RemoteWorkspace.notes()
            for text in ["a", "b", "c"] { try await place.expect("create", "Note", "--set", "text=\(text)", "--push") }
            try await place.server.change(1, #"{"text": "theirs"}"#)
            #expect(
                try await place.expect("update", "Note", "1", "--set", "city=Paris", "--push").contains("sent"))
            #expect(try await place.server.content("notes/1").contains(#""text": "theirs""#))
            #expect(try await place.server.content("notes/1").contains(#""city": "Paris""#))
            #expect(try place.rows("SELECT text, city FROM Note WHERE id = 1") == [["theirs", "Paris"]])

            for id in [2, 3] {
                try await place.server.change(id, #"{"text": "theirs"}"#)
                let update = try await place.bmo("update", "Note", "\(id)", "--set", "text=ours", "--push")
                #expect(update.exitCode == 1)
                #expect(update.output.contains("conflict"), "\(update)")
            }
            let conflicts = try await place.expect("conflicts", "--json")
            #expect(
                conflicts.contains(#""key":[2],"column":"text","base":"b","local":"ours","remote":"theirs""#),
                "\(conflicts)")
            #expect(try await place.bmo("push").exitCode == 1, "it waits for a decision")
            #expect(try await place.server.content("notes/2").contains("theirs"), "nothing is overwritten silently")
            #expect(
                try await place.expect("resolve", "Note", "2", "--take", "local")
                    == "Note 2: the local values win; `bmo push` sends the local values\n")
            try await place.expect("resolve", "Note", "3", "--take", "remote")
            try await place.expect("push")
            #expect(try await place.server.content("notes/2").contains("ours"))
            #expect(try await place.server.content("notes/3").contains("theirs"))
            #expect(try place.rows("SELECT text FROM Note WHERE id > 1 ORDER BY id") == [["ours"], ["theirs"]])
            #expect(try await place.expect("conflicts") == "0 conflicts\n")
        }

        @Test func `an object that the remote deleted meanwhile is a conflict of the whole object`() async throws {
            let place = try RemoteWorkspace.notes()
            for text in ["a", "b"] { try await place.expect("create", "Note", "--set", "text=\(text)", "--push") }
            for id in [1, 2] {
                _ = try await place.server.curl("plain/notes/\(id)", "-X", "DELETE")
                let update = try await place.bmo("update", "Note", "\(id)", "--set", "text=ours\(id)", "--push")
                #expect(update.exitCode == 1, "\(update)")
            }
            let conflicts = try await place.expect("conflicts")
            #expect(conflicts.contains("(the object)") && conflicts.contains("2 conflicts"), "\(conflicts)")
            #expect(
                try await place.expect("outbox", "retry")
                    == "0 edits are due, 2 stay as they were (conflict or unknown); `bmo push` sends what is due\n")
            try await place.expect("resolve", "Note", "1", "--take", "remote")
            #expect(try place.rows("SELECT id FROM Note") == [["2"]])
            try await place.expect("resolve", "Note", "2", "--take", "local")
            try await place.expect("push")
            #expect(try await place.server.content().contains("ours2"), "it is made anew")
            #expect(try place.value("SELECT count(*) FROM Note") == "1")
        }

        @Test func `what the remote refuses stays with its words, and can be dropped or rolled back`() async throws {
            let place = try RemoteWorkspace.notes(style: "refuse")
            try await place.expect("create", "Note", "--set", "text=a")
            let push = try await place.bmo("push")
            #expect(push.exitCode == 1)
            #expect(push.output.contains("refused     1  Note -1 created: "), "\(push)")
            #expect(push.output.contains("text must not be empty"), "\(push)")
            #expect(try await place.expect("outbox", "show", "1").contains("text must not be empty"))
            #expect(try await place.expect("status").contains("outbox: 1 refused"))
            #expect(try await place.expect("outbox", "retry") == "1 edit is due; `bmo push` sends what is due\n")
            #expect(try await place.bmo("push").exitCode == 1)
            try await place.expect("outbox", "drop", "1")
            #expect(try place.rows("SELECT * FROM Note").isEmpty, "the local change is rolled back")
            for command in ["drop", "retry", "show"] {
                let unknown = try await place.bmo("outbox", command, "99")
                #expect(unknown.exitCode == 2, "as of a run that does not exist: \(unknown)")
                #expect(
                    unknown.errorOutput == "bmo: error: there is no edit 99 in the outbox; `bmo outbox` lists them\n")
            }

            let saved = try await place.bmo("create", "Note", "--set", "text=b", "--or-rollback")
            #expect(saved.exitCode == 1)
            #expect(saved.output.hasSuffix("Note -2 not created: rolled back, outbox 2\n"), "\(saved)")
            #expect(!saved.output.contains("Note -2 created (temporary key)"), "\(saved)")
            #expect(try place.rows("SELECT * FROM Note").isEmpty)
            #expect(try await place.expect("outbox") == "0 edits in the outbox\n")
        }

        @Test(arguments: ["--push", "--or-rollback"])
        func `an edit that is dropped while it waits for another push was not accepted`(_ option: String) async throws {
            let place = try RemoteWorkspace.notes()
            try await place.expect("sync", "-q")
            let lock = place.database + "-push-lock"
            let holder = try RunningProcess("flock", [lock, "sleep", "60"])
            try await eventually("the lock is held") {
                try await ProcessRun.run("flock", ["-n", lock, "true"]).exitCode != 0
            }
            let create = try place.start(["create", "Note", "--set", "text=a", option])
            try await eventually("the edit waits") { try place.value("SELECT count(*) FROM bmo_outbox") == "1" }
            try await place.expect("outbox", "drop", "1")
            holder.signal(SIGKILL)
            _ = try await holder.finish()
            let run = try await create.finish(within: .seconds(60))
            #expect(run.exitCode == 1, "\(run)")
            #expect(run.errorOutput == "bmo: warning: outbox 1 was dropped before it was sent\n", "\(run)")
            if option == "--or-rollback" {
                #expect(run.output == "Note -1 not created: rolled back, outbox 1\n", "\(run)")
            }
            #expect(try await place.server.content() == "[]")
        }

        @Test func `what cannot be written is refused at once with the reason`() async throws {
            let place = try RemoteWorkspace.notes()
            for (arguments, words) in [
                (["--set", "id=5"], #"Note.id comes from the remote only ("write: false")"#),
                (["--set", "txt=5"], #"Note has no attribute or relationship "txt"; did you mean "text"?"#),
                (["--set", "topic=x"], #"Note.topic: the text "x" is not an integer of 64 bits"#),
                (["--set", "tags=1"], "Note.tags takes a JSON list of keys, such as [1,2]"),
                (["--set", "text=a", "--set", "text=b"], "text is set twice"),
                (["--set", "text"], #"--set takes NAME=VALUE, not "text""#),
            ] {
                let run = try await place.start(["create", "Note"] + arguments).finish()
                #expect(run.exitCode == 2, "\(run)")
                #expect(run.errorOutput.hasPrefix("bmo: error: " + words), "\(run)")
            }
        }
    }
}
