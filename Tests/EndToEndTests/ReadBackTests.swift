import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// What an object that is read after a change, or its place under a parent, says about the change.
    @Suite struct ReadBackTests {
        private typealias Place = RemoteWorkspace<RemoteServer>

        private func place(parent: String = "{to: List}") async throws -> Place {
            let place = try await Place("read-backs.py")
            try place.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(place.url)"}}}
                entities:
                  List: {bridge: api, key: id, attributes: {id: integer}, rest: {path: /lists, paging: none}}
                  Note:
                    bridge: api
                    key: id
                    writable: true
                    parent: list
                    attributes: {id: {type: integer, write: false}, text: text}
                    relationships: {list: \(parent)}
                    read_one: {path: "/notes/{parent.id}"}
                    rest: {path: "/lists/{parent.id}/notes", paging: none, write: {update: {}, delete: {}}}

                """, to: "bmo.yml")
            try await place.expectSuccess("sync", "-q")
            return place
        }

        private func asked(_ place: Place, _ method: String) throws -> [String] {
            try String(contentsOfFile: place.folder.appending("asked"), encoding: .utf8).split(separator: "\n")
                .filter { $0.hasPrefix(method) }.map(String.init)
        }

        @Test(arguments: [#"{"message": "busy"}"#, #"{"id": 11, "text": "a"}"#])
        func `a refused delete is not done because something else was read`(reply: String) async throws {
            let place = try await place()
            try place.folder.write(reply, to: "one")
            let push = try await place.bmo("delete", "Note", "10", "--push")
            #expect(push.exitCode == 1 && !push.output.contains("sent "), "\(push)")
            #expect(try await place.query("SELECT count(*) FROM bmo_outbox") == "1")
            #expect(try asked(place, "DELETE") == ["DELETE /lists/1/notes/10 "])
        }

        @Test(arguments: ["[]", "{}"])
        func `a refused delete is not done because the reply of read_one is empty`(reply: String) async throws {
            let place = try await place()
            try place.folder.write(reply, to: "one")
            let push = try await place.bmo("delete", "Note", "10", "--push")
            #expect(push.exitCode == 1 && !push.output.contains("sent "), "\(push)")
            let shown = try await place.expectSuccess("outbox", "show", "1").output
            #expect(shown.contains("read_one of Note returned no object"), "\(shown)")
            #expect(shown.contains("have the remote answer 404 or 410"), "\(shown)")
        }

        @Test func `a refused delete is done where a rule says that an empty reply means gone`() async throws {
            let place = try await place()
            let config = try String(contentsOfFile: place.folder.appending("bmo.yml"), encoding: .utf8)
            let rule = "responses: [{when: {path: \"$[0]\", missing: true}, action: empty}]"
            try place.folder.write(
                config.replacing(
                    #"read_one: {path: "/notes/{parent.id}"}"#,
                    with: "read_one: {path: \"/notes/{parent.id}\", \(rule)}"),
                to: "bmo.yml")
            try place.folder.write("[]", to: "one")
            try await place.expectSuccess("delete", "Note", "10", "--push")
            #expect(try await place.query("SELECT count(*) FROM bmo_outbox") == "0")
        }

        @Test func `a refused delete is done where a search by the key finds nothing`() async throws {
            let place = try await place()
            let config = try String(contentsOfFile: place.folder.appending("bmo.yml"), encoding: .utf8)
            let search = #"read_one: {path: /notes/search, query: {id: "{parent.id}"}}"#
            try place.folder.write(
                config.replacing(#"read_one: {path: "/notes/{parent.id}"}"#, with: search), to: "bmo.yml")
            try place.folder.write("[]", to: "one")
            try await place.expectSuccess("delete", "Note", "10", "--push")
            #expect(try await place.query("SELECT count(*) FROM bmo_outbox") == "0")
        }

        @Test func `a refused delete of an object that is not found is done`() async throws {
            let place = try await place()
            try await place.expectSuccess("delete", "Note", "10", "--push")
            #expect(try await place.query("SELECT count(*) FROM bmo_outbox") == "0")
        }

        @Test(arguments: [("b", 1), ("a", 3)])
        func `an update that changed nothing is done if the object has the value`(text: String, count: Int) async throws
        {
            let place = try await place()
            try place.folder.write(#"{"updated": 0}"#, to: "changed")
            // Not the item, which has the same key.
            try place.folder.write(
                #"{"id": 10, "text": "\#(text)", "items": [{"id": 10, "text": "c"}]}"#, to: "one")
            let push = try await place.bmo("update", "Note", "10", "--set", "text=b", "--push")
            #expect(push.exitCode == (text == "b" ? 0 : 1), "\(push)")
            #expect(try asked(place, "PATCH").count == count)
            #expect(try await place.query("SELECT text FROM Note") == "b")
            let waiting = try await place.query("SELECT state FROM bmo_outbox")
            #expect(waiting == (text == "b" ? "(no rows)" : "conflict"))
        }

        @Test(arguments: [("b", "0"), ("a", "1")])
        func `an update whose reply reports a failure beside the object is done if the object has the value`(
            text: String, waiting: String
        ) async throws {
            let place = try await place()
            try place.folder.write(#"{"id": 10, "text": "b", "success": false}"#, to: "changed")
            try place.folder.write(#"{"id": 10, "text": "\#(text)"}"#, to: "one")
            let push = try await place.bmo("update", "Note", "10", "--set", "text=b", "--push")
            #expect(push.exitCode == (text == "b" ? 0 : 1), "\(push)")
            #expect(push.output.contains(text == "b" ? "sent " : "says $.success is false"), "\(push)")
            #expect(try await place.query("SELECT count(*) FROM bmo_outbox WHERE state = 'unknown'") == waiting)
            #expect(try asked(place, "PATCH").count == 1)
        }

        @Test func `a member that only replies to changes have is not taken for one of the records`() async throws {
            let place = try await place()
            try place.folder.write(#"{"id": 10, "text": "b", "success": true}"#, to: "changed")
            try await place.expectSuccess("update", "Note", "10", "--set", "text=b", "--push")
            try place.folder.write(#"{"id": 10, "text": "c", "success": false}"#, to: "changed")
            try place.folder.write(#"{"id": 10, "text": "b"}"#, to: "one")
            let push = try await place.bmo("update", "Note", "10", "--set", "text=c", "--push")
            #expect(push.exitCode == 1 && push.output.contains("says $.success is false"), "\(push)")
            #expect(try await place.query("SELECT state FROM bmo_outbox") == "unknown")
        }

        @Test func `a flag that records have is not taken for a failure of a change`() async throws {
            let place = try await place()
            try place.folder.write(#"[{"id": 10, "text": "a", "success": false}]"#, to: "notes")
            try await place.expectSuccess("sync", "-q")
            try place.folder.write(#"{"id": 10, "text": "b", "success": false}"#, to: "changed")
            try await place.expectSuccess("update", "Note", "10", "--set", "text=b", "--push")
            #expect(try await place.query("SELECT count(*) FROM bmo_outbox") == "0")
            #expect(try asked(place, "GET /notes/10").isEmpty)
        }

        @Test(arguments: [(false, "unknown"), (true, "(no rows)")])
        func `a new object's flag may be its own where the entity keeps extra members`(
            keepsExtra: Bool, state: String
        ) async throws {
            let place = try await place()
            let config = try String(contentsOfFile: place.folder.appending("bmo.yml"), encoding: .utf8)
                .replacing("write: {update: {}", with: "write: {create: {}, update: {}")
            try place.folder.write(
                keepsExtra ? config.replacing("writable: true", with: "writable: true\n    extra: true") : config,
                to: "bmo.yml")
            try await place.expectSuccess("sync", "-q")
            try place.folder.write(#"{"id": 11, "text": "b", "success": false}"#, to: "changed")
            let push = try await place.bmo("create", "Note", "--set", "text=b", "--set", "list=1", "--push")
            #expect(push.exitCode == (keepsExtra ? 0 : 1), "\(push)")
            #expect(try await place.query("SELECT state FROM bmo_outbox") == state)
        }

        @Test func `an object is not moved by its path, which nothing in the body would tell`() async throws {
            let place = try await place()
            let edit = try await place.bmo("update", "Note", "10", "--set", "list=2")
            #expect(edit.exitCode != 0, "\(edit)")
            #expect(edit.errorOutput.contains("Note.list is the parent, which is sent in the path only"), "\(edit)")
            #expect(try await place.query("SELECT list FROM Note") == "1")
        }

        @Test func `an object that is moved in the body is found under its old parent`() async throws {
            let place = try await place(parent: "{to: List, write: true}")
            try await place.expectSuccess("update", "Note", "10", "--set", "list=2", "--push")
            #expect(try asked(place, "PATCH") == [#"PATCH /lists/1/notes/10 {"list":2}"#])
        }
    }
}
