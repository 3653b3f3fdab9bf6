import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// `bmo doctor --bundle`: a file that a user can send to strangers.
    @Suite struct BundleTests {
        /// Each place in which a user may have put a secret, with the secret.
        private static let planted = [
            "env": "canary-8Kd2Wq5Zx7Lm3Pt", "file": "file-secret-Rr41Ty", "literal": "literal-Pw-99x",
            "header": "header-Xy7-abcd", "query": "path-key-5512", "user": "url-pass-Zz1", "comment": "comment-Aa88",
            "body": "body-value-Q1w2", "next": "next-key-77Xy", "input": "input-Lic-4242",
            "soap header": "soap-head-31Za", "other variable": "other-variable-5J", "row": "n17",
        ]

        private static func workspace() async throws -> RemoteWorkspace<RemoteServer> {
            let workspace = try await RemoteWorkspace(
                "cities.py",
                environment: ["CANARY": planted["env"] ?? "", "BMO_TEST_OTHER": planted["other variable"] ?? ""])
            try workspace.folder.write((planted["file"] ?? "") + "\n", to: "secret.txt")
            try workspace.folder.write(
                """
                version: 1
                # the old token was \(planted["comment"] ?? "")
                bridges:
                  api:
                    plugin: rest
                    options:
                      url: "\(workspace.url)"
                      auth: {type: bearer, token: {env: CANARY}}
                      headers: {X-Trace: "\(planted["header"] ?? "")", X-Signature: {file: secret.txt}}
                entities:
                  City:
                    bridge: api
                    key: id
                    attributes: {id: integer, name: text}
                    rest: {path: "/cities?apikey=\(planted["query"] ?? "")", paging: none}
                  Street:
                    bridge: api
                    key: id
                    attributes: {id: integer}
                    rest: {path: /streets, paging: none, query: {filter: "\(planted["body"] ?? "")"}}
                """, to: "bmo.yml")
            return workspace
        }

        @Test func `the bundle has what support needs, and none of the planted secrets`() async throws {
            let workspace = try await Self.workspace()
            let sync = try await workspace.bmo("sync")
            #expect(sync.exitCode == 1, "\(sync)")
            let run = try await workspace.bmo("doctor", "--offline", "--bundle", "support.txt")
            #expect(run.exitCode == 0 && run.output.contains("wrote support.txt"), "\(run)")
            let path = workspace.folder.appending("support.txt")
            let text = try String(contentsOfFile: path, encoding: .utf8)
            for (place, secret) in Self.planted { #expect(!text.contains(secret), "\(place):\n\(text)") }
            for part in [
                "== version\n\nbmo ", "SQLite: 3.", "rest ", "ok       configuration: bmo.yml is valid", "== schema",
                "CREATE TABLE", "City: 20 rows, 0 stubs", "run 1, sync,", "\"code\":\"remote\"", "CANARY",
                "BMO_TEST_OTHER", "token: {env: CANARY}", "X-Signature: {file: secret.txt}", "type: bearer",
                "X-Trace: ***", "path: \"/cities?***\"", "paging: \"none\"",
            ] {
                #expect(text.contains(part), "\(part) is missing:\n\(text)")
            }
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)

            let again = try await workspace.bmo("doctor", "--offline", "--bundle", "support.txt")
            #expect(again.exitCode == 2 && again.errorOutput.contains("already exists"), "\(again)")
        }

        @Test func `a configuration with a fault is in the bundle, with the fault`() async throws {
            let workspace = try await Self.workspace()
            let file = workspace.folder.appending("bmo.yml")
            let text = try String(contentsOfFile: file, encoding: .utf8)
            let other = """
                  other:
                    plugin: rest
                    options:
                      url: "http://me:\(Self.planted["user"] ?? "")@127.0.0.1:9/api"
                      auth: {type: basic, user: me, password: \(Self.planted["literal"] ?? "")}

                """
            let sections = """
                    soap:
                      input: {license: "\(Self.planted["input"] ?? "")"}
                      soap_headers: {Session: {id: "\(Self.planted["soap header"] ?? "")"}}
                    other: {next_path: "more?access_token=\(Self.planted["next"] ?? "")"}
                """
            try workspace.folder.write(
                text.replacing("entities:", with: "\(other)entites:") + "\n\(sections)\n", to: "bmo.yml")
            let run = try await workspace.bmo("doctor", "--bundle", "support.txt", "--json")
            #expect(run.exitCode == 2 && !run.output.contains("wrote"), "\(run)")
            let bundle = try String(contentsOfFile: workspace.folder.appending("support.txt"), encoding: .utf8)
            for part in [
                "unknown key", "entites:", "is a secret and must not be a literal", "password: ***",
                "url: \"http://***@127.0.0.1:9/***\"", "license: ***", "id: ***", "next_path: \"more?***\"",
            ] { #expect(bundle.contains(part), "\(part) is missing:\n\(bundle)") }
            for (place, secret) in Self.planted { #expect(!bundle.contains(secret), "\(place):\n\(bundle)") }
        }
    }
}
