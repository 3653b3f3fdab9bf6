import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// `fields`: only the values that the mapping reads are asked for.
    @Suite struct SelectedFieldsTests {
        private func configure(
            _ place: RemoteWorkspace<RemoteServer>, _ section: String, more: String = "", team: String = "listing: none"
        ) throws {
            try place.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(place.url)"}}}
                entities:
                  Person:
                    bridge: api
                    key: id
                    attributes: {id: integer, name: text, mail: {type: text, from: mail.work}}
                    relationships: {team: {to: Team}}
                    \(more)
                    rest: {\(section)}
                  Team:
                    \(team)
                    key: id
                    attributes: {id: integer, title: text}

                """, to: "bmo.yml")
        }

        private func asked(_ place: RemoteWorkspace<RemoteServer>) throws -> [String] {
            let text = try String(contentsOfFile: place.folder.appending("asked"), encoding: .utf8)
            return text.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
        }

        @Test(arguments: [
            ("names", "id,name,mail,team"), ("dots", "id,name,mail.work,team.id,team.title"),
            ("parentheses", "id,name,mail(work),team(id,title)"), ("braces", "id,name,mail{work},team{id,title}"),
        ])
        func `a request selects what the mapping reads`(_ notation: String, _ fields: String) async throws {
            let place = try await RemoteWorkspace("selected-fields.py")
            try configure(
                place, #"path: /people, paging: none, fields: \#(notation), query: {fields: "{fields}"}"#)
            let plan = try await place.expectSuccess("plan", "Person")
            #expect(plan.output.contains("fields="), "\(plan)")
            try await place.expectSuccess("sync")
            // The members of a record come in the order of the mapping, whose relationships are first.
            #expect(
                try asked(place).map { $0.split(separator: ",").sorted() } == [fields.split(separator: ",").sorted()])
            #expect(
                try await place.query(
                    "SELECT p.id, p.name, p.mail, t.title FROM Person p JOIN Team t ON t.id = p.team LIMIT 1")
                    == "1|person 1|p1@example|seven")
        }

        @Test func `a GraphQL query gets its selection set`() async throws {
            let place = try await RemoteWorkspace("selected-fields.py")
            let request = #"path: /graphql, fields: graphql, query: {query: "{ people { {fields} } }"}"#
            try configure(place, request + ", records: $.data.people, paging: none")
            try await place.expectSuccess("sync")
            #expect(try asked(place) == ["team { id title } id name mail { work }"])
            #expect(
                try await place.query("SELECT group_concat(mail, ' ') FROM Person")
                    == "p1@example p2@example p3@example")
            // A mapping that keeps everything cannot be written as a selection set.
            try configure(place, request + ", records: $.data.people, paging: none", more: "extra: true")
            let check = try await place.bmo("check")
            #expect(check.exitCode != 0, "\(check)")
            check.expectMessages("fields: the mapping may read any value of a record")
        }

        @Test func `where the mapping reads everything, nothing is selected`() async throws {
            let place = try await RemoteWorkspace("selected-fields.py")
            try configure(
                place, #"path: /people, paging: none, fields: names, query: {fields: "{fields}"}"#, more: "extra: true")
            let check = try await place.bmo("check")
            check.expectMessages("fields has no effect: the mapping may read any value of a record")
            try await place.expectSuccess("sync")
            #expect(try asked(place) == [""])
        }

        @Test func `fields without a place for it is a fault`() async throws {
            let place = try await RemoteWorkspace("selected-fields.py")
            try configure(place, "path: /people, paging: none, fields: names")
            let check = try await place.bmo("check")
            #expect(check.exitCode == 2, "\(check)")
            check.expectMessages("the section does not use {fields}", "put {fields} where the API takes it")
        }

        @Test func `a keyset's field is selected, too`() async throws {
            let place = try await RemoteWorkspace("selected-fields.py")
            try configure(
                place,
                #"path: /people, fields: names, query: {fields: "{fields}"}, paging: {style: keyset, field: secret}"#)
            let plan = try await place.expectSuccess("plan", "Person")
            #expect(plan.output.contains("secret"), "\(plan)")
        }
    }
}
