import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Sites of organizations: Kerberos tickets (Negotiate) and NTLM, each verified by a server that knows nothing of bmo.
    @Suite struct TicketTests {
        /// A realm with apache2, and the workspace of a configuration for it.
        private struct Realm {
            let server: RemoteServer
            let folder: TemporaryFolder

            init() async throws {
                folder = try TemporaryFolder()
                let script = PackageFolder.path + "/Tests/Servers/kerberos.py"
                let realm = try TemporaryFolder("realm", in: folder)
                server = try await RemoteServer(["python3", script, realm.path])
                try folder.write(
                    """
                    version: 1
                    bridges:
                      site: {plugin: rest, options: {url: "http://localhost:\(server.port)", auth: {type: negotiate}}}
                    entities:
                      Team: {bridge: site, key: id, attributes: {id: integer, name: text}, rest: {path: /api/teams.json, records: $}}
                      Away: {bridge: site, key: id, attributes: {id: integer, name: text}, rest: {path: /away, records: $}}
                      Stale: {bridge: site, key: id, attributes: {id: integer, name: text}, rest: {path: /stale, records: $}}

                    """, to: "bmo.yml")
            }

            func sync(_ entity: String, environment: [String: String]) async throws -> ProcessRun {
                let own = [
                    "KRB5_CONFIG": folder.path + "/realm/krb5.conf", "KRB5CCNAME": "FILE:\(folder.path)/tickets",
                ]
                return try await ProcessRun.run(
                    BuiltCommand.path(), ["sync", entity], environment: own.merging(environment) { $1 },
                    directory: folder.path)
            }

            func log(_ name: String) throws -> String {
                try String(contentsOfFile: folder.path + "/realm/\(name).log", encoding: .utf8)
            }
        }

        @Test func `a keytab or a credential cache gets a ticket, which no other origin receives`() async throws {
            let realm = try await Realm()
            let none = try await realm.sync("Team", environment: [:])
            #expect(none.exitCode == 1 && none.errorOutput.contains("run kinit or set KRB5_CLIENT_KTNAME"), "\(none)")

            let keytab = ["KRB5_CLIENT_KTNAME": "FILE:\(realm.folder.path)/realm/client.keytab"]
            let memory = keytab.merging(["KRB5CCNAME": "MEMORY:bmo"]) { $1 }
            let first = try await realm.sync("Team", environment: memory)
            #expect(first.exitCode == 0 && first.output.contains("2         2"), "\(first)")
            #expect(try realm.log("site").contains("/api/teams.json user=ann@BMO.TEST authorization=Negotiate "))

            // The library keeps the ticket in the cache, where kinit would put it; then the keytab is not needed.
            _ = try await realm.sync("Team", environment: keytab)
            let cached = try await realm.sync("Team", environment: [:])
            #expect(cached.exitCode == 0, "\(cached)")

            let stale = try await realm.sync("Stale", environment: memory)
            #expect(stale.exitCode == 1 && stale.errorOutput.contains("authentication: "), "\(stale)")
            #expect(!stale.errorOutput.contains("tried"), "\(stale)")

            let away = try await realm.sync("Away", environment: memory)
            #expect(away.exitCode == 0, "\(away)")
            #expect(try realm.log("other") == "/api/teams.json user=- authorization=-\n")
        }

        @Test func `NTLM is proved once for a connection, and a wrong password is a refusal`() async throws {
            let server = try await RemoteServer([
                TestPython.path, PackageFolder.path + "/Tests/Servers/ntlm-site.py", "ann",
                "s3cr3t",
            ])
            let folder = try TemporaryFolder()
            try folder.write(
                """
                version: 1
                bridges:
                  site:
                    plugin: rest
                    options:
                      url: \(server.url)
                      auth: {type: ntlm, domain: TOWN, user: ann, password: {env: PASSWORD}}
                entities:
                  Team: {bridge: site, key: id, attributes: {id: integer, name: text}, rest: {path: /teams, records: $}}
                  Away: {bridge: site, key: id, attributes: {id: integer, name: text}, rest: {path: /away, records: $}}

                """, to: "bmo.yml")
            func sync(_ entity: String, password: String) async throws -> ProcessRun {
                try await ProcessRun.run(
                    BuiltCommand.path(), ["sync", entity], environment: ["PASSWORD": password], directory: folder.path)
            }
            let right = try await sync("Team", password: "s3cr3t")
            #expect(right.exitCode == 0 && right.output.contains("2         2"), "\(right)\n\(server.log)")
            let wrong = try await sync("Team", password: "wr0ng-word")
            #expect(wrong.exitCode == 1 && wrong.allOutput.contains("answers 401"), "\(wrong)")
            #expect(!wrong.allOutput.contains("wr0ng-word"))
            let away = try await sync("Away", password: "s3cr3t")
            #expect(away.exitCode == 0, "\(away)")
            let open = server.log.split(separator: "\n").filter { $0.hasPrefix("/open ") }
            #expect(open.nonEmptyAllSatisfy { $0.hasSuffix(" -") }, "\(server.log)")
        }

        /// A domain of Samba, and the workspace of a configuration for the share of its controller.
        private struct Domain {
            let server: RemoteServer
            let folder: TemporaryFolder

            init() async throws {
                folder = try TemporaryFolder()
                let script = PackageFolder.path + "/Tests/Servers/domain.py"
                let domain = try TemporaryFolder("domain", in: folder)
                server = try await RemoteServer([
                    "unshare", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child", "python3", script,
                    domain.path,
                ])
            }

            /// Syncs the share's files, where the server's name is known.
            func sync(
                _ options: String, host: String = "dc.bmo.test", environment: [String: String] = [:]
            ) async throws -> ProcessRun {
                try folder.write(
                    """
                    version: 1
                    bridges:
                      share: {plugin: smb, options: {url: "smb://\(host):\(server.port)/data", \(options)}}
                    entities:
                      File: {bridge: share, key: path, attributes: {path: text, text: text}, smb: {files: "*.txt", content: text}}

                    """, to: "bmo.yml")
                try? FileManager.default.removeItem(atPath: folder.path + "/bmo.sqlite")
                return try await run("exec \"$0\" sync", environment)
            }

            /// Runs a command of the shell, where the server's name is known; `$0` is the built command.
            func run(_ command: String, _ environment: [String: String] = [:]) async throws -> ProcessRun {
                let own = ["KRB5_CONFIG": folder.path + "/domain/krb5.conf", "KRB5CCNAME": "FILE:\(folder.path)/none"]
                return try await ProcessRun.run(
                    "/usr/bin/unshare",
                    [
                        "--mount", "sh", "-c", "mount --bind domain/hosts /etc/hosts && \(command)",
                        try BuiltCommand.path(),
                    ],
                    environment: own.merging(environment) { $1 }, directory: folder.path)
            }
        }

        @Test(.enabled(if: geteuid() == 0, "a domain controller, and a name of its own for it, need root"))
        func `a ticket of a domain opens a share, and nothing but a ticket does so with kerberos`() async throws {
            let domain = try await Domain()
            let none = try await domain.sync("kerberos: true")
            #expect(none.exitCode == 1 && none.errorOutput.contains("no valid Kerberos ticket"), "\(none)")

            let cache = "FILE:\(domain.folder.path)/tickets"
            let initial = try await domain.run("kinit -k -t domain/ann.keytab -c \(cache) ann")
            #expect(initial.exitCode == 0, "\(initial)")
            let given = try await domain.sync("kerberos: true, credentials_cache: \"\(cache)\"")
            #expect(given.exitCode == 0 && given.output.contains("1         1"), "\(given)")
            let inherited = try await domain.sync("kerberos: true", environment: ["KRB5CCNAME": cache])
            #expect(inherited.exitCode == 0, "\(inherited)")
            let named = try await domain.sync(
                "kerberos: true, user: ann, domain: BMO", environment: ["KRB5CCNAME": cache])
            #expect(named.exitCode == 0, "\(named)")

            let address = try await domain.sync(
                "kerberos: true", host: "127.0.0.1", environment: ["KRB5CCNAME": cache])
            #expect(address.exitCode == 1 && address.errorOutput.contains("there is none for an address"), "\(address)")

            let password = "user: ann, domain: BMO, password: {env: PASSWORD}"
            let right = try await domain.sync(password, environment: ["PASSWORD": "Secret-1234"])
            #expect(right.exitCode == 0, "\(right)")
            let wrong = try await domain.sync(password, environment: ["PASSWORD": "Secret-4321"])
            #expect(wrong.exitCode == 1 && wrong.errorOutput.contains("authentication: "), "\(wrong)")
        }
    }
}
