import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// `bmo serve` without a configuration: a form has an API examined and writes one.
    @Suite struct SetupTests {
        private static let listing =
            #"[{"id": 1, "name": "Oslo", "founded": "1048-01-01"}, {"id": 2, "name": "</pre><script>alert(1)</script>"}]"#

        /// A server with a listing, and an empty folder.
        private func site() async throws -> RemoteWorkspace<RemoteServer> {
            let site = try await RemoteWorkspace.site()
            try site.publish(Self.listing, as: "towns.json")
            try FileManager.default.removeItem(atPath: site.folder.appending("bmo.yml"))
            return site
        }

        private func form(_ page: PageBrowser) async throws -> String {
            let text = try await page.page("/")
            return String(try #require(text.firstMatch(of: /name="token" value="([0-9a-f]+)"/), "\(text)").output.1)
        }

        private func post(
            _ path: String, to page: PageBrowser, _ fields: KeyValuePairs<String, String>, _ arguments: String...
        ) async throws -> PageBrowser.Reply {
            let token = try await form(page)
            return try await PageBrowser.curl(
                ["-b", page.cookie, "--data-urlencode", "token=\(token)"]
                    + fields.flatMap { ["--data-urlencode", "\($0.key)=\($0.value)"] } + arguments
                    + [page.origin + path])
        }

        @Test func `an API is examined, its configuration shown, written, and used`() async throws {
            let site = try await site()
            let page = try await PageBrowser(in: site.folder.path)
            #expect(try await page.page("/").contains("There is no configuration"))
            #expect(try await page.get("/health").status == 503)
            let found = try await post("/setup", to: page, ["kind": "sample", "url": site.url + "/towns.json"])
            #expect(found.status == 200 && found.body.contains("1 entity is ready to be synced"), "\(found)")
            #expect(found.body.contains("path: /towns.json") && !found.body.contains("<script"))
            let file = site.folder.appending("bmo.yml")
            #expect(!FileManager.default.fileExists(atPath: file), "nothing is written yet")
            let finding = try #require(found.body.value(of: "finding"))
            #expect(try await post("/setup/write", to: page, ["finding": "x"]).status == 409)
            let written = try await post("/setup/write", to: page, ["finding": finding, "text": "forged: true"])
            #expect(written.status == 303, "\(written)")
            let text = try String(contentsOfFile: file, encoding: .utf8)
            #expect(text.contains("path: /towns.json") && !text.contains("forged"))
            let overview = try await page.page("/")
            #expect(overview.contains("bmo.yml was written.") && overview.contains("Sync now"), "\(overview)")
            _ = try await page.act("/sync")
            try await eventually("the rows are here") { try await page.page("/").contains("finished") }
            #expect(try await page.page("/model").contains("<svg"))
            #expect(try await page.get("/setup").status == 404)
            #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
        }

        @Test func `local files and other schemes are refused`() async throws {
            let site = try await site()
            let page = try await PageBrowser(in: site.folder.path)
            try site.folder.write(
                #"{"openapi": "3.0.0", "info": {"title": "secret-title"}, "paths": {}}"#, to: "local.json")
            let local = site.folder.appending("local.json")
            for kind in ["openapi", "sample", "api", "soap", "smb"] {
                for url in [
                    local, "file://\(local)", "FILE://\(local)", "file:\(local)", "http:///etc/passwd",
                    "http:/etc/passwd",
                    "HTTP://../../\(local)", "ftp://127.0.0.1/x", "https://user:word@127.0.0.1/", "", "://", "http://",
                    "http://\\127.0.0.1/x", "http://127.0.0.1/a b", "smb:///etc", "env:HOME", "-o/etc/passwd",
                ] {
                    let reply = try await post("/setup", to: page, ["kind": kind, "url": url])
                    #expect([400, 422].contains(reply.status), "\(kind) \(url) \(reply.head)")
                    #expect(!reply.body.contains("secret-title") && !reply.body.contains("root:"), "\(kind) \(url)")
                }
            }
            #expect(try await post("/setup", to: page, ["kind": "singer", "url": "http://127.0.0.1/"]).status == 400)
            // A document from a server may not lead to a local file either.
            try site.publish(
                #"{"openapi": "3.0.0", "info": {"title": "t"}, "paths": {"$ref": "file://\#(local)"}}"#, as: "api.json")
            let reply = try await post("/setup", to: page, ["kind": "openapi", "url": site.url + "/api.json"])
            #expect(!reply.body.contains("secret-title"), "\(reply)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: site.folder.path) == ["local.json"])
        }

        @Test func `the form has the defences of the other forms, and replaces no file`() async throws {
            let site = try await site()
            let page = try await PageBrowser(in: site.folder.path)
            let address = "url=\(site.url)/towns.json"
            let token = try await form(page)
            for arguments in [
                ["-d", "token=\(token)"], ["-b", page.cookie, "-d", "token=x"], ["-b", page.cookie],
                ["-b", page.cookie, "-d", "token=\(token)", "-H", "Origin: http://evil.example"],
                ["-b", page.cookie, "-d", "token=\(token)", "-H", "Sec-Fetch-Site: cross-site"],
                ["-b", page.cookie, "-d", "token=\(token)", "-H", "Host: evil.example"],
            ] {
                let reply = try await PageBrowser.curl(
                    arguments + ["-d", "kind=sample", "-d", address, page.origin + "/setup"])
                #expect([401, 403].contains(reply.status), "\(arguments) \(reply)")
            }
            #expect(try await PageBrowser.curl([page.origin + "/"]).status == 401)
            #expect(try await page.get("/setup?kind=sample&\(address)").status == 404, "a GET examines nothing")
            let head = try await page.get("/")
            #expect(head.header("Content-Security-Policy")?.hasPrefix("default-src 'none'") == true)
            let found = try await post("/setup", to: page, ["kind": "sample", "url": site.url + "/towns.json"])
            let finding = try #require(found.body.value(of: "finding"), "\(found)")
            // Another process has written the file meanwhile.
            try site.folder.write("mine: true", to: "bmo.yml")
            let refused = try await post("/setup/write", to: page, ["finding": finding])
            #expect(refused.status == 409 && refused.body.contains("exists already"), "\(refused)")
            #expect(try String(contentsOfFile: site.folder.appending("bmo.yml"), encoding: .utf8) == "mine: true")
        }

        @Test(arguments: [
            ["--read-only"], ["--host", "bmo.example"], ["--listen", "0.0.0.0:0", "--password", "env:PAGE_WORD"],
        ]) func `read-only and for other machines, there is nothing to set up`(options: [String]) async throws {
            let site = try await site()
            let run = try await RunningProcess(
                BuiltCommand.path(), ["serve"] + options, environment: ["PAGE_WORD": "correct horse battery"],
                directory: site.folder.path
            ).finish(within: .seconds(30))
            #expect(run.exitCode == 2 && run.errorOutput.contains("bmo init"), "\(run)")
        }
    }
}
