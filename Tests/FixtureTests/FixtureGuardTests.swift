import BridgeConformance
import Foundation
import TestSupport
import Testing

/// What `bmo fixtures` refuses, so that neither a secret nor a lie comes into a case, and nobody's file is lost.
@Suite struct FixtureGuardTests: TestWorkspace {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: [
        ("sync", ["sync"]), ("  a  b ", ["a", "b"]),
        (#"create N --set 'text=two words'"#, ["create", "N", "--set", "text=two words"]),
        (#"a "b \" c\d" e\ f g"h i"'j'"#, ["a", #"b " c\d"#, "e f", "gh ij"]), (#"a "" ''"#, ["a", "", ""]), ("", []),
    ])
    func `a command is split as a shell does`(line: String, words: [String]) throws {
        #expect(try CommandWords.split(line) == words)
    }

    @Test(arguments: ["a 'b", "a \"b", "a \\"])
    func `a command with an open quote is refused`(line: String) {
        #expect(throws: FixtureCase.Fault.self) { try CommandWords.split(line) }
    }

    @Test func `a step that holds a secret is refused before it runs`() async throws {
        let folder = try copy("rest-oauth")
        let before = try FileManager.default.subpathsOfDirectory(atPath: folder).sorted()
        let run = try await bmo(
            "fixtures", "record", folder, "--config", folder + "/bmo.yml", "--add",
            "create Note --set 'text=a %68unter2/x'",
            environment: ["FIXTURE_CLIENT_SECRET": "hunter2/x"])
        #expect(run.exitCode == 2, "\(run)")
        #expect(run.errorOutput.contains("the step holds the secret {env: FIXTURE_CLIENT_SECRET}"), "\(run)")
        #expect(!run.errorOutput.contains("unter2"))
        #expect(try FileManager.default.subpathsOfDirectory(atPath: folder).sorted() == before)
    }

    @Test(arguments: ["[watch]", "[sync, [serve, --port, 0]]", "['watch --every 1h']"])
    func `a step that does not end is refused`(steps: String) throws {
        _ = try folder.write("version: 1\n", to: "bmo.yml")
        _ = try folder.write("steps: \(steps)\n", to: "case.yml")
        let fault = #expect(throws: FixtureCase.Fault.self) {
            try FixtureCase(folder: folder.path)
        }
        #expect(fault.map { "\($0)".contains("case.yml: the step `") } == true, "\(String(describing: fault))")
        #expect(fault.map { "\($0)".contains("does not end by itself") } == true)
    }

    @Test(arguments: ["", ".", "..", "./cases", "cases/", "cases/..", "/"])
    func `a name that is none is refused`(name: String) async throws {
        let run = try await bmo("fixtures", "record", "--cases", "cases", "--force", "--", name)
        #expect(run.exitCode == 2, "\(run)")
        #expect(run.errorOutput.contains("is not a name for a case"), "\(run)")
    }

    @Test func `a folder that is not a case loses nothing, and a case only its own files`() async throws {
        let remote = try RemoteServer.casesAPI(state: folder.path)
        let config = """
            version: 1
            bridges: {api: {plugin: rest, options: {url: "\(remote.url)", headers: {X-Team-Token: abcdefgh}}}}
            entities: {Country: {bridge: api, key: code, attributes: {code: text}, rest: {path: /countries?apikey=abcdef}}}

            """
        _ = try folder.write(config, to: "bmo.yml")
        try FileManager.default.createDirectory(
            atPath: folder.appending("project/exchanges"), withIntermediateDirectories: true)
        _ = try folder.write("mine", to: "project/exchanges/notes.txt")
        let refused = try await bmo("fixtures", "record", "./project", "--force")
        #expect(refused.exitCode == 2, "\(refused)")
        #expect(refused.errorOutput.contains("is not a case: it has no case.yml, but exchanges"), "\(refused)")

        let made = try await bmo("fixtures", "record", "./good")
        #expect(made.exitCode == 0, "\(made)")
        #expect(made.errorOutput.contains("bmo.yml:2 looks like a credential by its name"), "\(made)")
        #expect(made.errorOutput.contains("bmo.yml:3 looks like a URL with a secret"), "\(made)")
        _ = try folder.write("mine", to: "good/exchanges/notes.txt")
        _ = try folder.write("mine", to: "good/schema.json")
        #expect(try await bmo("fixtures", "record", "./good", "--force").exitCode == 0)
        for name in ["project/exchanges/notes.txt", "good/exchanges/notes.txt", "good/schema.json"] {
            #expect(try String(contentsOfFile: folder.appending(name), encoding: .utf8) == "mine")
        }
    }

