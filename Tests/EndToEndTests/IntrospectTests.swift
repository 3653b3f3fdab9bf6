import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// What `bmo introspect` writes passes `bmo check` and brings rows at once.
    @Suite struct IntrospectTests: TestWorkspace {
        let server: RemoteServer
        let folder: TemporaryFolder
        let environment = ["NOTES_TOKEN": "secret-token"]

        init() throws {
            server = try RemoteServer.fixture("objects.py")
            folder = try TemporaryFolder()
        }

        @Test(arguments: ["url", "file", "yaml"])
        func `an OpenAPI document becomes a configuration that syncs`(form: String) async throws {
            var place = server.url + "/openapi.json"
            if form != "url" {
                let text = try await ProcessRun.run("curl", ["-s", place]).output
                place = form == "yaml" ? "api.yaml" : "api.json"
                let whole = text.replacing(#""url": "/plain""#, with: "\"url\": \"\(server.url)/plain\"")
                // JSON is YAML; a comment in front makes it nothing else.
                try folder.write(form == "yaml" ? "# an API\n" + whole : whole, to: place)
            }
            let introspect = try await bmo("introspect", "rest", "--openapi", place, "-o", "bmo.yml")
            #expect(introspect.exitCode == 0, "\(introspect)")
            let text = try String(contentsOfFile: folder.appending("bmo.yml"), encoding: .utf8)
            for line in [
                "auth: {type: bearer, token: {env: NOTES_TOKEN}}", "key: id  # high: named id",
                "joined: timestamp  # high: date-time in the document", "born: date  #", "token: uuid  #",
                "active: boolean  #",
                "home: {type: url, transform: empty_as_null}  #", "balance: decimal  #", "seen: timestamp  #",
                "score: real  #",
                "address_city: {type: text, from: address.city}", "tags: json",
                "paging: {style: page, page_parameter: page, size_parameter: per_page, size: 10, total: $.total}  # high:",
                "records: $.data  # high: the only list in the reply",
                "person: {to: Person}  # high: an object of Person",
                "# write: {create: {}, update: {}, delete: {}}", "path: '/people/{parent.id}/notes'", "parent: person",
                "# incremental: {field: updated_at, lookback: '5m'}  # medium:",
            ] { #expect(text.contains(line), "no \(line) in\n\(text)") }
            #expect(!text.contains("password"))

            let check = try await bmo("check")
            #expect(check.exitCode == 0, "\(check)")
            let sync = try await bmo("sync")
            #expect(sync.exitCode == 0, "\(sync)")
            // A scan per person: which ones are there, the same sync may not know yet.
            let again = try await bmo("sync", "Remark")
            #expect(again.exitCode == 0, "\(again)")
            let rows = try await query(
                "SELECT count(*), min(joined), max(address_city), sum(active) FROM Person")
            #expect(rows == "30|2026-01-01T10:00:00.000000Z|Lyon|15")
            #expect(try await query("SELECT count(*), count(DISTINCT person) FROM Remark") == "60|30")
            #expect(try server.events().last?.headers["authorization"] == "Bearer secret-token")
        }

        @Test func `a document on another host than the API gets none of its credentials`() async throws {
            func tokens(_ arguments: String...) async throws -> [String?] {
                let before = try server.events().count
                let run = try await ProcessRun.run(
                    BuiltCommand.path(),
                    ["introspect", "rest", "--openapi", server.url + "/openapi.json", "--auth", "bearer:NOTES_TOKEN"]
                        + arguments, environment: ["NOTES_TOKEN": "secret-token"], directory: folder.path)
                #expect(run.exitCode == 0, "\(run)")
                #expect(run.output.contains("auth: {type: bearer, token: {env: NOTES_TOKEN}}"))
                let events = try server.events().dropFirst(before)
                try #require(!events.isEmpty)
                return events.map { $0.headers["authorization"] }
            }
            #expect(try await tokens("--option", "url=https://api.example.test").nonEmptyAllSatisfy { $0 == nil })
            #expect(try await tokens().contains("Bearer secret-token"))
        }

        @Test func `a document whose configuration is larger than a file may be is refused as such`() async throws {
            let properties = (0..<240).map {
                #""\#(String(repeating: "long_", count: 60))\#($0)": {"type": "string", "description": "d"}"#
            }.joined(separator: ", ")
            let paths = (0..<15).map { number in
                #""/things\#(number)": {"get": {"responses": {"200": {"content": {"application/json": {"schema": {"type": "array", "items": {"title": "Thing\#(number)", "type": "object", "properties": {"id": {"type": "integer"}, \#(properties)}}}}}}}}}"#
            }.joined(separator: ", ")
            try folder.write(
                #"{"openapi": "3.0.3", "info": {"title": "T"}, "servers": [{"url": "https://h"}], "paths": {\#(paths)}}"#,
                to: "api.json")
            let run = try await bmo("introspect", "rest", "--openapi", "api.json", "-o", "bmo.yml")
            #expect(run.exitCode != 0)
            run.expectMessages(
                "the configuration of 15 entities would be larger than 1 MiB, which is the most that a file may have",
                "a document with fewer paths")
        }

        @Test func `a configuration that cannot sync as it stands is not a success`() async throws {
            let apis = try RemoteServer.fixture("apis.py")
            func introspect(_ body: String, _ arguments: String...) async throws -> ProcessRun {
                let url = "\(apis.url)/says?body=\(body)"
                return try await ProcessRun.run(
                    BuiltCommand.path(), ["introspect", "rest", "--sample", url] + arguments, environment: [:],
                    directory: folder.path)
            }
            // Nothing tells these records apart.
            let same = try await introspect("[{%22a%22:1},{%22a%22:1}]", "-o", "same.yml")
            #expect(same.exitCode == 1, "\(same)")
            same.expectMessages("no entity can be synced as it stands: 1 entity is commented out in same.yml")
            #expect(!same.allOutput.contains("bmo sync"))
            let text = try String(contentsOfFile: folder.appending("same.yml"), encoding: .utf8)
            #expect(text.contains("no member identifies a record"), "\(text)")
            let printed = try await introspect("[{%22a%22:1},{%22a%22:1}]")
            #expect(printed.exitCode == 1, "\(printed)")
            let empty = try await introspect("[]", "-o", "empty.yml")
            #expect(empty.exitCode == 1, "\(empty)")
            empty.expectMessages("the reply holds no list of objects, or an empty one")
            #expect(!FileManager.default.fileExists(atPath: folder.appending("empty.yml")))
        }

        @Test func `files that a document refers to are read beside it, and no others`() async throws {
            try folder.write(
                """
                openapi: 3.0.0
                info: {title: Shop}
                servers: [{url: "\(server.url)/plain"}]
                paths:
                  /people:
                    get:
                      responses:
                        "200": {content: {application/json: {schema: {type: array, items: {$ref: "parts/types.yaml#/Person"}}}}}
                  /pets:
                    get:
                      responses:
                        "200": {content: {application/json: {schema: {type: array, items: {$ref: "http://127.0.0.1:1/pet.json"}}}}}
                """, to: "api.yaml")
            try FileManager.default.createDirectory(
                atPath: folder.appending("parts"), withIntermediateDirectories: true)
            try folder.write(
                """
                Person: {type: object, properties: {id: {type: integer}, name: {type: string}, home: {$ref: "#/Home"}}}
                Home: {type: object, properties: {city: {$ref: "words.json"}}}
                """, to: "parts/types.yaml")
            try folder.write(#"{"type": "string", "format": "uuid"}"#, to: "parts/words.json")
            let run = try await bmo("introspect", "rest", "--openapi", "api.yaml", "-o", "bmo.yml")
            #expect(run.exitCode == 0, "\(run)")
            let text = try String(contentsOfFile: folder.appending("bmo.yml"), encoding: .utf8)
            for line in ["  Person:", "id: integer", "home_city: {type: uuid, from: home.city}"] {
                #expect(text.contains(line), "no \(line) in\n\(text)")
            }
            #expect(text.contains("http://127.0.0.1:1/pet.json: a file at another location is not read"), "\(text)")
        }

        @Test func `a listing that is asked by POST becomes a configuration that asks so`() async throws {
            let echo = try RemoteServer.fixture()
            let body = #"{"wanted": "all", "items": [{"id": 1, "name": "a"}, {"id": 2, "name": "b"}]}"#
            let introspect = try await bmo(
                "introspect", "rest", "--sample", echo.url + "/say/words", "--body", body, "-o", "bmo.yml")
            #expect(introspect.exitCode == 0, "\(introspect)")
            let sync = try await bmo("sync")
            #expect(sync.exitCode == 0, "\(sync)")
            #expect(try await query("SELECT group_concat(name) FROM Word") == "a,b")
            let wrong = try await bmo("introspect", "rest", "--sample", echo.url, "--body", "{")
            #expect(wrong.exitCode == 2 && wrong.errorOutput.contains("--body: it is not JSON"), "\(wrong)")
        }

        @Test func `a sample reply becomes a configuration that syncs`() async throws {
            let introspect = try await bmo(
                "introspect", "rest", "--sample", server.url + "/plain/people?per_page=7", "--header",
                "X-Key: env:NOTES_TOKEN",
                "-o", "bmo.yml")
            #expect(introspect.exitCode == 0, "\(introspect)")
            let text = try String(contentsOfFile: folder.appending("bmo.yml"), encoding: .utf8)
            for line in [
                "headers: {X-Key: {env: NOTES_TOKEN}}", "key: id  # high: named id, unique in the sample",
                "joined: timestamp  # high: date-time in 7 records", "born: date", "token: uuid",
                "home: url  # high: URL in 7 records",
                "balance: decimal", "score: real", "seen: timestamp", "active: boolean", "nick: text", "tags: json",
                "records: $.data",
            ] { #expect(text.contains(line), "no \(line) in\n\(text)") }
            #expect(!text.contains("secret-token"))
            let sync = try await bmo("sync")
            #expect(sync.exitCode == 0, "\(sync)")
            let database = try #require(
                try FileManager.default.contentsOfDirectory(atPath: folder.path).first { $0.hasSuffix(".sqlite") })
            #expect(
                try await query("SELECT count(*), count(nick) FROM Person", in: folder.appending(database)) == "30|10")
        }

        @Test func `the command finds a document in the usual places`() async throws {
            let introspect = try await bmo("introspect", "rest", server.url)
            #expect(introspect.exitCode == 0, "\(introspect)")
            #expect(introspect.output.hasPrefix("# Written by bmo introspect rest http://"))
            #expect(introspect.errorOutput == "3 entities ready\n")
        }

        @Test func `a WSDL and a share become configurations that sync`() async throws {
            let workplace = try await RemoteWorkspace.demo()
            let wsdl = try await workplace.bmo("introspect", "soap", workplace.server.soapWSDL, "-o", "soap.yml")
            #expect(wsdl.exitCode == 0, "\(wsdl)")
            let text = try String(contentsOfFile: workplace.folder.appending("soap.yml"), encoding: .utf8)
            for line in [
                "key: code  # high: GetSubdivision takes it", "operation: ListSubdivisions",
                "total: ListSubdivisionsResponse/total",
                "offset_element: offset",
            ] { #expect(text.contains(line), "no \(line) in\n\(text)") }
            let sync = try await workplace.bmo("sync", "-f", "soap.yml", "--json")
            #expect(sync.exitCode == 0, "\(sync)")
            let rows = try #require(sync.lastObject(about: "Subdivision"), "\(sync)")
            #expect((rows["inserted"] as? Int ?? 0) > 5000)

            let share = try await ProcessRun.run(
                BuiltCommand.path(),
                ["introspect", "smb", workplace.server.smbURL, "--auth", "SMB_USER:SMB_PASSWORD", "-o", "smb.yml"],
                environment: ["SMB_USER": workplace.server.smbUser, "SMB_PASSWORD": workplace.server.smbPassword],
                directory: workplace.folder.path)
            #expect(share.exitCode == 0, "\(share)")
            let files = try String(contentsOfFile: workplace.folder.appending("smb.yml"), encoding: .utf8)
            #expect(files.contains("password: {env: SMB_PASSWORD}"), "\(files)")
            #expect(!files.contains(workplace.server.smbPassword))
            let check = try await workplace.bmo("check", "-f", "smb.yml")
            #expect(check.exitCode == 0, "\(check)\n\(files)")
            let brought = try await ProcessRun.run(
                BuiltCommand.path(), ["sync", "-f", "smb.yml"],
                environment: ["SMB_USER": workplace.server.smbUser, "SMB_PASSWORD": workplace.server.smbPassword],
                directory: workplace.folder.path)
            #expect(brought.exitCode == 0, "\(brought)\n\(files)")
        }

        @Test func `an existing file is not replaced`() async throws {
            try folder.write("mine", to: "bmo.yml")
            let run = try await bmo("introspect", "rest", "--sample", server.url + "/plain/people", "-o", "bmo.yml")
            #expect(run.exitCode == 2)
            #expect(run.errorOutput == "bmo: error: bmo.yml already exists; --force replaces it\n")
            #expect(try String(contentsOfFile: folder.appending("bmo.yml"), encoding: .utf8) == "mine")
            #expect(try server.events().isEmpty)
            let forced = try await bmo(
                "introspect", "rest", "--sample", server.url + "/plain/people", "-o", "bmo.yml", "--force")
            #expect(forced.exitCode == 0, "\(forced)")
        }

        @Test func `an unreadable sample is reported, and nothing is written`() async throws {
            try folder.write("hello: [", to: "bad.yaml")
            try folder.write("{\"hello\": 1}", to: "other.json")
            for (place, words) in [
                ("bad.yaml", "bad.yaml is neither JSON nor YAML: line 2"),
                ("other.json", "this is not an OpenAPI document"),
                ("missing.json", "the document missing.json cannot be read"), (server.url + "/refuse/x", "answers 422"),
            ] {
                let run = try await bmo("introspect", "rest", "--openapi", place, "-o", "bmo.yml")
                #expect(run.exitCode != 0)
                #expect(run.errorOutput.contains(words), "\(run)")
            }
            let none = try await bmo("introspect", "rest")
            #expect(none.exitCode == 2)
            #expect(none.errorOutput.contains("say what to examine"))
            #expect(!FileManager.default.fileExists(atPath: folder.appending("bmo.yml")))
        }
    }
}
