import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Edits of a part of an object inside the object: the other parts stay, at the remote and here, or it is said.
    @Suite struct NestedWriteTests {
        private func place(_ update: String, style: String = "plain", more: String = "") throws -> RemoteWorkspace<
            NoteServer
        > {
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
                    \(more)
                    attributes:
                      id: {type: integer, write: false}
                      text: text
                      city: {type: text, from: address.city}
                      zip: {type: text, from: address.zip}
                      labels: json
                    rest: {path: /\(style)/notes, records: $, paging: none, write: {create: {}, update: {\(update)}}}
                """, to: "bmo.yml")
            return place
        }

        private func make(_ place: RemoteWorkspace<NoteServer>) async throws {
            _ = try await place.server.curl(
                "\(place.server.style)/notes", "-X", "POST", "-H", "Content-Type: application/json", "-d",
                #"{"text": "a", "address": {"city": "Lyon", "zip": "69001", "theirs": 1}, "labels": {"a": 1, "b": 2}}"#)
            try await place.expect("sync", "-q")
        }

        @Test func `an edit of one part keeps the others on both sides`() async throws {
            let place = try place("")
            try await make(place)
            try await place.expect("update", "Note", "1", "--set", "city=Paris", "--push")
            #expect(
                try await place.server.content("notes/1").contains(
                    #""address": {"city": "Paris", "zip": "69001", "theirs": 1}"#))
            #expect(try place.rows("SELECT city, zip FROM Note") == [["Paris", "69001"]])
        }

        @Test func `where the object cannot be read the parts that are known go along, as the remote has them`()
            async throws
        {
            let place = try place("", style: "blind")
            try await make(place)
            try await place.expect("update", "Note", "1", "--set", "city=Paris")
            // A later edit is not sent before its time.
            try await place.expect("push", "--dry-run")
            try await place.expect("push")
            let sent = try place.server.events().filter { $0.event == "PATCH" }.map(\.path)
            #expect(sent == ["/blind/notes/1\n" + #"{"address":{"zip":"69001","city":"Paris"}}"#])
            #expect(try place.rows("SELECT city, zip FROM Note") == [["Paris", "69001"]])
        }

        @Test func `parts that the remote loses are reported, and lost here as well`() async throws {
            let place = try place("nested: part")
            try await make(place)
            let push = try await place.expect("update", "Note", "1", "--set", "city=Paris", "--push")
            #expect(
                push.contains("sent        1  Note 1 updated; warning: the remote's object has no zip any more"),
                "\(push)")
            #expect(try place.rows("SELECT city, zip FROM Note") == [["Paris", "null"]])
            #expect(try await place.expect("diff").contains("69001"))
        }

        @Test func `an attribute of the type json takes the place of the remote's object`() async throws {
            let place = try place("method: PUT")
            try await make(place)
            try await place.expect("update", "Note", "1", "--set", #"labels={"b":3}"#, "--push")
            #expect(try await place.server.content("notes/1").contains(#""labels": {"b": 3}"#))
            #expect(try place.rows("SELECT labels FROM Note") == [[#"{"b":3}"#]])
        }
    }
}