    @Test func `a recording that its replay contradicts is not written without a word`() async throws {
        let remote = try RemoteServer.casesAPI(state: folder.path)
        _ = try folder.write(
            """
            version: 1
            bridges: {api: {plugin: rest, options: {url: "\(remote.url)"}}}
            entities: {Pin: {bridge: api, key: id, attributes: {id: integer, secret: integer}, rest: {path: /pin}}}

            """, to: "bmo.yml")
        let run = try await bmo("fixtures", "record", "./pin")
        #expect(run.exitCode == 1, "\(run)")
        #expect(run.errorOutput.contains("the replay differs from the remote: "), "\(run)")
        #expect(run.errorOutput.contains("was not written; --keep writes it"), "\(run)")
        #expect(!FileManager.default.fileExists(atPath: folder.appending("pin")))
        let kept = try await bmo("fixtures", "record", "./pin", "--keep")
        #expect(kept.exitCode == 1, "\(kept)")
        let text = try String(contentsOfFile: folder.appending("pin/exchanges/001-GET-pin.http"), encoding: .utf8)
        #expect(text.contains("\"secret\": \"***\"") && !text.contains("12345678"), "\(text)")
    }

    @Test func `a write that was not recorded fails a case that is not strict`() async throws {
        let folder = try copy("rest-writes")
        try edit(
            folder + "/exchanges/2/001-POST-plain-topics.http", "\"name\": \"Home\"\n}\n\n===",
            "\"name\": \"Hut\"\n}\n\n===")
        let result = try await ShippedCases.run(folder, strict: false)
        #expect(result.problems.contains { $0.hasPrefix("step 2: unexpected: POST ") }, "\(result.problems)")
    }

