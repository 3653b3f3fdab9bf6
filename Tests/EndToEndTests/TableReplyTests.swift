import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// `format: csv` and `xml`: replies whose rows are the records.
    @Suite struct TableReplyTests {
        private func place(_ section: String) async throws -> RemoteWorkspace<RemoteServer> {
            let place = try await RemoteWorkspace("tables.py")
            try configure(place, section)
            return place
        }

        private func configure(_ place: RemoteWorkspace<RemoteServer>, _ section: String) throws {
            try place.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(place.url)"}}}
                entities:
                  Person:
                    bridge: api
                    key: id
                    attributes: {id: integer, name: text, city: text}
                    rest: {\(section)}

                """, to: "bmo.yml")
        }

        private func people(_ place: RemoteWorkspace<RemoteServer>) async throws -> String {
            try await place.query("SELECT id, name, city FROM Person ORDER BY id")
        }

        @Test func `a table is synced, and a row that it lacks is deleted`() async throws {
            let place = try await place("path: /people.csv, format: csv, empty_as_null: true")
            try await place.expectSuccess("sync")
            #expect(try await people(place) == "1|Ann|Köln\n2|Bo|\n3|Cy, the third|Bern")
            try place.folder.write("id,name,city\n1,Ann,Köln\n3,Cy,Bern\n", to: "people")
            try await place.expectSuccess("sync")
            #expect(try await people(place) == "1|Ann|Köln\n3|Cy|Bern")
        }

        @Test func `a login page in place of the table deletes nothing`() async throws {
            let place = try await place("path: /people.csv, format: csv")
            try await place.expectSuccess("sync")
            for (path, message) in [("login", "is a web page where CSV was expected"), ("empty", "the reply is empty")]
            {
                try configure(place, "path: /\(path), format: csv")
                let sync = try await place.bmo("sync")
                #expect(sync.exitCode != 0, "\(sync)")
                sync.expectMessages(message)
            }
            #expect(try await people(place).split(separator: "\n").count == 3)
        }

        @Test(arguments: ["Service temporarily unavailable, please try again later\n", "name,city\n", "report pending"])
        func `a message or another header in place of the table deletes nothing`(text: String) async throws {
            let place = try await place("path: /people.csv, format: csv, paging: none")
            try await place.expectSuccess("sync")
            try place.folder.write(text, to: "people")
            let sync = try await place.bmo("sync")
            #expect(sync.exitCode != 0, "\(sync)")
            sync.expectMessages("the text has no column \"id\", which the key needs, in its header:")
            #expect(try await people(place).split(separator: "\n").count == 3)
            // A header alone is a table without rows.
            try place.folder.write("city,name,id\n", to: "people")
            try await place.expectSuccess("sync", "--allow-deletes")
            #expect(try await people(place) == "(no rows)")
        }

        @Test func `a message in place of a later page does not end the paging`() async throws {
            let place = try await place("path: /pages, format: csv, paging: {style: link_header}")
            try await place.expectSuccess("sync")
            try place.folder.write("", to: "busy")
            let sync = try await place.bmo("sync")
            #expect(sync.exitCode != 0, "\(sync)")
            sync.expectMessages("page 2 of Person: the text has no column \"id\"")
            #expect(try await people(place) == "1|n1|\n2|n2|\n3|n3|")
        }

        @Test func `a bad row is quarantined with its reason`() async throws {
            let place = try await place("path: /bad.csv, format: csv")
            try await place.bmo("sync")
            #expect(try await people(place) == "1|Ann|Köln\n3|Cy|Bern")
            let quarantine = try await place.bmo("quarantine")
            #expect(quarantine.output.contains("row 2 of /bad.csv has 2 fields, the header names 3"), "\(quarantine)")
        }

        @Test func `attributes come from the columns and from where a row stands`() async throws {
            let place = try await RemoteWorkspace("tables.py")
            try place.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(place.url)"}}}
                entities:
                  Person:
                    bridge: api
                    key: [file, row]
                    attributes: {file: {type: text, from: "@member"}, row: {type: integer, from: "@row"}, name: text}
                    rest: {path: /people.zip, format: csv}

                """, to: "bmo.yml")
            try await place.expectSuccess("sync")
            #expect(
                try await place.query("SELECT file, row, name FROM Person ORDER BY file, row")
                    == "part0.csv|1|Ann\npart0.csv|2|Bo\npart0.csv|3|Cy, the third\npart1.csv|1|Di")
        }

        @Test func `members without a meaning in the format are faults of the check`() async throws {
            let place = try await place("path: /people.csv, delimiter: \";\"")
            let check = try await place.bmo("check")
            #expect(check.exitCode == 2, "\(check)")
            check.expectMessages("delimiter is for rows of CSV", "set format: csv, or remove delimiter")
        }
    }
}
