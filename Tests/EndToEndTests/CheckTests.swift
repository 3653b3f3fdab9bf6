import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// What is wrong with a config or a command line is told before any server is asked.
    @Suite struct CheckTests: TestWorkspace {
        let folder: TemporaryFolder
        let environment = ["DEMO_SMB_PASSWORD": "secret"]

        init() throws {
            folder = try TemporaryFolder()
        }

        @Test func `all faults of a config are reported at once, with their places and what was meant`() async throws {
            try folder.write(
                """
                version: 1
                bridges:
                  registry:
                    plugin: rest
                    options: {url: "http://127.0.0.1:1"}
                entities:
                  Country:
                    bridge: registri
                    key: code
                    attributes:
                      code: txet
                    rest: {path: /countries}

                """, to: "bmo.yml")
            for command in ["check", "sync"] {
                let run = try await bmo(command)
                #expect(run.exitCode == 2, "\(run)")
                run.expectMessages("bmo.yml:8:13", "registri", "registry")
                run.expectMessages("bmo.yml:11:13", "txet", "text")
            }
            #expect(!FileManager.default.fileExists(atPath: folder.appending("bmo.sqlite")))

            let json = try await bmo("check", "--json")
            #expect(json.exitCode == 2 && json.errorOutput.isEmpty, "\(json)")
            let faults = try #require(JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [[String: Any]])
            #expect(faults.map { $0["line"] as? Int } == [8, 11], "\(json)")
            #expect(
                faults.nonEmptyAllSatisfy { $0["severity"] as? String == "error" && $0["file"] as? String == "bmo.yml" }
            )
        }

        @Test func `a forgotten password, missing files and an impossible database are reported`()
            async throws
        {
            func check(_ options: String, database: String = "bmo.sqlite") async throws -> ProcessRun {
                try folder.write(
                    """
                    version: 1
                    database: \(database)
                    bridges:
                      api:
                        plugin: rest
                        options: {url: "https://127.0.0.1:1", \(options)}
                    entities:
                      User:
                        bridge: api
                        key: id
                        attributes: {id: integer}
                        rest: {path: /users}

                    """, to: "bmo.yml")
                return try await bmo("check")
            }
            try folder.write("no certificate", to: "ca.pem")
            for (options, words) in [
                ("auth: {type: basic, user: ann}", "bmo.yml:6:43: error: api: auth.password is missing"),
                ("tls: {ca_file: nowhere.pem}", "tls.ca_file: there is no file \(folder.appending("nowhere.pem"))"),
                ("tls: {ca_file: .}", "tls.ca_file: \(folder.path)"),
                ("tls: {ca_file: ca.pem}", "ca.pem is not a PEM file"),
                ("tls: {client_certificate: a.pem, client_key: b.pem}", "tls.client_certificate: there is no file"),
                ("auth: {type: netrc, file: none}", "auth.file: there is no file"),
            ] {
                let run = try await check(options)
                #expect(run.exitCode == 2, "\(run)")
                run.expectMessages(words)
            }
            for (database, words) in [
                (".", "bmo.yml:2:11: error: \"database\" is a folder"), ("bmo.yml", "\"database\" is this file itself"),
                ("none/bmo.sqlite", "the folder of \"database\" does not exist"),
            ] {
                let run = try await check("timeout: 1", database: database)
                #expect(run.exitCode == 2, "\(run)")
                run.expectMessages(words)
            }
            // Many an API takes its key as the user, and nothing as the password.
            let good = try await check("auth: {type: basic, user: key, password: \"\"}")
            #expect(good.exitCode == 0, "\(good)")
        }

        @Test func `a secret that is written out is refused, and not repeated`() async throws {
            try folder.write(
                """
                version: 1
                bridges:
                  files:
                    plugin: smb
                    options: {url: "smb://127.0.0.1:1/documents", user: demo, password: hunter2}
                entities:
                  Document:
                    bridge: files
                    key: path
                    attributes: {path: text}
                    smb: {files: "*"}

                """, to: "bmo.yml")
            let check = try await bmo("check")
            #expect(check.exitCode == 2, "\(check)")
            check.expectMessages("bmo.yml:5:63", "password", "env", "file")
            #expect(!check.allOutput.contains("hunter2"))
        }

        @Test func `a command reads its configuration once, so a pipe can be one`() async throws {
            let text = """
                version: 1
                bridges:
                  api:
                    plugin: rest
                    options: {url: "http://127.0.0.1:1"}
                entities:
                  User:
                    bridge: api
                    key: id
                    attributes: {id: integer}
                    rest:
                      path: /users
                      query: {since: "{sinc}"}

                """
            try folder.write(text, to: "text.yml")
            try #require(mkfifo(folder.appending("bmo.yml"), 0o600) == 0)
            for command in ["check", "sync"] {
                let writer = try RunningProcess(
                    "/bin/sh", ["-c", "exec cat text.yml >bmo.yml"], directory: folder.path)
                let run = try await bmo(command)
                #expect(run.exitCode == 2, "\(run)")
                // The bridge finds the fault, and the parsed file still knows where it is.
                run.expectMessages("bmo.yml:13:", "{sinc} is not a variable")
                #expect(try await writer.finish().exitCode == 0)
            }
        }

        @Test func `impossible queries and secrets of a section are reported with their places`() async throws {
            func check(_ query: String, headers: String = "{}") async throws -> ProcessRun {
                try folder.write(
                    """
                    version: 1
                    bridges:
                      api:
                        plugin: rest
                        options: {url: "http://127.0.0.1:1", parameters: {tok: {env: DEMO_SMB_PASSWORD}}}
                    entities:
                      User:
                        bridge: api
                        key: id
                        incremental: {field: at}
                        attributes: {id: integer, at: timestamp}
                        rest:
                          path: /users
                          headers: \(headers)
                          query: \(query)

                    """, to: "bmo.yml")
                return try await bmo("check")
            }
            let mapping = try await check(#"{since: "{since}", access_token: {env: K}, a: {b: c}}"#)
            #expect(mapping.exitCode == 2)
            mapping.expectMessages(
                "bmo.yml:15:", "query.access_token", "secrets belong to the bridge's options", "query.a")
            let nowhere = try await check("{page: 1}")
            #expect(nowhere.exitCode == 2)
            nowhere.expectMessages("incremental names a field", "the section does not use {since}")
            let misspelt = try await check(#"{since: "{sinc}"}"#)
            #expect(misspelt.exitCode == 2)
            misspelt.expectMessages("{sinc} is not a variable", "did you mean \"since\"")
            let good = #"{since: "{since}", access_token: "{tok}"}"#
            let literal = try await check(good, headers: "{X-Api-Key: lit3}")
            #expect(literal.exitCode == 0)
            literal.expectMessages("bmo.yml:14:", "warning", "X-Api-Key", "{env: NAME}")
            #expect(!"\(literal)".contains("lit3"))
            let told = try await bmo("check", "--json")
            #expect(told.exitCode == 0 && told.errorOutput.isEmpty, "\(told)")
            told.expectMessages(#"{"severity":"warning","file":"bmo.yml","line":14,"#, #""message":"#, "X-Api-Key")
            let right = try await check(good)
            #expect(right.exitCode == 0 && !"\(right)".contains("warning"), "\(right)")
            let nothing = try await bmo("check", "--json")
            #expect(nothing.exitCode == 0 && nothing.output == "[]\n" && nothing.errorOutput.isEmpty, "\(nothing)")
            let unreachable = try await bmo("check", "--remote", "--json")
            #expect(unreachable.exitCode == 1 && unreachable.errorOutput.isEmpty, "\(unreachable)")
            unreachable.expectMessages(
                #"{"severity":"error","file":null,"line":null,"column":null,"bridge":"api","entity":null,"#,
                #""code":"unreachable""#)
        }

        @Test func `several listings of an entity that goes on from a token are reported`() async throws {
            try folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "http://127.0.0.1:1"}}}
                entities:
                  User:
                    bridge: api
                    key: id
                    incremental: token
                    attributes: {id: integer}
                    rest:
                      path: /users{?kind}
                      each: {kind: [email, sms]}

                """, to: "bmo.yml")
            let run = try await bmo("check")
            #expect(run.exitCode == 0, "\(run)")
            run.expectMessages("bmo.yml:11:", "warning: User: incremental: token has no effect")
        }

        @Test func `an unknown entity on the command line is reported with the nearest`() async throws {
            let made = try await bmo(
                "init", "--demo", "--rest", "http://127.0.0.1:1", "--soap", "http://127.0.0.1:1/gazetteer.wsdl",
                "--smb", "smb://127.0.0.1:1/documents", "bmo.yml")
            #expect(made.exitCode == 0, "\(made)")
            let run = try await bmo("sync", "Contry")
            #expect(run.exitCode == 2, "\(run)")
            run.expectMessages("Contry", "Country")
        }

        @Test func `the config that init writes passes check`() async throws {
            for arguments in [["init"], ["init", "--demo", "--force"]] {
                let made = try await ProcessRun.run(BuiltCommand.path(), arguments, directory: folder.path)
                #expect(made.exitCode == 0, "\(made)")
                let check = try await bmo("check")
                #expect(check.exitCode == 0, "\(check)")
            }
        }

        /// `BMO_RECORD=1` writes the fixtures anew.
        @Test func `the plugins' schemas are those of Fixtures`() async throws {
            let run = try await bmo("plugins", "--json")
            #expect(run.exitCode == 0, "\(run)")
            let plugins = try #require(JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [[String: Any]])
            for name in ["rest", "soap", "smb"] {
                let plugin = try #require(plugins.first { $0["name"] as? String == name })
                for (member, part) in [("options_schema", "options"), ("entity_schema", "entity")] {
                    let schema = try #require(plugin[member] as? String)
                    let text = try JSONSerialization.data(
                        withJSONObject: JSONSerialization.jsonObject(with: Data(schema.utf8)),
                        options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
                    let file = URL(fileURLWithPath: "\(PackageFolder.path)/Fixtures/plugins/\(name).\(part).json")
                    if ProcessInfo.processInfo.environment["BMO_RECORD"] != nil {
                        try (text + Data("\n".utf8)).write(to: file)
                    }
                    #expect(try Data(contentsOf: file) == text + Data("\n".utf8), "\(name).\(part) has changed")
                }
            }
        }

        @Test(arguments: ["plugins rest --json", "plugins list rest --json", "plugins info rest --json"])
        func `one bridge is explained as a JSON object`(line: String) async throws {
            let run = try await bmo(line.split(separator: " ").map(String.init))
            let object = try JSONSerialization.jsonObject(with: Data(run.output.utf8)) as? [String: Any]
            #expect(run.exitCode == 0 && object?["name"] as? String == "rest", "\(run)")
        }

        /// A process that serves a bridge once trapped at its start, one time in twenty.
        @Test func `a bridge starts every time`() async throws {
            for _ in 0..<40 {
                let run = try await bmo("plugins")
                #expect(run.exitCode == 0 && !run.output.contains("refused"), "\(run)")
            }
        }

        @Test func `a configured plugin that cannot be used is reported with the reason`() async throws {
            try folder.write("no library", to: "libOddBridge.so")
            try folder.write(
                "version: 1\nbridges: {o: {plugin: odd}}\nentities: {}\n", to: "bmo.yml")
            let run = try await ProcessRun.run(
                BuiltCommand.path(), ["check"], environment: ["BMO_PLUGIN_PATH": folder.path], directory: folder.path)
            #expect(run.exitCode == 2, "\(run)")
            run.expectMessages("bmo.yml:2:", "odd", "libOddBridge.so", "can't be used")
        }

        @Test func `an option that does not exist is a usage error`() async throws {
            let run = try await bmo("sync", "--no-such-option")
            #expect(run.exitCode == 2, "\(run)")
            run.expectMessages("--no-such-option")
        }

        @Test func `the three bridges are found beside the command`() async throws {
            let run = try await bmo("plugins")
            #expect(run.exitCode == 0, "\(run)")
            run.expectMessages("rest", "soap", "smb")
        }
    }
}
