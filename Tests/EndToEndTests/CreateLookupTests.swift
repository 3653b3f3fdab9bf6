import Foundation
import Glibc
import ImportTestSupport
import TestSupport
import Testing

extension EndToEndTests {
    /// Creates that the remote may have done already: they are looked up, and never doubled.
    @Suite struct CreateLookupTests {
        /// A place whose notes have keys that are made here.
        private func place(_ style: String) throws -> RemoteWorkspace<NoteServer> {
            let place = try RemoteWorkspace.notes(style: style)
            try place.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(place.server.url)"}}}
                entities:
                  Note:
                    bridge: api
                    key: id
                    writable: true
                    attributes: {id: text, text: text}
                    rest: {path: /\(style)/notes, records: $, paging: none, write: {create: {}, update: {}}}
                """, to: "bmo.yml")
            return place
        }

        @Test func `a create that the remote says is there already is ours where it is the same`() async throws {
            // The server makes it, and says of the request that it repeats by itself that there is one.
            let place = try place("twice")
            let run = try await place.expect("create", "Note", "--set", "id=k1", "--set", "text=a", "--push")
            #expect(run.contains("sent        1  Note k1 created"), "\(run)")
            #expect(try place.value("SELECT count(*) FROM bmo_outbox") == "0")
            #expect(try await place.server.content() == #"[{"id": "k1", "text": "a"}]"#)
        }

        @Test func `a create of what another made is refused, with what is different`() async throws {
            let place = try place("plain")
            _ = try await place.server.curl(
                "plain/notes", "-X", "POST", "-H", "Content-Type: application/json", "-d",
                #"{"id": "k1", "text": "theirs"}"#)
            let run = try await place.bmo("create", "Note", "--set", "id=k1", "--set", "text=ours", "--push")
            #expect(run.exitCode == 1)
            #expect(run.output.contains("refused     1  Note k1 created: conflict: "), "\(run)")
            #expect(run.output.contains("the remote's object has a different text"), "\(run)")
            #expect(try await place.server.content().contains("theirs"))
        }

        @Test func `a remote may give new objects negative keys, also those that they have here for now`() async throws
        {
            let place = try RemoteWorkspace.notes(style: "negative")
            _ = try await place.server.curl(
                "negative/notes", "-X", "POST", "-H", "Content-Type: application/json", "-d", #"{"text": "theirs"}"#)
            for text in ["a", "b"] { try await place.expect("create", "Note", "--set", "text=\(text)") }
            // The first gets the key that the second has for now.
            #expect(try await place.expect("push").contains("2 sent"))
            #expect(try place.rows("SELECT id, text FROM Note ORDER BY id") == [["-3", "b"], ["-2", "a"]])
            let save = try await place.expect("create", "Note", "--set", "text=c", "--push")
            #expect(save.contains("Note -4 created\n"), "\(save)")
            try await place.expect("sync")
            let rows = [["-4", "c"], ["-3", "b"], ["-2", "a"], ["-1", "theirs"]]
            #expect(try place.rows("SELECT id, text FROM Note ORDER BY id") == rows)
            #expect(try place.value("SELECT count(*) FROM bmo_outbox") == "0")
        }

        @Test func `an answer that cannot be imported does not keep other edits from being sent`() async throws {
            let place = try RemoteWorkspace.notes()
            for text in ["a", "b"] { try await place.expect("create", "Note", "--set", "text=\(text)") }
            try SQLiteFile(place.database).rows(
                """
                CREATE TRIGGER mine BEFORE UPDATE OF id ON Note WHEN old.text = 'a'
                BEGIN SELECT raise(ABORT, 'not this one'); END
                """)
            let push = try await place.bmo("push")
            #expect(push.exitCode == 1)
            #expect(push.output.contains("unknown     1  Note -1 created: "), "\(push)")
            #expect(push.output.contains("the remote's answer cannot be imported: "), "\(push)")
            #expect(push.output.contains("Note 2 created (was -2)"), "\(push)")
            #expect(try place.rows("SELECT id, text FROM Note ORDER BY id") == [["-1", "a"], ["2", "b"]])
            // It is not made a second time once the reason is gone.
            try SQLiteFile(place.database).rows("DROP TRIGGER mine")
            #expect(try await place.expect("push", "--look-again-after", "0s").contains("Note 1 created"))
            #expect(try await place.server.content() == #"[{"text": "a", "id": 1}, {"text": "b", "id": 2}]"#)
        }

        @Test func `a create that the remote is still at is not doubled, however soon it is looked for`() async throws {
            let place = try RemoteWorkspace.notes(style: "late")
            try await place.expect("create", "Note", "--set", "text=once")
            let push = try place.start(["push"])
            try await eventually("the server has it") { try place.server.events().contains { $0.event == "POST" } }
            push.signal(SIGKILL)
            _ = try await push.finish()
            let next = try await place.expect("push", "--look-again-after", "0s")
            #expect(next.contains("Note 1 created"), "\(next)")
            #expect(try place.server.events().filter { $0.event == "POST" }.count == 1)
            #expect(try await place.server.content() == #"[{"text": "once", "id": 1}]"#)
            #expect(try place.rows("SELECT id, text FROM Note") == [["1", "once"]])
        }

        @Test func `the time to look again counts for edits that are unknown already`() async throws {
            let place = try RemoteWorkspace.notes(style: "lose")
            try await place.expect("create", "Note", "--set", "text=a")
            #expect(try await place.bmo("push").output.contains("the remote does not have it yet"))
            let json = try await place.expect("outbox", "--json")
            #expect(json.contains(#""state":"unknown""#) && json.contains(#""sent":"20"#), "\(json)")
            #expect(try await place.bmo("push", "--look-again-after", "1h").output.contains("unknown     1"))
            try await Task.sleep(for: .seconds(1))
            #expect(try await place.expect("push", "--look-again-after", "1s").contains("1 sent"))
            #expect(try await place.server.content() == #"[{"text": "a", "id": 1}]"#)
        }

        @Test func `a lost create is found by a relationship to one as well`() async throws {
            let place = try RemoteWorkspace.notes(style: "drop", match: "match: [text, topic]")
            for name in ["a", "b"] { try await place.expect("create", "Topic", "--set", "name=\(name)", "--push") }
            _ = try await place.server.curl(
                "drop/notes", "-X", "POST", "-H", "Content-Type: application/json", "-d",
                #"{"text": "same", "topic": 1}"#)
            let push = try await place.expect("create", "Note", "--set", "text=same", "--set", "topic=2", "--push")
            #expect(push.contains("Note 2 created (was -3)"), "\(push)")
            try place.write(match: "match: [text, tags]", url: place.server.url)
            let check = try await place.bmo("check")
            #expect(check.exitCode == 2 && check.allOutput.contains("which leads to many objects"), "\(check)")
        }

        @Test func `options may stand before a subcommand`() async throws {
            let place = try RemoteWorkspace.notes(style: "refuse")
            try await place.expect("create", "Note", "--set", "text=a")
            _ = try await place.bmo("push")
            #expect(try await place.expect("outbox", "-f", "bmo.yml", "retry").hasPrefix("1 edit is due"))
            #expect(try await place.expect("outbox", "-f", "bmo.yml", "show", "1").hasPrefix("1  Note -1 created"))
            #expect(try await place.expect("outbox", "-f", "bmo.yml", "Note").contains("Note -1 created"))
        }
    }
}
