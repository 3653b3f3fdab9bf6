import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// `bmo watch --serve`: the web interface in a watch, and webhooks.
    @Suite struct HookTests {
        private static let secret = "hook secret 1234567890"

        /// A workspace whose remote may send webhooks; a sync without one comes after an hour.
        private func site(_ hook: String = "secret: {env: HOOK_SECRET}") async throws -> RemoteWorkspace<RemoteServer> {
            let site = try await RemoteWorkspace.site()
            try site.write(
                """
                version: 1
                bridges:
                  site: {plugin: rest, hook: {\(hook)}, options: {url: "@URL@"}}
                  other: {plugin: rest, options: {url: "@URL@"}}
                entities:
                  Country:
                    bridge: site
                    key: code
                    attributes: {code: text, name: text}
                    read_one: {path: "/country-{parent.code}.json"}
                    rest: {path: /countries.json}
                  City: {bridge: site, key: id, attributes: {id: integer, name: text}, rest: {path: /cities.json}}
                  Language: {bridge: other, key: code, attributes: {code: text}, rest: {path: /languages.json}}

                """)
            try site.publish(countries: #"[{"code": "NO", "name": "Norway"}, {"code": "SE", "name": "Sweden"}]"#)
            return site
        }

        private func watch(
            _ site: RemoteWorkspace<RemoteServer>, _ arguments: [String] = [], secret: String = secret
        ) async throws -> PageBrowser {
            let page = try await PageBrowser(
                in: site.folder.path, arguments, environment: ["HOOK_SECRET": secret],
                command: ["watch", "--serve", "--every", "1h"])
            try await eventually("the first sync is over") { try await page.page("/").contains("finished") }
            return page
        }

        private func signature(_ body: String, secret: String = secret) async throws -> String {
            let file = try TemporaryFolder()
            try file.write(body, to: "body")
            let run = try await ProcessRun.run(
                "openssl", ["dgst", "-sha256", "-hmac", secret, file.appending("body")])
            return String(try #require(run.output.split(separator: " ").last)).trimmingCharacters(in: .newlines)
        }

        private func send(
            _ body: String, to page: PageBrowser, _ entity: String = "Country", signature: String? = nil,
            _ arguments: String...
        ) async throws -> PageBrowser.Reply {
            let signature = if let signature { signature } else { try await self.signature(body) }
            return try await PageBrowser.curl(
                ["-H", "X-Hub-Signature-256: sha256=\(signature)", "--data-binary", body] + arguments
                    + ["\(page.origin)/hooks/\(entity)"])
        }

        @Test func `a webhook has its entity synced at once, and nothing that it says is written`() async throws {
            let site = try await site()
            let page = try await watch(site)
            try site.publish(countries: #"[{"code": "NO", "name": "Norge"}, {"code": "SE", "name": "Sverige"}]"#)
            let reply = try await send(#"{"name": "Forged", "code": "XX"}"#, to: page)
            #expect(reply.status == 202 && reply.body == "accepted\n", "\(reply)")
            try await eventually("both are here") {
                let list = try await page.page("/entity/Country")
                return list.contains("Norge") && list.contains("Sverige")
            }
            let list = try await page.page("/entity/Country")
            #expect(!list.contains("Forged") && !list.contains("XX"))
            page.process.signal(SIGTERM)
            let run = try await page.process.finish(within: .seconds(20))
            #expect(run.exitCode == 0 && run.output.hasSuffix("stopped\n"), "\(run)")
        }

        @Test func `a webhook that names an object has only this requested`() async throws {
            let site = try await site("secret: {env: HOOK_SECRET}, key: data.code")
            let page = try await watch(site)
            try site.publish(countries: #"[{"code": "NO", "name": "not this"}, {"code": "SE", "name": "nor this"}]"#)
            try site.publish(#"{"code": "NO", "name": "Norge"}"#, as: "country-NO.json")
            #expect(try await send(#"{"data": {"code": "NO"}}"#, to: page).status == 202)
            try await eventually("it is here") { try await page.page("/entity/Country").contains("Norge") }
            #expect(try await page.page("/entity/Country").contains("Sweden"), "the listing was not read")
            // The remote no longer has this one, which only the listing proves.
            try site.publish(countries: #"[{"code": "NO", "name": "Norge"}]"#)
            #expect(try await send(#"{"data": {"code": "SE"}}"#, to: page).status == 202)
            try await eventually("it is gone") { try await !page.page("/entity/Country").contains("Sweden") }
            for body in [
                #"{"data": {"code": ""}}"#, #"{"data": {"code": [1, 2]}}"#, #"{"data": {"code": {"a": 1}}}"#,
            ] {
                let reply = try await send(body, to: page)
                #expect(reply.status == 400 && reply.body.contains(#""data.code" is not a key of Country"#), "\(reply)")
            }
        }

        @Test func `a sync that a webhook asked for and that fails is tried again soon`() async throws {
            let site = try await site()
            let page = try await watch(site, ["--health", "health.json"])
            func health() -> String {
                (try? String(contentsOfFile: site.folder.appending("health.json"), encoding: .utf8)) ?? ""
            }
            try site.publish(countries: "this is not JSON")
            #expect(try await send("{}", to: page).status == 202)
            try await eventually("the watch is failing") { health().contains(#""state":"failing""#) }
            #expect(health().contains(#""error":"Country (bridge site"#), "\(health())")
            #expect(try await site.bmo("doctor", "--health", "health.json").exitCode == 1)
            try site.publish(countries: #"[{"code": "NO", "name": "Norge"}, {"code": "SE", "name": "Sverige"}]"#)
            // The next sync of everything comes after an hour.
            try await eventually("it is here") { try await page.page("/entity/Country").contains("Norge") }
            try await eventually("the watch has recovered") {
                health().contains(#""state":"waiting""#) && health().contains(#""error":null"#)
            }
        }

        @Test func `a webhook without the right signature is refused`() async throws {
            let site = try await site()
            let page = try await watch(site)
            let right = try await signature("{}")
            for entity in ["Country", "Language", "Nowhere", "..%2f..%2fetc"] {
                #expect(try await send("{ }", to: page, entity, signature: right).status == 401, "\(entity)")
                let none = try await PageBrowser.curl(["-d", "{}", "\(page.origin)/hooks/\(entity)"])
                #expect(none.status == 401 && none.body.contains("signature is missing"), "\(entity) \(none)")
            }
            let other = try await signature("{}", secret: "another secret 123")
            #expect(try await send("{}", to: page, signature: other).status == 401)
            for entity in ["Language", "Nowhere"] {
                #expect(try await send("{}", to: page, entity).status == 404, "who knows the secret is told")
            }
            for field in ["Host: evil.example", "Origin: http://evil.example"] {
                #expect(try await send("{}", to: page, "Country", signature: right, "-H", field).status == 403)
            }
            let large = String(repeating: "x", count: 300_000)
            let file = try TemporaryFolder()
            try file.write(large, to: "large")
            let reply = try await PageBrowser.curl([
                "-H", "X-Hub-Signature-256: \(right)", "--data-binary", "@\(file.appending("large"))",
                "\(page.origin)/hooks/Country",
            ])
            #expect(reply.status == 413, "\(reply)")
            #expect(try await PageBrowser.curl(["\(page.origin)/hooks/Country"]).status == 401)
        }

        @Test func `a secret whose file is replaced counts from the next webhook on`() async throws {
            let site = try await site("secret: {file: hook-secret}")
            try site.folder.write(Self.secret, to: "hook-secret")
            let page = try await watch(site)
            let (old, new) = try await (signature("{}"), signature("{}", secret: "another secret 123"))
            #expect(try await send("{}", to: page, signature: old).status == 202)
            try site.folder.write("another secret 123\n", to: "hook-secret")
            #expect(try await send("{}", to: page, signature: old).status == 401)
            #expect(try await send("{}", to: page, signature: new).status == 202)
            try site.folder.write("short", to: "hook-secret")
            #expect(try await send("{}", to: page, signature: new).status == 202)
            try await eventually("the reason is said") {
                page.process.errorOutput.contains("is shorter than 16 bytes; the secret that was read before")
            }
        }

        @Test func `a webhook with a time is accepted once, and not late`() async throws {
            let site = try await site("secret: {env: HOOK_SECRET}, timestamp: X-Time")
            let page = try await watch(site)
            func send(_ time: Int) async throws -> Int {
                try await self.send(
                    "{}", to: page, signature: signature("\(time).{}"), "-H", "X-Time: \(time)"
                ).status
            }
            let now = Int(Date().timeIntervalSince1970)
            #expect(try await send(now) == 202)
            #expect(try await send(now) == 409)
            #expect(try await send(now + 1) == 202)
            #expect(try await send(now - 1000) == 401)
            #expect(try await self.send("{}", to: page).status == 401, "a signature without the time is not enough")
        }

        @Test func `a webhook with a time is accepted once, also after the configuration has changed`() async throws {
            let site = try await site("secret: {env: HOOK_SECRET}, timestamp: X-Time")
            let page = try await watch(site)
            let time = Int(Date().timeIntervalSince1970)
            let signature = try await signature("\(time).{}")
            func send() async throws -> Int {
                try await self.send("{}", to: page, signature: signature, "-H", "X-Time: \(time)").status
            }
            #expect(try await send() == 202)
            let config = try String(contentsOfFile: site.folder.appending("bmo.yml"), encoding: .utf8)
            try site.folder.write(
                config.replacing("  Language:", with: "  Tongue:").replacing("hook: {", with: "hook: {key: id, "),
                to: "bmo.yml")
            try await eventually("the new configuration is followed") {
                try await page.get("/entity/Tongue").status != 404
            }
            #expect(try await send() == 409)
        }

        @Test func `bmo serve alone takes no webhooks, and a short secret none at all`() async throws {
            let site = try await site()
            _ = try await site.bmo("sync", "City")
            let page = try await PageBrowser(
                in: site.folder.path, environment: ["HOOK_SECRET": Self.secret], signsIn: false)
            let reply = try await send("{}", to: page)
            #expect(reply.status == 503 && reply.body.contains("bmo watch --serve"), "\(reply)")
            func refusal(_ arguments: [String], _ secret: String?) async throws -> String {
                let run = try await RunningProcess(
                    BuiltCommand.path(), ["watch"] + arguments, environment: secret.map { ["HOOK_SECRET": $0] } ?? [:],
                    directory: site.folder.path
                ).finish(within: .seconds(30))
                #expect(run.exitCode == 2, "\(run)")
                return run.errorOutput
            }
            let short = try await refusal(["--serve"], "tooshort")
            #expect(short.contains("{env: HOOK_SECRET} is shorter than 16 bytes") && !short.contains("tooshort"))
            #expect(try await refusal(["--serve"], nil).contains("HOOK_SECRET is not set"))
            #expect(try await refusal(["--listen", "8080"], Self.secret).contains("belong to --serve"))
            #expect(try await refusal(["--serve", "--listen", "0.0.0.0:0"], Self.secret).contains("give --password"))
        }
    }
}
