import TestSupport
import Testing

extension EndToEndTests {
    /// Some entity fails: it is named with its bridge, the others are committed, and the exit code is 1.
    @Suite struct FailureTests {
        @Test func `a wrong password fails the entities of its bridge and no other`() async throws {
            let workplace = try await RemoteWorkspace.demo()
            let sync = try await workplace.bmo("sync", environment: ["DEMO_SMB_PASSWORD": "not-the-password"])
            #expect(sync.exitCode == 1, "\(sync)")
            sync.expectMessages("Document", "CountryName", "files")
            #expect(!sync.allOutput.contains("not-the-password"))
            try await workplace.expectRows(of: "Country", "Currency", "Language", "Subdivision")
        }

        @Test func `a share that does not exist is named`() async throws {
            let workplace = try await RemoteWorkspace.demo(share: "nothing-here")
            let sync = try await workplace.bmo("sync")
            #expect(sync.exitCode == 1, "\(sync)")
            sync.expectMessages("Document", "files", "nothing-here")
            #expect(!sync.allOutput.contains(workplace.server.smbPassword))
            try await workplace.expectRows(of: "Country", "Currency", "Language", "Subdivision")
        }

        @Test func `a server that is not there fails its entities and no other`() async throws {
            let workplace = try await RemoteWorkspace.demo()
            try await workplace.server.stop(.rest)
            let sync = try await workplace.bmo("sync")
            #expect(sync.exitCode == 1, "\(sync)")
            sync.expectMessages("Country", "Currency", "Language", "registry", workplace.server.restURL)
            try await workplace.expectRows(of: "CountryName", "Document", "Subdivision")
        }

        @Test(arguments: ["status 500", "status 404", "html 502", "html 200", "truncate"])
        func `a bad answer fails its entity, and nothing is half imported`(fault: String) async throws {
            let workplace = try await RemoteWorkspace.demo()
            try workplace.server.misbehave(fault + " /currencies")
            let sync = try await workplace.bmo("sync", "Currency", "Language")
            #expect(sync.exitCode == 1, "\(sync)")
            sync.expectMessages("Currency", "registry", workplace.server.restURL + "/currencies")
            if let status = fault.split(separator: " ").dropFirst().first, status != "200" {
                sync.expectMessages(String(status))
            }
            #expect((try await workplace.count("Currency") ?? 0) == 0)
            try await workplace.expectRows(of: "Language")

            try workplace.server.misbehave()
            let again = try await workplace.bmo("sync", "Currency")
            #expect(again.exitCode == 0, "\(again)")
            try await workplace.expectRows(of: "Currency")
        }

        @Test func `a listing that was cut short is not a failure, and the report shows it`() async throws {
            let server = try RemoteServer.shared.get()
            let folder = try TemporaryFolder()
            try folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(server.url)"}}}
                entities:
                  User:
                    bridge: api
                    key: id
                    attributes: {id: integer}
                    rest: {path: /say, query: {body: '{"items":[{"id":1},{"id":2}],"total":5}'}}

                """, to: "bmo.yml")
            let table = try await ProcessRun.run(BuiltCommand.path(), ["sync"], directory: folder.path)
            #expect(table.exitCode == 0, "\(table)")
            table.expectMessages("incomplete", "the reply says 5 records and holds 2")
            let json = try await ProcessRun.run(BuiltCommand.path(), ["sync", "--json"], directory: folder.path)
            #expect(json.exitCode == 0, "\(json)")
            json.expectMessages(#""outcome":"finished","incomplete":true"#)
        }

        @Test func `a SOAP fault is reported in the service's own words`() async throws {
            let workplace = try await RemoteWorkspace.demo(subdivisionPage: 2001)
            let sync = try await workplace.bmo("sync", "Subdivision", "Currency")
            #expect(sync.exitCode == 1, "\(sync)")
            sync.expectMessages("Subdivision", "gazetteer", "limit is 2001, at most 2000 are given at once")
            try await workplace.expectRows(of: "Currency")
        }
    }
}

extension ProcessRun {
    /// Expects each of the words in what the command wrote, on either channel.
    func expectMessages(_ words: String..., sourceLocation: SourceLocation = #_sourceLocation) {
        for word in words {
            #expect(allOutput.contains(word), "no \(word) in what \(self)", sourceLocation: sourceLocation)
        }
    }
}
