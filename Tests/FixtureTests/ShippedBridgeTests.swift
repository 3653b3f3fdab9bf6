import BridgeConformance
import BridgeHost
import Foundation
import TestSupport
import SQLiteStore
import Testing

/// The bridges that ship keep the contract, at the strictest level, against real servers.
@Suite struct ShippedBridgeTests: TestWorkspace {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func expectConformance(
        _ config: String, wrong: [String: String] = [:], writes: [String: ConformanceSettings.Write] = [:],
        takesUserInfo: Bool = true, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let path = try self.folder.write(config, to: "bmo.yml")
        let command = try BuiltCommand.path()
        let folder = URL(filePath: command).deletingLastPathComponent().path
        let run = try await ConformanceRun(
            ConformanceSettings(config: path, level: .strict, wrongOptions: wrong, writes: writes),
            stores: SQLiteStores(), executable: command,
            searchPaths: [SearchPath(folder)])
        let report = await run.run()
        #expect(report.passed, "\(report.text)", sourceLocation: sourceLocation)
        #expect(report.results.count { $0.outcome == .passed } >= 24, "\(report.text)", sourceLocation: sourceLocation)
        for result in report.results {
            if !writes.isEmpty, result.check.id.hasPrefix("write.") {
                let isAsked = result.check.id != "write.user_info" || takesUserInfo
                #expect(
                    result.outcome == (isAsked ? .passed : .notApplicable("it takes no user info")), "\(report.text)",
                    sourceLocation: sourceLocation)
            }
            if case .skipped = result.outcome {
                Issue.record("\(result.check.id) is skipped", sourceLocation: sourceLocation)
            }
        }
    }

    @Test func `the REST bridge passes every check of the strictest level`() async throws {
        let remote = try RemoteServer.casesAPI(state: folder.path)
        try folder.write("a-token-of-a-test\n", to: "token")
        try await expectConformance(
            """
            version: 1
            bridges: {api: {plugin: rest, options: {url: "\(remote.url)", auth: {type: bearer, token: {file: token}}}}}
            entities:
              Team:
                bridge: api
                key: id
                attributes: {id: integer, name: text, city: text}
                rest: {path: /teams, records: $.items, paging: {style: page, page_parameter: page, pages: $.pages}}

            """)
    }

    @Test func `the REST bridge passes every check of writes`() async throws {
        let server = try RemoteServer.fixture("objects.py")
        for text in ["first", "second"] {
            let added = try await ProcessRun.run(
                "curl",
                [
                    "-sf", "-H", "Content-Type: application/json", "-d", "{\"text\": \"\(text)\"}",
                    server.url + "/plain/notes",
                ])
            try #require(added.exitCode == 0, "\(added)")
        }
        try await expectConformance(
            """
            version: 1
            bridges: {api: {plugin: rest, options: {url: "\(server.url)"}}}
            entities:
              Note:
                bridge: api
                key: id
                attributes: {id: integer, text: text}
                rest: {path: /plain/notes, write: {create: {}, update: {method: PATCH}, delete: {}}}

            """,
            writes: [
                "Note": ConformanceSettings.Write(
                    key: "id", create: ["id": .integer(900), "text": .text("one")], update: ["text": .text("two")])
            ])
    }

    @Test(arguments: [
        ("{type: timestamp, transform: {format: \"%d.%m.%Y %H:%M:%S\"}}", nil),
        ("{type: timestamp, constant: \"2026-11-21T00:00:00Z\"}", "25 records since the year 2999 (2999-"),
    ])
    func `a time that has not come is asked for in the attribute's own format`(
        attribute: String, fault: String?
    ) async throws {
        let remote = try RemoteServer.shared.get()
        let path = try folder.write(
            """
            version: 1
            bridges: {api: {plugin: rest, options: {url: "\(remote.url)/zoo"}}}
            entities:
              User:
                bridge: api
                key: id
                incremental: {field: changed}
                attributes: {id: integer, name: text, changed: \(attribute)}
                rest: {path: german-times, paging: none, query: {since: "{since}"}}
            """, to: "bmo.yml")
        let others = ConformanceRun.catalog.map(\.id).filter { $0 != "incremental.future" }
        let command = try BuiltCommand.path()
        let run = try await ConformanceRun(
            ConformanceSettings(
                config: path, level: .strict,
                skips: Dictionary(uniqueKeysWithValues: others.map { ($0, "not of this test") })),
            stores: SQLiteStores(), executable: command,
            searchPaths: [SearchPath(URL(filePath: command).deletingLastPathComponent().path)])
        let report = await run.run()
        let result = try #require(report.results.first { $0.check.id == "incremental.future" })
        if let fault {
            guard case .failed(let words) = result.outcome else {
                Issue.record("\(report.text)")
                return
            }
            #expect(words.contains(fault), "\(words)")
        } else {
            #expect(result.outcome == .passed, "\(report.text)")
        }
    }

    @Test func `the SOAP bridge passes every check of the strictest level`() async throws {
        let servers = try await DemoServers()
        try await expectConformance(
            """
            version: 1
            bridges: {gazetteer: {plugin: soap, options: {wsdl: "\(servers.soapWSDL)"}}}
            entities:
              Subdivision:
                bridge: gazetteer
                key: code
                attributes: {code: text, name: text, type: text}
                soap:
                  operation: ListSubdivisions
                  records: ListSubdivisionsResponse/subdivisions/subdivision
                  paging: {style: offset, offset_element: offset, limit_element: limit, size: 2000, \
            total: ListSubdivisionsResponse/total}

            """)
    }

    @Test func `the SMB bridge passes every check of the strictest level`() async throws {
        let servers = try await DemoServers()
        try folder.write(servers.smbPassword + "\n", to: "password")
        let notes = URL(filePath: servers.share).appending(path: "notes")
        try FileManager.default.createDirectory(at: notes, withIntermediateDirectories: true)
        try Data("hello\n".utf8).write(to: notes.appending(path: "first.txt"))
        try await expectConformance(
            """
            version: 1
            bridges:
              files: {plugin: smb, options: {url: "\(servers.smbURL)", user: "\(servers.smbUser)", password: {file: password}}}
            entities:
              Document:
                bridge: files
                key: path
                attributes: {path: text, name: text, size: integer}
                smb: {files: "countries/{country}/*"}
              Note:
                bridge: files
                key: path
                attributes: {path: text, content: text}
                smb: {files: "notes/*", content: text}
              CountryName:
                bridge: files
                key: alpha2
                incremental: token
                attributes: {alpha2: {type: text, from: alpha_2}, file: {type: text, from: "@path"}}
                smb: {csv: tables/country_names.csv}

            """, wrong: ["password": "wrong"],
            writes: [
                "Note": ConformanceSettings.Write(
                    key: "path", create: ["path": .text("notes/new.txt"), "content": .text("one")],
                    update: ["content": .text("two")])
            ], takesUserInfo: false)
    }
}
