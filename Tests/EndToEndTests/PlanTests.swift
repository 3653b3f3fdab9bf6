import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// What a sync would ask for, what `--where` asks for, and what `check` says of sections.
    @Suite struct PlanTests: TestWorkspace {
        let server: RemoteServer
        let folder: TemporaryFolder
        let environment = ["API_KEY": "s3cr3t-key"]

        init() throws {
            server = try RemoteServer.fixture("apis.py")
            folder = try TemporaryFolder()
            try folder.write(
                """
                version: 1
                bridges:
                  api:
                    plugin: rest
                    options: {url: "\(server.url)", auth: {type: api_key, query: api_key, value: {env: API_KEY}}}
                entities:
                  Person:
                    bridge: api
                    key: id
                    incremental: {field: changed}
                    attributes: {id: integer, name: text, city: text, changed: timestamp}
                    rest: {path: /people, query: {since: "{since}"}, filters: {city: city}}
                  Pet:
                    bridge: api
                    key: id
                    parent: owner
                    attributes: {id: integer, name: text}
                    relationships: {owner: {to: Person}}
                    rest: {path: "/pets?owner={parent.id}", paging: none}

                """, to: "bmo.yml")
        }

        @Test func `the plan shows requests, cursors and parents, and asks no server`() async throws {
            let before = try await bmo("plan")
            #expect(before.exitCode == 0, "\(before)")
            #expect(
                before.output == """
                    Person from api: everything (nothing is known yet)
                      GET \(server.url)/people
                      paging: auto, decided by the first reply
                      rows that a complete listing lacks are deleted

                    Pet from api: everything (no incremental is set)
                      once for each Person, 4 at a time; none is known yet, so names stand for values below
                      GET \(server.url)/pets?owner=Person.id
                      paging: none
                      rows that a complete listing lacks are deleted

                    """)
            #expect(try server.events().isEmpty)
            #expect(!FileManager.default.fileExists(atPath: folder.appending("bmo.sqlite")))

            let sync = try await bmo("sync")
            #expect(sync.exitCode == 0, "\(sync)")
            sync.expectMessages("Person: found in the first reply: records: $.items, paging: {style: page")
            let asked = try server.events().count
            let after = try await bmo("plan")
            after.expectMessages(
                "Person from api: what changed since 2024-03-25T10:00:00Z",
                "GET \(server.url)/people?since=2024-03-25T10%3A00%3A00Z",
                "once for each of 25 Person, 4 at a time; here for [1]", "/pets?owner=1")
            let full = try await bmo("plan", "Person", "--full")
            full.expectMessages("Person from api: everything (as requested)")
            #expect(try server.events().count == asked)
            #expect(!after.allOutput.contains("s3cr3t"))
        }

        @Test func `waiting edits are shown by entity, as the remote gets them`() async throws {
            let place = try RemoteWorkspace.notes()
            try await place.expect("sync", "-q")
            try await place.expect("create", "Topic", "--set", "name=food")
            try await place.expect("create", "Note", "--set", "text=milk", "--set", "city=Lyon")
            let plan = try await place.expect("plan")
            #expect(
                plan.hasSuffix(
                    """

                    Topic: 1 edit waits for `bmo push`
                      create Topic -1  {"name":"food"}

                    Note: 1 edit waits for `bmo push`
                      create Note -2  {"text":"milk","address":{"city":"Lyon"}}

                    """), "\(plan)")
            let json = try await place.expect("plan", "Note", "--json")
            #expect(
                json.contains(
                    #""writes":[{"entry":2,"entity":"Note","key":[-2],"operation":"create","state":"pending","#
                        + #""values":{"text":"milk","address":{"city":"Lyon"}}}]"#), "\(json)")
            #expect(try await place.server.content() == "[]")
        }

        @Test func `conditions go to the API where the config maps them, and the plan says which`() async throws {
            let plan = try await bmo("plan", "Person", "--where", "city=Paris", "--where", "name~%2%", "--json")
            let object = try #require(JSONSerialization.jsonObject(with: Data(plan.output.utf8)) as? [String: Any])
            let scan = try #require((object["walks"] as? [[String: Any]])?.first)
            #expect(scan["extent"] as? String == "part")
            let conditions = try #require(scan["conditions"] as? [[String: String]])
            #expect(
                conditions == [
                    ["condition": "city=Paris", "applied_by": "api"], ["condition": "name~%2%", "applied_by": "bmo"],
                ])
            let requests = try #require(scan["requests"] as? [[String: Any]])
            #expect(requests.first?["request"] as? String == "GET \(server.url)/people?city=Paris")
        }

        @Test func `a part of a listing is imported, and deletes and remembers nothing`() async throws {
            let part = try await bmo("sync", "Person", "--where", "city=Paris", "--where", "name~%2%")
            #expect(part.exitCode == 0, "\(part)")
            // Even numbers are in Paris.
            #expect(try await query("SELECT group_concat(id) FROM Person") == "2,12,20,22,24")
            #expect(try server.events().nonEmptyAllSatisfy { $0.path.contains("city=Paris") })
            let next = try await bmo("plan", "Person")
            next.expectMessages("everything (nothing is known yet)")

            _ = try await bmo("sync")
            #expect(try await query("SELECT count(*) FROM Person") == "25")
            let cursors = try await query("SELECT * FROM bmo_cursors ORDER BY 1, 2, 3")
            let again = try await bmo("sync", "Person", "--where", "id<=2")
            #expect(again.exitCode == 0, "\(again)")
            #expect(try await query("SELECT count(*) FROM Person") == "25")
            #expect(try await query("SELECT * FROM bmo_cursors ORDER BY 1, 2, 3") == cursors)
            // The condition names the parent: the others are not asked.
            let before = try server.events().count
            let pets = try await bmo("sync", "Pet", "--where", "owner=3")
            #expect(pets.exitCode == 0, "\(pets)")
            #expect(try server.events().dropFirst(before).map { $0.path.prefix(13) } == ["/pets?owner=3"])
            #expect(try await query("SELECT count(*) FROM Pet") == "50")
        }

        @Test(arguments: [
            (["sync", "--where", "id=1"], "--where is about one entity"),
            (["sync", "Person", "--where", "nmae=1"], "Person has no field \"nmae\""),
            (["sync", "Person", "--where", "id=x"], "give an integer"),
            (["plan", "Person", "--where", "id=x"], "give an integer"),
            (["sync", "Person", "--where", "name<>x"], "write != for <>"),
            (["sync", "Person", "--where", "id=1", "--allow-deletes"], "have no effect with it"),
        ])
        func `conditions that make no sense are refused before anything is asked`(
            arguments: [String], words: String
        ) async throws {
            let run = try await ProcessRun.run(
                BuiltCommand.path(), arguments, environment: ["API_KEY": "x"], directory: folder.path)
            #expect(run.exitCode == 2, "\(run)")
            run.expectMessages(words)
            #expect(try server.events().isEmpty)
        }

        @Test func `check reports what is wrong with sections and options, with places, and asks no server`()
            async throws
        {
            let good = try await bmo("check")
            #expect(good.exitCode == 0, "\(good)")
            let text = try String(contentsOfFile: folder.appending("bmo.yml"), encoding: .utf8)
            try folder.write(
                text.replacing("path: /people", with: "path: '/people{'")
                    .replacing("paging: none", with: "paging: {style: cursor}")
                    .replacing("query: api_key", with: "query: k, cookie: c"), to: "bmo.yml")
            let bad = try await bmo("check")
            #expect(bad.exitCode == 2, "\(bad)")
            bad.expectMessages(
                "bmo.yml:5:", "api: auth.type api_key needs one of auth.header, auth.query and auth.cookie")
            try folder.write(
                text.replacing("path: /people", with: "path: '/people{'")
                    .replacing("paging: none", with: "paging: {style: cursor}"), to: "bmo.yml")
            let worse = try await bmo("check")
            #expect(worse.exitCode == 2, "\(worse)")
            worse.expectMessages(
                "bmo.yml:12:18: error: Person: path: \"/people{\" is not a template",
                "bmo.yml:19:45: error: Pet: paging.path is missing")
            try folder.write(
                text.replacing(
                    "{city: city}}", with: "{citty: city}, write: {update: {}, if_match: etag}}\n    writable: true"
                )
                .replacing(
                    "    rest: {path: \"/pets?",
                    with: "    writable: true\n    read_one: {path: '/pets/{parent.id'}\n    rest: {path: \"/pets?"
                )
                .replacing("paging: none}", with: "paging: none, write: {delete: {}}}"),
                to: "bmo.yml")
            let names = try await bmo("check")
            #expect(names.exitCode == 2, "\(names)")
            names.expectMessages(
                #"bmo.yml:12:71: error: Person: filters.citty: "citty" names no attribute (did you mean "city"?)"#,
                #"Person: write.if_match: "etag" names no attribute"#, #"there are: "city", "id""#,
                "bmo.yml:21:22: error: Pet.read_one: path: \"/pets/{parent.id\" is not a template")
            #expect(try server.events().isEmpty)
        }
    }
}
