import BridgeConformance
import Foundation
import TestSupport
import Testing

/// Cases that are recorded from a real server.
@Suite struct RecordingTests: TestWorkspace {
    let folder: TemporaryFolder
    let remote: RemoteServer
    let secret = "s3cr3t-\(UInt64.random(in: .min ... .max))"

    init() throws {
        folder = try TemporaryFolder()
        remote = try RemoteServer.casesAPI(state: folder.path, secret: secret)
    }

    private func config(_ entities: String, auth: String = "") throws -> String {
        try folder.write(
            """
            version: 1
            bridges:
              api: {plugin: rest, options: {url: "\(remote.url)"\(auth)}}
            entities:
              \(entities)

            """, to: "bmo.yml")
    }

    @Test func `neither a secret nor a token comes into a case, and it replays without them`() async throws {
        let auth =
            ", auth: {type: oauth2, token_url: \"\(remote.url)/token\", client_id: fixtures, client_secret: {env: CLIENT_SECRET}}"
        _ = try config(
            "Note: {bridge: api, key: id, attributes: {id: integer, text: text}, rest: {path: /private/notes, records: $.items, "
                + "paging: {style: next_url, path: $.next}}}", auth: auth)
        let run = try await bmo(
            "fixtures", "record", "./notes", "--config", "bmo.yml", environment: ["CLIENT_SECRET": secret])
        #expect(run.exitCode == 0, "\(run)")
        #expect(run.output.contains("Note: finished, 3 pages, 6 inserted"), "\(run)")
        let folder = self.folder.appending("notes")
        let files = try FileManager.default.subpathsOfDirectory(atPath: folder)
        var all = ""
        for name in files { all += (try? String(contentsOfFile: folder + "/" + name, encoding: .utf8)) ?? "" }
        #expect(!all.contains(secret))
        #expect(all.contains("Authorization: ***"))
        #expect(all.contains("\"access_token\": \"***1\"") && all.contains("\"access_token\": \"***2\""), "\(files)")
        // The tokens themselves: urlsafe text of 32 characters.
        #expect(all.firstMatch(of: /[A-Za-z0-9_-]{32}/) == nil)
        let again = try await bmo("fixtures", "run", "./notes", "--strict")
        #expect(again.exitCode == 0, "\(again)")
    }

    @Test func `a further step is recorded on top of the ones before`() async throws {
        _ = try config(
            "Person: {bridge: api, key: id, incremental: {field: updated}, attributes: {id: integer, "
                + "updated: {type: timestamp, from: updated_at}}, rest: {path: /people, records: $.people, "
                + "query: {updated_since: \"{since}\"}}}")
        #expect(try await bmo("fixtures", "record", "./people").exitCode == 0)
        _ = try folder.write("", to: "second")
        let added = try await bmo("fixtures", "record", "./people", "--add", "sync")
        #expect(added.exitCode == 0, "\(added)")
        #expect(added.output.contains("Person: finished, 1 page, 1 inserted, 1 updated"), "\(added)")
        let run = try await bmo("fixtures", "run", "./people", "--strict")
        #expect(run.exitCode == 0, "\(run)")
        let second = folder.appending("people/exchanges/2/001-GET-people.http")
        #expect(try String(contentsOfFile: second, encoding: .utf8).contains("?updated_since=2024-03-05T10"))
    }