    @Test func `a fault on a write leaves its trace in what is expected`() async throws {
        let folder = try copy("rest-writes")
        try "- on: DELETE /plain/notes/1\n  then: {status: 404}\n".write(
            toFile: folder + "/faults.yml", atomically: true, encoding: .utf8)
        let problems = try await ShippedCases.run(folder, strict: false).problems
        #expect(
            problems.contains("step 7: push, faults: expected nothing, found 404 (001-DELETE-plain-notes-1)"),
            "\(problems)")
        let text = try String(contentsOfFile: folder + "/expected.txt", encoding: .utf8)
        #expect(text.contains("edit 1: sent, Topic "), "\(text)")
    }

    @Test func `what lies behind a fault that ended a scan is not unused`() async throws {
        let folder = try copy("rest-paging")
        try "- on: Team page 2\n  then: [timeout, timeout, timeout, timeout]\n".write(
            toFile: folder + "/faults.yml", atomically: true, encoding: .utf8)
        #expect(try await ShippedCases.run(folder, updates: true).problems == [])
        #expect(try await ShippedCases.run(folder).problems == [])
    }

    @Test func `a broken exchange is an error with its line`() async throws {
        let folder = try copy("rest-paging")
        try "# api: Team\ngarbage\n".write(
            toFile: folder + "/exchanges/002-GET-teams.http", atomically: true, encoding: .utf8)
        let run = try await bmo("fixtures", "run", folder)
        #expect(run.exitCode == 2, "\(run)")
        #expect(run.errorOutput.contains("/exchanges/002-GET-teams.http:2: no METHOD and URL"), "\(run)")
        let other = try copy("rest-happy")
        let both = try await bmo("fixtures", "run", folder, other)
        #expect(both.exitCode == 2 && both.output.contains("pass  rest-happy: "), "\(both)")
        #expect(both.output.hasSuffix("2 cases, 0 failed, 1 cannot be run\n"), "\(both)")
        try "# api: Team\r\nGET http://h/\r\n\r\n=== 200\r\n".write(
            toFile: folder + "/exchanges/002-GET-teams.http", atomically: true, encoding: .utf8)
        let returns = try await bmo("fixtures", "run", folder)
        #expect(returns.errorOutput.contains("/exchanges/002-GET-teams.http:1: a carriage return: "), "\(returns)")
        try "# apj: Team\nGET http://h/\n\n=== 200\n".write(
            toFile: folder + "/exchanges/002-GET-teams.http", atomically: true, encoding: .utf8)
        let stranger = try await bmo("fixtures", "run", folder)
        #expect(
            stranger.errorOutput.contains("/exchanges/002-GET-teams.http:1: there is no bridge \"apj\"; write `# api`"),
            "\(stranger)")
    }

    @Test func `a file that a replay would pass over is an error`() async throws {
        let folder = try copy("rest-paging")
        try FileManager.default.moveItem(
            atPath: folder + "/exchanges/002-GET-teams.http", toPath: folder + "/exchanges/002 GET teams.http")
        let spaced = try await bmo("fixtures", "run", folder)
        #expect(spaced.exitCode == 2, "\(spaced)")
        #expect(
            spaced.errorOutput.contains(
                "/exchanges/002 GET teams.http: an exchange's name has no space, and no dot in front; "
                    + "call it 002-GET-teams.http"), "\(spaced)")
        try "# api: Team, request 2\nGET http://h/teams\n\n=== 200\n\n@file\n".write(
            toFile: folder + "/exchanges/002 GET teams.http", atomically: true, encoding: .utf8)
        try FileManager.default.moveItem(
            atPath: folder + "/exchanges/002 GET teams.http", toPath: folder + "/exchanges/002-GET-teams.http")
        let missing = try await bmo("fixtures", "run", folder)
        #expect(missing.exitCode == 2, "\(missing)")
        #expect(
            missing.errorOutput.contains(
                "/exchanges/002-GET-teams.http:6: @file is named here, but there is no file 002-GET-teams.reply"),
            "\(missing)")
    }

    @Test(arguments: [
        ("{slow: abc}", "`slow: abc` is not a duration"), ("[]", "`then` names no fault"),
        ("{status: 9999}", "`status: 9999` is not a status"), ("{status: abc}", "`status: abc` is not a status"),
        ("{status: 200, text: a}", "unknown key \"text\" beside status; valid: body, headers"),
        ("{slow: 3, status: 200}", "unknown key \"status\" beside slow"), ("nothing", "no fault is called nothing"),
        ("{status: 200, headers: a}", "`headers` is not a mapping"),
        ("reset\n  step: x", "`step: x` is not a step; the case has step 1"),
        ("reset\n  step: 2", "`step: 2` is not a step"),
    ])
    func `a senseless fault is an error with its line`(then: String, words: String) async throws {
        let folder = try copy("rest-paging")
        try "# faults\n- on: page 1\n  then: reset\n- on: page 2\n  then: \(then)\n".write(
            toFile: folder + "/faults.yml", atomically: true, encoding: .utf8)
        let fault = await #expect(throws: FixtureCase.Fault.self) { try await ShippedCases.run(folder) }
        #expect(fault?.description.contains("/faults.yml:4: \(words)") == true, "\(fault?.description ?? "none")")
    }

    @Test func `a fault's body may be a mapping, which is sent as JSON`() async throws {
        let folder = try copy("rest-paging")
        try "- on: page 3\n  then: {status: 200, body: {items: [{id: 99, name: Added}], pages: 3}}\n".write(
            toFile: folder + "/faults.yml", atomically: true, encoding: .utf8)
        let problems = try await ShippedCases.run(folder, strict: false).problems
        #expect(problems.contains { $0.hasPrefix("Team 99: not expected") }, "\(problems)")
    }
}
