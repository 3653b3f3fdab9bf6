import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEndTests {
    /// What edits say and refuse, on the bad day too.
    @Suite struct EditTests {
        @Test func `an edit to roll back never joins one that waits, which would go with it`() async throws {
            let place = try RemoteWorkspace.notes()
            try await place.expect("create", "Note", "--set", "text=a", "--push")
            try await place.expect("update", "Note", "1", "--set", "text=IMPORTANT")
            try await place.expect("create", "Note", "--set", "text=new")
            let before = try place.rows("SELECT id, text, city FROM Note ORDER BY id")
            for arguments in [
                ["update", "Note", "1", "--set", "city=Paris"], ["delete", "Note", "1"],
                ["update", "Note", "1", "--set", "text=IMPORTANT"],
            ] {
                let run = try await place.start(arguments + ["--or-rollback"]).finish(within: .seconds(60))
                #expect(run.exitCode == 2 && run.output.isEmpty, "\(run)")
                #expect(
                    run.errorOutput.contains("Note 1 has a waiting edit: outbox 2; `bmo push` it first"), "\(run)")
            }
            let key = try place.value("SELECT min(id) FROM Note")
            #expect(key.hasPrefix("-"))
            let created = try await place.bmo("update", "Note", key, "--set", "city=Paris", "--or-rollback")
            #expect(created.exitCode == 2 && created.errorOutput.contains("outbox 3"), "\(created)")
            #expect(try place.rows("SELECT id, text, city FROM Note ORDER BY id") == before)
            #expect(try place.rows("SELECT id, attempts FROM bmo_outbox ORDER BY id") == [["2", "0"], ["3", "0"]])
            #expect(before.contains { $0[1] == "IMPORTANT" })
        }

        @Test func `what is rolled back is never called done, in JSON either`() async throws {
            let place = try RemoteWorkspace.notes()
            try await place.expect("create", "Note", "--set", "text=a", "--push")
            let done = try await place.bmo("update", "Note", "1", "--set", "text=b", "--or-rollback")
            #expect(done.exitCode == 0 && done.output.hasSuffix("Note 1 updated\n"), "\(done)")
            try place.write(url: try RemoteServer.fixture("objects.py").url)
            let gone = try await place.bmo("update", "Note", "1", "--set", "text=c", "--or-rollback", "--json")
            #expect(gone.exitCode == 1, "\(gone)")
            #expect(gone.output.contains(#""rolled_back":true"#), "\(gone)")
        }

        @Test func `a delete whose answer is lost is neither rolled back nor undone`() async throws {
            // The server carries out the first request of each kind, and closes the connection.
            let place = try RemoteWorkspace.notes(style: "droponce")
            _ = try? await place.server.curl(
                "droponce/topics", "-X", "POST", "-H", "Content-Type: application/json", "-d", #"{"name": "a"}"#)
            try await place.expect("sync", "-q")
            #expect(try place.value("SELECT count(*) FROM Topic") == "1")
            let run = try await place.bmo("delete", "Topic", "1", "--or-rollback")
            #expect(run.exitCode == 1 && !run.output.contains("rolled back"), "\(run)")
            #expect(run.errorOutput.contains("kept as outbox 1, and the next push sends it again"), "\(run)")
            #expect(try place.rows("SELECT state, may_have_arrived FROM bmo_outbox") == [["pending", "1"]])
            let edit = try place.value("SELECT max(id) FROM bmo_runs WHERE kind = 'edit'")
            #expect(try await place.bmo("undo", edit).exitCode != 0)
            #expect(try place.rows("SELECT * FROM Topic").isEmpty)
            try await place.expect("outbox", "retry", "1")
            #expect(try await place.expect("push").contains("1 sent"))
            #expect(try await place.server.content("topics") == "[]")
        }

        @Test func `temporary integer keys are typed as they are shown`() async throws {
            let place = try RemoteWorkspace.notes()
            try await place.expect("create", "Note", "--set", "text=a")
            #expect(try await place.expect("get", "Note", "-1", "--json").contains(#""id":-1"#))
            #expect(try await place.expect("get", "--json", "Note", "-1").contains(#""id":-1"#))
            #expect(try await place.expect("why", "Note", "-1").contains("text"))
            try await place.expect("update", "Note", "-1", "--set", "text=b")
            #expect(try place.value("SELECT text FROM Note") == "b")
            #expect(try await place.bmo("resolve", "Note", "-1", "--take", "local").errorOutput.contains("no conflict"))
            #expect(try await place.bmo("get", "Note", "-1x").exitCode == 2)
            try await place.expect("delete", "Note", "-1")
            #expect(try place.rows("SELECT * FROM Note").isEmpty)
        }

        @Test func `an object that is deleted here and not sent is reported as such`() async throws {
            let place = try RemoteWorkspace.notes()
            try await place.expect("create", "Note", "--set", "text=a", "--push")
            try await place.expect("delete", "Note", "1")
            for arguments in [
                ["delete", "Note", "1"], ["update", "Note", "1", "--set", "text=b"], ["get", "Note", "1"],
            ] {
                let run = try await place.start(arguments).finish(within: .seconds(60))
                #expect(run.exitCode != 0)
                #expect(run.errorOutput.contains("Note 1 is deleted here; the edit waits as outbox 2"), "\(run)")
            }
            #expect(
                try await place.bmo("delete", "Note", "9").errorOutput.contains(
                    "`bmo list Note` shows the existing ones"))
            let run = try place.value("SELECT max(id) FROM bmo_runs WHERE kind = 'edit'")
            #expect(!(try await place.expect("undo", run)).contains("reverts that"))
        }

        @Test func `a sync that found conflicts says so, and an edit on one is not promised to be sent`() async throws {
            let place = try RemoteWorkspace.notes()
            try await place.expect("create", "Note", "--set", "text=a", "--push")
            try await place.expect("update", "Note", "1", "--set", "text=here")
            try await place.server.change(1, #"{"text": "there"}"#)
            let sync = try await place.bmo("sync", "Note")
            #expect(sync.exitCode == 0 && sync.errorOutput.contains("1 conflict: `bmo conflicts` shows it"), "\(sync)")
            #expect(try await place.expect("sync", "Note", "--json").contains(#""conflicts":1"#))
            let update = try await place.expect("update", "Note", "1", "--set", "city=Paris")
            #expect(update.contains("not sent before `bmo resolve Note 1`, as outbox 2 is in conflict"), "\(update)")
            #expect(try await place.expect("get", "Note", "1").contains("to be sent (conflict)"))
        }

        @Test func `of a conflict without two values resolve says what can be done with the edit`() async throws {
            // The ETag is in the replies to writes alone: reading brings no other.
            let place = try RemoteWorkspace.notes(readOne: false)
            try await place.expect("create", "Note", "--set", "text=a", "--push")
            try await place.server.change(1, #"{"other": 1}"#)
            let update = try await place.bmo("update", "Note", "1", "--set", "text=b", "--push")
            #expect(update.exitCode == 1 && update.output.contains("conflict    2"), "\(update)")
            #expect(try await place.expect("conflicts") == "0 conflicts\n")
            let resolve = try await place.bmo("resolve", "Note", "1", "--take", "local")
            #expect(resolve.exitCode == 1, "\(resolve)")
            #expect(resolve.errorOutput.contains("Note 1 has no two values to choose from"), "\(resolve)")
            #expect(resolve.errorOutput.contains("`bmo outbox retry 2` sends the edit again"), "\(resolve)")
            #expect(try await place.expect("push", "--dry-run").hasPrefix("dry run: 0 edits would be sent, 1 stays"))
        }

        @Test func `a dry run cuts long values, and says what is not writable any more`() async throws {
            let place = try RemoteWorkspace.notes(match: nil, readOne: false)
            try await place.expect("create", "Note", "--set", "text=\(String(repeating: "x", count: 5000))")
            let dry = try await place.expect("push", "--dry-run")
            #expect(dry.contains("x… (5000 characters)") && dry.count < 400, "\(dry)")
            #expect(try await place.expect("plan", "Note").count < 1000)
            #expect(try await place.expect("push", "--dry-run", "--json").count > 5000, "the whole of it")
            #expect(try await place.expect("outbox", "show", "1").count < 400)
            let config = try String(contentsOfFile: place.folder.appending("bmo.yml"), encoding: .utf8)
            try place.folder.write(
                config.replacingOccurrences(of: "writable: true\n    # no", with: "writable: false\n    # no"),
                to: "bmo.yml")
            let held = try await place.expect("push", "--dry-run")
            #expect(held.contains("create  Note -1  cannot be sent: Note is no longer writable"), "\(held)")
            #expect(held.hasSuffix("dry run: 0 edits would be sent, 1 cannot be; nothing was sent\n"), "\(held)")
        }

        @Test func `a dry run says what an edit waits for, and does not count it as sent`() async throws {
            let place = try RemoteWorkspace.notes()
            try await place.expect("create", "Topic", "--set", "name=food")
            try await place.expect("create", "Note", "--set", "text=bread", "--set", "topic=-1")
            try await place.expect("create", "Note", "--set", "text=milk")
            let all = try await place.expect("push", "--dry-run")
            #expect(all.hasSuffix("dry run: 3 edits would be sent; nothing was sent\n"), "\(all)")

            let next = try place.value("SELECT strftime('%Y-%m-%dT%H:%M:%f000Z', 'now', '+1 hour')")
            _ = try place.rows("UPDATE bmo_outbox SET not_before = '\(next)', attempts = 1 WHERE id = 1")
            let dry = try await place.expect("push", "--dry-run")
            let lines = dry.split(separator: "\n")
            try #require(lines.count == 6, "\(dry)")
            #expect(lines[0].hasPrefix("create  Topic -1  ") && lines[1] == "        not sent now: next try at \(next)")
            #expect(lines[2].hasPrefix("create  Note -2  "))
            #expect(lines[3] == "        not sent now: it refers to what 1 creates")
            #expect(lines[5] == "dry run: 1 edit would be sent, 2 wait; nothing was sent")
            let json = try await place.expect("push", "--dry-run", "--json").split(separator: "\n")
            #expect(json.count == 4 && json[0].contains(#""key":[-1]"#) && json[0].contains(#""next":"\#(next)""#))
            #expect(
                json.last
                    == #"{"outcome":"dry_run","ready":1,"waits":2,"unknown":0,"faulty":0,"refused":0,"conflict":0}"#)
            #expect(try await place.expect("plan").contains("(not sent now: it refers to what 1 creates)"))

            let push = try await place.bmo("push")
            #expect(push.output.hasSuffix("1 sent, 2 waits\n"), "\(push)")
        }

        @Test func `an operation that the section does not name is refused at the edit and by check`() async throws {
            let place = try RemoteWorkspace.notes()
            let config = try String(contentsOfFile: place.folder.appending("bmo.yml"), encoding: .utf8)
            try place.folder.write(
                config.replacingOccurrences(of: "{create: {}, update: {}, delete: {}}", with: "{create: {}}"),
                to: "bmo.yml")
            try await place.expect("create", "Topic", "--set", "name=a", "--push")
            let update = try await place.bmo("update", "Topic", "1", "--set", "name=b")
            #expect(update.exitCode == 2)
            #expect(update.errorOutput.contains("the section rest of Topic does not define update"), "\(update)")
            // What the remote has not heard of is forgotten without asking it.
            try await place.expect("create", "Topic", "--set", "name=b")
            try await place.expect("delete", "Topic", try place.value("SELECT min(id) FROM Topic"))
            try place.folder.write(
                config.replacingOccurrences(of: ", write: {create: {}, update: {}, delete: {}}", with: ""),
                to: "bmo.yml")
            let check = try await place.bmo("check")
            #expect(check.exitCode == 2)
            #expect(
                check.errorOutput.contains(#"Topic is "writable", and its section rest has no "write""#), "\(check)")
        }

        @Test func `an attribute of new objects can be changed until the remote has heard of the object`() async throws
        {
            let place = try RemoteWorkspace.notes()
            let config = try String(contentsOfFile: place.folder.appending("bmo.yml"), encoding: .utf8)
            try place.folder.write(
                config.replacingOccurrences(of: "text: text", with: "text: {type: text, write: create_only}"),
                to: "bmo.yml")
            try await place.expect("create", "Note", "--set", "text=a")
            try await place.expect("update", "Note", "-1", "--set", "text=b")
            try await place.expect("push")
            #expect(try await place.server.content() == #"[{"text": "b", "id": 1}]"#)
            let late = try await place.bmo("update", "Note", "1", "--set", "text=c")
            #expect(late.exitCode == 2 && late.errorOutput.contains("in a new object only"), "\(late)")
        }

        @Test func `a member that is given twice is refused`() async throws {
            let place = try RemoteWorkspace.notes()
            try place.folder.write(#"{"text": "a", "text": "b"}"#, to: "note.json")
            let run = try await place.bmo("create", "Note", "--values", "note.json")
            #expect(run.exitCode == 2 && run.errorOutput.contains("text is given twice"), "\(run)")
        }

        @Test func `a value may begin with a combining mark`() async throws {
            let place = try RemoteWorkspace.notes()
            try await place.expect("create", "Note", "--set", "text=\u{301}a=b")
            #expect(try place.value("SELECT hex(text) FROM Note") == "CC81613D62")
            let found = try await place.expect("list", "Note", "--where", "text=\u{301}a=b", "--json")
            #expect(found.contains(#""text":"#), "\(found)")
        }

        @Test func `retry without a number makes due what waits for its next try too`() async throws {
            let place = try RemoteWorkspace.notes(style: "busy")
            try await place.expect("create", "Note", "--set", "text=a")
            _ = try await place.bmo("push")
            #expect(try place.value("SELECT not_before IS NULL FROM bmo_outbox") == "0")
            #expect(try await place.expect("outbox", "retry").hasPrefix("1 edit is due;"))
            #expect(try place.value("SELECT not_before IS NULL FROM bmo_outbox") == "1")
        }

        @Test func `a watch without a folder for its health file does not start`() async throws {
            let place = try RemoteWorkspace.notes()
            let run = try await place.bmo("watch", "--health", "nowhere/health.json")
            #expect(run.exitCode == 2)
            #expect(run.errorOutput.contains("the health file nowhere/health.json cannot be written"), "\(run)")
        }

        @Test func `the health file says stopped at the first signal, whatever comes after it`() async throws {
            let place = try RemoteWorkspace.notes(style: "slow")
            try await place.expect("create", "Note", "--set", "text=a")
            let watch = try place.start(["watch", "--every", "1h", "--health", "health.json"])
            defer { watch.signal(SIGKILL) }
            try await eventually("an edit is on its way") {
                try place.server.events().contains { $0.event == "POST" }
            }
            kill(watch.pid, SIGTERM)
            try await eventually("it says stopped") {
                let text = try? String(contentsOfFile: place.folder.appending("health.json"), encoding: .utf8)
                return text?.contains(#""state":"stopped""#) == true
            }
            kill(watch.pid, SIGTERM)
            _ = try await watch.finish(within: .seconds(20))
            let text = try String(contentsOfFile: place.folder.appending("health.json"), encoding: .utf8)
            #expect(text.contains(#""state":"stopped""#))
        }
    }
}