    @Test func `two secrets whose stand-ins begin alike are recorded, and neither comes into the case`() async throws {
        _ = try folder.write(
            """
            version: 1
            bridges:
              api:
                plugin: rest
                options:
                  url: "\(remote.url)"
                  parameters: {place: {env: PLACE}}
                  auth: {type: bearer, token: {env: TOKEN}}
            entities:
              Team:
                bridge: api
                key: id
                attributes: {id: integer}
                rest: {path: /teams, records: $.items, query: {s: "{place}"}}

            """, to: "bmo.yml")
        let secrets = ["PLACE": "value-one-\(secret)", "TOKEN": "value-two-\(secret)"]
        let run = try await bmo("fixtures", "record", "./teams", environment: secrets)
        #expect(run.exitCode == 0, "\(run)")
        let path = folder.appending("teams/exchanges/001-GET-teams.http")
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.contains("/teams?s=***") && !text.contains("value-"), "\(text)")
    }

    @Test func `requests with the present time are replayed with that of the recording, in each step`() async throws {
        _ = try config(
            "Team: {bridge: api, key: id, attributes: {id: integer}, rest: {path: /teams, records: $.items, "
                + "since: {start: now-3d, format: \"%s\"}, query: {from: \"{since}\", to: \"{until}\"}}}")
        let begin = Int(Date().timeIntervalSince1970)
        #expect(try await bmo("fixtures", "record", "./teams").exitCode == 0)
        let added = try await bmo("fixtures", "record", "./teams", "--add", "sync")
        #expect(added.exitCode == 0, "\(added)")
        func until(_ step: Int) throws -> Int {
            let path = folder.appending("teams/exchanges/\(step)/001-GET-teams.http")
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let digits = try #require(text.firstMatch(of: /to=(\d+)/)).output.1
            return try #require(Int(digits))
        }
        let (first, second) = (try until(1), try until(2))
        #expect(first >= begin && second >= first)
        // As if the first step had been recorded a week earlier.
        let week = 604_800
        let exchanges = folder.appending("teams/exchanges/1")
        for name in try FileManager.default.contentsOfDirectory(atPath: exchanges) {
            let text = try String(contentsOfFile: "\(exchanges)/\(name)", encoding: .utf8)
                .replacing("to=\(first)", with: "to=\(first - week)")
                .replacing("from=\(first - 259_200)", with: "from=\(first - 259_200 - week)")
            try text.write(toFile: "\(exchanges)/\(name)", atomically: true, encoding: .utf8)
        }
        _ = try folder.write(
            "recorded: [\(first - week), \(second)]\nsteps: [sync, sync]\n", to: "teams/case.yml")
        let run = try await bmo("fixtures", "run", "./teams", "--strict")
        #expect(run.exitCode == 0, "\(run)")
    }

    @Test func `what looks like a secret in a reply is reported`() async throws {
        _ = try config("Thing: {bridge: api, key: id, attributes: {id: integer}, rest: {path: /leak}}")
        let run = try await bmo("fixtures", "record", "./leak")
        #expect(run.exitCode == 0, "\(run)")
        #expect(run.errorOutput.contains("001-GET-leak.http:"), "\(run)")
        #expect(
            run.errorOutput.contains("looks like a JSON Web Token: look at it before you commit the case"), "\(run)")
    }

    @Test func `an existing case is not recorded over without being asked`() async throws {
        _ = try config(
            "Team: {bridge: api, key: id, attributes: {id: integer}, rest: {path: /teams, records: $.items}}")
        #expect(try await bmo("fixtures", "record", "./teams").exitCode == 0)
        let again = try await bmo("fixtures", "record", "./teams")
        #expect(again.exitCode == 2)
        #expect(again.errorOutput.contains("--force records it again"), "\(again)")
    }

    @Test func `a recording that cannot begin leaves everything as it was`() async throws {
        _ = try config(
            "Team: {bridge: api, key: id, attributes: {id: integer}, rest: {path: /teams, records: $.items}}",
            auth: ", auth: {type: bearer, token: {env: NO_SUCH_VARIABLE}}")
        let missing = try await bmo("fixtures", "record", "./teams")
        #expect(missing.exitCode == 2)
        #expect(missing.errorOutput.contains("the environment variable NO_SUCH_VARIABLE is not set"), "\(missing)")
        #expect(!FileManager.default.fileExists(atPath: folder.appending("teams")))

        _ = try config(
            "Team: {bridge: api, key: id, attributes: {id: integer}, rest: {path: /teams, records: $.items}}")
        #expect(try await bmo("fixtures", "record", "./teams").exitCode == 0)
        let before = try FileManager.default.subpathsOfDirectory(atPath: folder.appending("teams")).sorted()
        let wrong = try await bmo("fixtures", "record", "./teams", "--add", "no-such-command")
        #expect(wrong.exitCode == 2, "\(wrong)")
        #expect(try FileManager.default.subpathsOfDirectory(atPath: folder.appending("teams")).sorted() == before)
    }

    @Test func `a recorded failure is reported`() async throws {
        _ = try config("Gone: {bridge: api, key: id, attributes: {id: integer}, rest: {path: /gone}}")
        let run = try await bmo("fixtures", "record", "./gone")
        #expect(run.exitCode == 0)
        #expect(run.errorOutput.contains("the case has this failure: Gone failed: not_found"), "\(run)")
    }
}
