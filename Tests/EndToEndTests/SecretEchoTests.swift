import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// A server that says the secret in each of its failures, in each spelling: it must be nowhere afterwards.
    @Suite(.serialized) struct SecretEchoTests {
        private static let shared = Result { try RemoteServer.fixture("hostile.py") }
        static let canary = "canary-8Kd2Wq5Zx7Lm3Pt"
        private static let issued = ["issued-token-9Qw7zXk2LmTr", "issued-session-4VbN8hJs6Y"]
        private static let forms = ["plain", "base64", "percent"]

        /// Each way to authenticate, as the bridge's options.
        static let ways: [(name: String, options: String)] = [
            ("basic", "auth: {type: basic, user: u, password: {env: CANARY}}"),
            ("bearer", "auth: {type: bearer, token: {env: CANARY}}"),
            ("header", "auth: {type: api_key, header: X-Api-Key, value: {env: CANARY}}"),
            ("query", "auth: {type: api_key, query: apikey, value: {env: CANARY}}"),
            ("cookie", "auth: {type: api_key, cookie: sid, value: {env: CANARY}}"),
            ("own header", "headers: {X-Secret: {env: CANARY}}"),
            ("oauth2", "auth: {type: oauth2, token_url: /token, client_id: c, client_secret: {env: CANARY}}"),
            ("login", "auth: {type: login, path: /login, user: u, password: {env: CANARY}}"),
            ("session", "session_header: X-Session"),
            ("digest", "auth: {type: digest, user: u, password: {env: CANARY}}"),
            ("netrc", "auth: {type: netrc, file: netrc}"),
            ("jwt", "auth: {type: jwt, algorithm: HS256, secret: {env: CANARY}, issuer: i}"),
            ("sigv4", "auth: {type: aws_sigv4, key_id: k, secret: {env: CANARY}, region: r, service: s}"),
        ]

        /// The pieces of a secret that must not be found: each run of so many characters.
        private static func needles(signed: [String]) -> [[UInt8]] {
            let length = 10
            // The header of a signed token is the same for all, and no secret.
            let tokens = signed.map { String($0.drop { $0 != "." }) }
            return ([canary] + issued + tokens).flatMap { secret -> [[UInt8]] in
                let base64 = Data(secret.utf8).base64EncodedString()
                let percent = secret.utf8.map { String(format: "%%%02X", $0) }.joined()
                return [secret, base64, percent].flatMap { text -> [[UInt8]] in
                    let bytes = Array(text.utf8)
                    // What is no secret of one alone stands at the beginning: its kind.
                    let size = text == percent ? 3 * length : length
                    guard bytes.count > size else { return [bytes] }
                    return (0...(bytes.count - size)).map { Array(bytes[$0..<$0 + size]) }
                }
            }
        }

        /// The files below a folder that hold a needle, each with the first of them.
        private static func leaks(of needles: [[UInt8]], in folder: TemporaryFolder) async throws -> [String] {
            let list = try TemporaryFolder()
            let texts = Set(needles.map { String(decoding: $0, as: UTF8.self) })
            try list.write(texts.joined(separator: "\n"), to: "list")
            let run = try await ProcessRun.run(
                "grep",
                ["-rFao", "--exclude=bmo.yml", "--exclude=netrc", "-f", list.appending("list"), folder.path])
            // 1 is: none.
            try #require([0, 1].contains(run.exitCode), "\(run.allOutput)")
            var first: [Substring: String] = [:]
            for line in run.output.split(separator: "\n") {
                let file = line.prefix { $0 != ":" }
                first[file] = first[file] ?? String(line)
            }
            return first.values.sorted()
        }

        @Test(arguments: ways.map(\.name))
        func `no secret that the remote says is kept or shown`(way: String) async throws {
            let server = try Self.shared.get()
            let options = try #require(Self.ways.first { $0.name == way }?.options)
            let list = try await ProcessRun.run("curl", ["-s", server.url + "/kinds"])
            let kinds = try JSONDecoder().decode([String].self, from: Data(list.output.utf8))
            #expect(kinds.count * Self.forms.count * Self.ways.count >= 645)
            let folder = try TemporaryFolder()
            var entities = ""
            for (number, kind) in kinds.enumerated() {
                for form in Self.forms {
                    let query = ["session", "digest"].contains(way) ? "?\(way)=1" : ""
                    let format = kind.hasPrefix("line") ? "" : ", records: $.items"
                    entities += """
                          E\(number)\(form): {bridge: api, key: id, attributes: {id: integer, name: text}, \
                        rest: {path: "/fail/\(kind)/\(form)\(query)"\(format)\(kind == "next" ? "" : ", paging: none")}}

                        """
                }
            }
            try folder.write(
                "version: 1\nbridges: {api: {plugin: rest, options: {url: \"\(server.url)\", \(options)}}}\nentities:\n\(entities)",
                to: "bmo.yml")
            let work = ["TMPDIR", "XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "HOME"]
            var environment = ["CANARY": Self.canary]
            for name in work {
                try FileManager.default.createDirectory(
                    atPath: folder.appending(name), withIntermediateDirectories: true)
                environment[name] = folder.appending(name)
            }
            try folder.write("machine 127.0.0.1 login u password \(Self.canary)\n", to: "netrc")
            var output = 0
            for arguments in [
                ["sync", "--json"], ["sync"], ["status"], ["runs", "--json"], ["quarantine", "--json"], ["quarantine"],
                ["check", "--remote"], ["fixtures", "record", "./case", "--keep"],
            ] {
                let run = try await RunningProcess(
                    BuiltCommand.path(), arguments, environment: environment, directory: folder.path
                ).finish(within: .seconds(120))
                #expect(run.signal == 0)
                output += 1
                try folder.write(run.allOutput, to: "output-\(output)")
            }
            let signed = try await ProcessRun.run("curl", ["-s", server.url + "/signed"])
            let needles = Self.needles(
                signed: try JSONDecoder().decode([String].self, from: Data(signed.output.utf8)))
            let files = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
            for part in [".sqlite", "output-8"] { #expect(files.contains { $0.hasSuffix(part) }) }
            #expect(files.contains { $0.hasPrefix("case/exchanges/") })
            let leaks = try await Self.leaks(of: needles, in: folder)
            #expect(leaks.isEmpty, "\(way): \(leaks)")
        }

        @Test func `a secret that stayed would be found`() async throws {
            let folder = try TemporaryFolder()
            try folder.write("as \(Self.canary.dropFirst(5)) it is\n", to: "output")
            try folder.write(Self.canary, to: "netrc")
            let leaks = try await Self.leaks(of: Self.needles(signed: []), in: folder)
            #expect(leaks.map { $0.hasSuffix("output:y-8Kd2Wq5Z") } == [true])
        }
    }
}
