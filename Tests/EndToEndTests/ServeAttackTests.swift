import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// Attacks on `bmo serve`: by other sites in the same browser, by other users, and by what remotes say.
    @Suite struct ServeAttackTests {
        private static let paths = [
            "/", "/decide", "/runs", "/runs/1", "/plan", "/model", "/config", "/entity/Country", "/entity/Country.json",
            "/entity/Country.csv", "/object/Country/NO", "/new/Country", "/metrics",
        ]

        private func site() async throws -> RemoteWorkspace<RemoteServer> {
            let site = try await RemoteWorkspace.site()
            try site.publish(countries: #"[{"code": "NO", "name": "Norway"}]"#)
            _ = try await site.bmo("sync", "Country")
            return site
        }

        @Test func `a foreign host name is refused, with and without a session`() async throws {
            let site = try await site()
            let page = try await PageBrowser(in: site.folder.path)
            for host in ["evil.example", "127.0.0.1.evil.example:80", "localhost.evil.example", ""] {
                for path in Self.paths + ["/events", "/style.css", "/health", "/login?token=\(page.token)"] {
                    let reply = try await page.get(path, "-H", "Host: \(host)")
                    #expect(reply.status == 403 && !reply.body.contains("Norway"), "\(host) \(path) \(reply)")
                }
            }
            #expect(try await page.get("/", "-H", "Host: localhost:1").status == 200)
        }

        @Test func `without the token, every page and action is refused`() async throws {
            let site = try await site()
            let page = try await PageBrowser(in: site.folder.path, signsIn: false)
            let other = try await PageBrowser.curl(["\(page.origin)/login?token=\(page.token)"])
            let name = String(try #require(other.header("Set-Cookie")).prefix { $0 != "=" })
            let guesses = ["", "\(name)=", "\(name)=\(String(repeating: "0", count: 64))", "\(name)=\(page.token)"]
            for path in Self.paths + ["/events"] {
                for cookie in guesses {
                    let reply = try await PageBrowser.curl(["-b", cookie, page.origin + path])
                    #expect(reply.status == 401 && !reply.body.contains("Norway"), "\(path) \(reply)")
                }
            }
            for path in ["/sync", "/push", "/runs/1/undo", "/decide/quarantine", "/object/Country/NO", "/logout"] {
                let reply = try await PageBrowser.curl([
                    "-b", guesses[2], "-d", "token=\(page.token)", page.origin + path,
                ])
                #expect(reply.status == 401, "\(path) \(reply)")
            }
            for token in ["", "0", String(page.token.dropLast()), page.token.uppercased() + "0"] {
                let reply = try await PageBrowser.curl(["\(page.origin)/login?token=\(token)"])
                #expect(reply.status == 401 && reply.header("Set-Cookie") == nil, "\(reply)")
            }
            let again = try await PageBrowser.curl(["\(page.origin)/login?token=\(page.token)"])
            #expect(other.status == 303 && again.status == 401 && again.header("Set-Cookie") == nil)
            // The next address was printed.
            try await eventually("another address is printed") {
                page.process.output.matches(of: /login\?token=/).count == 2
            }
        }

        @Test func `a form of another site changes nothing`() async throws {
            let site = try await site()
            let page = try await PageBrowser(in: site.folder.path)
            let before = try await site.tables()
            for fields in [
                ["Origin: http://evil.example"], ["Origin: null"], ["Sec-Fetch-Site: cross-site"],
                ["Sec-Fetch-Site: same-site", "Origin: \(page.origin)"],
            ] {
                let headers = fields.flatMap { ["-H", $0] }
                let token = try #require(
                    try await page.page("/runs").firstMatch(of: /name="token" value="([0-9a-f]+)"/)
                ).output.1
                let reply = try await PageBrowser.curl(
                    ["-b", page.cookie, "-d", "token=\(token)"] + headers + [page.origin + "/runs/1/undo"])
                #expect(reply.status == 403, "\(fields) \(reply)")
            }
            for body in ["", "token=", "token=\(page.token)", "token=\(page.cookie.drop { $0 != "=" }.dropFirst())"] {
                let reply = try await PageBrowser.curl(["-b", page.cookie, "-d", body, page.origin + "/runs/1/undo"])
                #expect(reply.status == 403, "\(body) \(reply)")
            }
            let json = try await PageBrowser.curl(
                ["-b", page.cookie, "-H", "Content-Type: text/plain", "-d", "x", page.origin + "/runs/1/undo"])
            #expect(json.status == 415)
            #expect(try await site.tables() == before)
            #expect(try await page.get("/", "-X", "PUT").status == 405)
            #expect(try await page.get("/", "-X", "DELETE").status == 405)
        }

        @Test func `no GET changes the file`() async throws {
            let site = try await site()
            let page = try await PageBrowser(in: site.folder.path)
            let before = try Data(contentsOf: URL(filePath: site.database))
            for path in Self.paths + [
                "/sync", "/sync?entity=Country", "/push", "/runs/1/undo", "/runs/1/undo?preview=1",
                "/decide/quarantine",
                "/decide/outbox?id=1&do=drop", "/object/Country/NO?do=delete", "/logout", "/sync/stop",
            ] {
                _ = try await page.get(path)
            }
            #expect(try Data(contentsOf: URL(filePath: site.database)) == before)
            #expect(try await page.get("/").status == 200, "the session goes on")
            #expect(try await page.get("/sync").status == 404)
        }

        @Test func `a read-only page has no forms and refuses them`() async throws {
            let site = try await site()
            let page = try await PageBrowser(in: site.folder.path, ["--read-only"])
            let before = try Data(contentsOf: URL(filePath: site.database))
            for path in ["/", "/decide", "/runs/1", "/object/Country/NO"] {
                let text = try await page.page(path)
                #expect(text.matches(of: /method="post"/).count == 1, "only that of signing out: \(path)")
            }
            for path in ["/sync", "/push", "/runs/1/undo", "/decide/quarantine", "/object/Country/NO", "/new/Country"] {
                #expect(try await page.post(path, ["preview": "1"]).status == 403)
            }
            #expect(try Data(contentsOf: URL(filePath: site.database)) == before)
            #expect(try await page.post("/logout").status == 303)
            #expect(try await page.get("/").status == 401)
        }

        @Test func `nothing that a remote says becomes markup`() async throws {
            let hostile = #"\"><script>alert(1)</script><img src=x onerror=alert(2)>'\u202e"#
            let site = try await RemoteWorkspace.site()
            try site.publish(
                countries:
                    #"[{"code": "\#(hostile)", "name": "\#(hostile)", "eu": true, "languages": ["\#(hostile)"]}, {"code": "UR", "name": "javascript:alert(3)"}]"#,
                cities: #"[{"id": 1, "name": "\#(hostile)", "country": "\#(hostile)"}, {"id": "\#(hostile)"}]"#)
            _ = try await site.bmo("sync")
            try site.publish(
                countries:
                    #"[{"code": "\#(hostile)", "name": "x\#(hostile)", "eu": false, "languages": []}, {"code": "UR"}]"#,
                cities: #"[{"id": 1, "name": "y", "country": "\#(hostile)"}]"#)
            _ = try await site.bmo("sync")
            let page = try await PageBrowser(in: site.folder.path)
            let list = try await page.page("/entity/Country")
            let object = String(
                try #require(list.firstMatch(of: /href="(\/object\/Country\/%22[^"]+)"/), "\(list)").output.1)
            for path in Self.paths.filter({ $0 != "/metrics" && !$0.contains(".") && $0 != "/object/Country/NO" })
                + ["/decide?entity=City", "/runs/2", "/entity/City", "/object/City/1", "/object/Country/UR", object]
            {
                let text = try await page.page(path)
                #expect(!text.contains("<script") && !text.contains("<img"), "\(path): \(text)")
                #expect(!text.contains("href=\"javascript:") && !text.contains("\u{202E}"), "\(path)")
            }
            #expect(try await page.page(object).contains("&lt;script&gt;alert(1)&lt;/script&gt;"))
            let hostilePath = "/%22%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E"
            for path in [
                hostilePath, "/entity\(hostilePath)", "/runs\(hostilePath)", "/object/City\(hostilePath)",
                "/entity/City?where=%3Cscript%3E", "/entity/City?sort=%3Cscript%3E", "/entity/City?limit=%3Cscript%3E",
                "/entity/City?where=name%3D%3Cscript%3E", "/decide?entity=%3Cscript%3E", "/login?token=%3Cscript%3E",
                "/entity/City?after=%3Cscript%3E", "/runs/1?entity=%3Cscript%3E",
            ] {
                let reply = try await page.get(path)
                #expect(!reply.body.contains("<script") && reply.status < 500, "\(path) \(reply)")
            }
        }

        @Test func `each reply restricts what a browser does with it`() async throws {
            let site = try await site()
            let page = try await PageBrowser(in: site.folder.path)
            for path in Self.paths + ["/style.css", "/nowhere", "/health"] {
                let reply = try await page.get(path)
                let policy = try #require(reply.header("Content-Security-Policy"), "\(path)")
                #expect(
                    policy.hasPrefix("default-src 'none'; style-src 'self'")
                        && policy.hasSuffix("frame-ancestors 'none'"))
                #expect(!policy.contains("unsafe") && !policy.contains("script-src"))
                #expect(
                    reply.header("X-Content-Type-Options") == "nosniff" && reply.header("Cache-Control") == "no-store")
                #expect(
                    reply.header("Referrer-Policy") == "same-origin"
                        && reply.header("Access-Control-Allow-Origin") == nil)
            }
        }

        @Test func `a path never leads to a file`() async throws {
            let site = try await site()
            let page = try await PageBrowser(in: site.folder.path)
            for path in [
                "/../bmo.yml", "/..%2fbmo.yml", "/%2e%2e/bmo.yml", "/entity/..%2f..%2fetc%2fpasswd", "/bmo.yml",
                "/style.css/../bmo.yml", "/object/Country/..%2f..%2fbmo.yml", "//etc/passwd", "/entity/%00",
            ] {
                let reply = try await page.get(path)
                #expect([400, 404].contains(reply.status), "\(path) \(reply)")
                #expect(!reply.body.contains("plugin: rest") && !reply.body.contains("root:"), "\(path)")
            }
        }

        @Test func `secrets of the configuration are on no page`() async throws {
            let site = try await RemoteWorkspace.site()
            try site.publish(countries: #"[{"code": "NO", "name": "Norway"}]"#)
            try site.write(
                """
                version: 1
                bridges: {site: {plugin: rest, options: {url: "@URL@", auth: {type: bearer, token: {env: PAGE_SECRET}}}}}
                entities:
                  Country: {bridge: site, key: code, attributes: {code: text, name: text}, rest: {path: /countries.json}}
                """)
            let secret = "tellnobody1234567890"
            let run = try await RunningProcess(
                BuiltCommand.path(), ["sync"], environment: ["PAGE_SECRET": secret], directory: site.folder.path
            ).finish(within: .seconds(60))
            #expect(run.exitCode == 0, "\(run)")
            let page = try await PageBrowser(in: site.folder.path, environment: ["PAGE_SECRET": secret])
            for path in Self.paths {
                let reply = try await page.get(path)
                #expect(reply.status == 200 && !reply.description.contains(secret), "\(path) \(reply)")
            }
        }

        @Test func `another address needs a password, which is not on the command line`() async throws {
            let site = try await site()
            func refusal(_ arguments: String...) async throws -> String {
                let run = try await RunningProcess(
                    BuiltCommand.path(), ["serve"] + arguments, environment: ["SHORT": "abc"],
                    directory: site.folder.path
                ).finish(within: .seconds(30))
                #expect(run.exitCode == 2 && run.output.isEmpty, "\(run)")
                return run.errorOutput
            }
            #expect(try await refusal("--listen", "0.0.0.0:0").contains("give --password env:NAME"))
            #expect(try await refusal("--listen", "192.0.2.1").contains("can be reached from other machines"))
            let said = try await refusal("--listen", "0.0.0.0:0", "--password", "opensesame")
            #expect(said.contains("--password takes env:NAME or file:PATH") && !said.contains("opensesame"))
            #expect(try await refusal("--password", "env:SHORT").contains("shorter than 12 characters"))
            #expect(try await refusal("--password", "env:PAGE_MISSING").contains("PAGE_MISSING is not set"))
            for listen in ["here:x", "8080x", "a b", ":8080", ""] {
                #expect(try await refusal("--listen", listen).contains("is not an address"))
            }
            for listen in ["*:0", "0:0", "3f2a1bc9d0e4:0"] {
                #expect(try await refusal("--listen", listen).contains("can be reached from other machines"))
            }
            let both = try await refusal("--listen", "127.0.0.1:0", "--socket", "page.sock")
            #expect(both.contains("cannot be combined"))
            let path = String(repeating: "a", count: 108)
            #expect(try await refusal("--socket", path).contains("has 108 bytes, and that of a socket may have 107"))
            for host in ["shop.example.org:8443", "https://shop.example.org/", "*", ""] {
                #expect(try await refusal("--host", host).contains("use a form like shop.example.org"))
            }
        }

        @Test func `a socket belongs to its user, and is gone at the end`() async throws {
            let site = try await site()
            let page = try await PageBrowser(in: site.folder.path, ["--socket", "page.sock"], signsIn: false)
            let path = site.folder.appending("page.sock")
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect((attributes[.posixPermissions] as? Int).map { $0 & 0o077 } == 0)
            func get(_ path: String, host: String) async throws -> PageBrowser.Reply {
                try await PageBrowser.curl([
                    "--unix-socket", site.folder.appending("page.sock"), "-H", "Host: \(host)",
                    "http://localhost\(path)",
                ])
            }
            #expect(try await get("/health", host: "localhost").status == 200)
            #expect(try await get("/health", host: "evil.example").status == 403)
            #expect(try await get("/login?token=\(page.token)", host: "localhost").status == 303)
            page.process.signal(SIGTERM)
            let run = try await page.process.finish(within: .seconds(20))
            #expect(run.exitCode == 0 && run.output.hasSuffix("stopped\n"), "\(run)")
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }
}
