import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// The progress of a running sync on the page of `bmo serve`, and as server-sent events.
    @Suite struct LiveTests {
        private static func workspace() async throws -> RemoteWorkspace<RemoteServer> {
            let workspace = try await RemoteWorkspace("slow-pages.py")
            try workspace.folder.write(
                """
                version: 1
                bridges: {api: {plugin: rest, options: {url: "\(workspace.url)"}}}
                entities:
                  Item:
                    bridge: api
                    key: id
                    attributes: {id: integer}
                    rest: {path: /items, records: $.items, paging: {style: page, size_parameter: size, size: 10}}
                """, to: "bmo.yml")
            return workspace
        }

        /// Starts to read the events.
        private static func events(_ page: PageBrowser) throws -> RunningProcess {
            try RunningProcess("curl", ["-sN", "-i", "--max-time", "60", "-b", page.cookie, page.origin + "/events"])
        }

        @Test func `a sync that the page started is followed as it happens, and stopped`() async throws {
            let workspace = try await Self.workspace()
            let page = try await PageBrowser(in: workspace.folder.path)
            let events = try Self.events(page)
            try await eventually("nothing is running") {
                events.output.contains("event: progress\ndata: {\"running\":false")
            }
            #expect(events.output.contains("text/event-stream") && events.output.contains("nosniff"))
            #expect(try await page.act("/sync").contains("Sync is running"))
            try await eventually("pages are reported") {
                events.output.matches(of: /data: \{"running":true,"title":"Sync","here":true,"lines":\["Item: page \d/)
                    .count > 2
            }
            let overview = try await page.page("/")
            #expect(overview.contains("http-equiv=\"refresh\" content=\"2\"") && overview.contains("/sync/stop"))
            _ = try await page.act("/sync/stop")
            try await eventually("the end is reported") {
                events.output.contains("\"running\":false,\"title\":\"Sync\",\"outcome\":\"interrupted\"")
            }
            events.signal(SIGKILL)
            #expect(try await !page.page("/").contains("http-equiv=\"refresh\""))
        }

        @Test func `the sync of another process is followed, too`() async throws {
            let workspace = try await Self.workspace()
            let sync = try workspace.start(["sync"])
            try await eventually("the sync has imported a page") {
                FileManager.default.fileExists(atPath: workspace.database) && sync.errorOutput.contains("page 1")
            }
            let page = try await PageBrowser(in: workspace.folder.path)
            let events = try Self.events(page)
            try await eventually("pages of the other process are reported") {
                events.output.matches(
                    of: /data: \{"running":true,"title":"[^"]*sync[^"]*","here":false,"lines":\["Item: page/
                )
                .count > 1
            }
            let overview = try await page.page("/")
            #expect(overview.contains("Another process is writing") && !overview.contains("Sync all"), "\(overview)")
            try workspace.folder.write("", to: "fast")
            #expect(try await sync.finish().exitCode == 0)
            try await eventually("the end is reported") { events.output.contains("\"running\":false") }
            events.signal(SIGKILL)
        }

        @Test(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
        func `many streams share one connection, and one that fails is not taken for an idle one`() async throws {
            let site = try await RemoteWorkspace.site()
            let server = try PostgreSQLServer.shared.get()
            let location = server.newLocation()
            try site.configure(more: "database: \(location)")
            try site.publish(countries: #"[{"code": "NO", "name": "Norway"}]"#)
            try await site.expectSuccess("sync", "Country")
            let page = try await PageBrowser(in: site.folder.path)
            let clients = try (0..<8).map { _ in try Self.events(page) }
            try await eventually("all clients are served") {
                clients.nonEmptyAllSatisfy { $0.output.contains("\"running\":false") }
            }
            func sessions() throws -> Int {
                try server.rows(
                    "SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'bmo%' AND query LIKE '%pg_locks%' AND pid <> pg_backend_pid()"
                ).first.flatMap { Int($0) } ?? -1
            }
            var most = 0
            for _ in 0..<20 {
                most = max(most, try sessions())
                try await Task.sleep(for: .milliseconds(50))
            }
            #expect(most <= 2, "\(most) connections for 8 streams")
            for client in clients { client.signal(SIGKILL) }
        }

        @Test(.enabled(if: PostgreSQLServer.isInstalled, "PostgreSQL's server is not installed: Scripts/install test"))
        func `workers between two rounds are not writing`() async throws {
            let site = try await RemoteWorkspace.site()
            try site.configure(more: "database: \(PostgreSQLServer.shared.get().newLocation())")
            try site.publish(countries: #"[{"code": "NO", "name": "Norway"}]"#)
            let worker = try site.start(["work", "--every", "1h"])
            defer { worker.signal(SIGKILL) }
            try await eventually("a round is over") {
                try await site.bmo("status").output.contains("of workers: over")
            }
            let page = try await PageBrowser(in: site.folder.path)
            let overview = try await page.page("/")
            #expect(overview.contains("Workers share the syncs of this database") && overview.contains("bmo work"))
            #expect(!overview.contains("http-equiv=\"refresh\"") && !overview.contains("is writing"), "\(overview)")
            #expect(!overview.contains("Sync all"))
            let events = try Self.events(page)
            try await eventually("it is said") {
                events.output.contains(#"data: {"running":false,"reserved":"bmo work"#)
            }
            events.signal(SIGKILL)
        }

        @Test func `a database that cannot be asked is unknown`() async throws {
            let workspace = try await Self.workspace()
            try workspace.folder.write("", to: "fast")
            let page = try await PageBrowser(in: workspace.folder.path)
            try workspace.folder.write("no database", to: "bmo.sqlite")
            let events = try Self.events(page)
            try await eventually("it is said") {
                events.output.contains(#"data: {"running":null,"error":"#)
            }
            events.signal(SIGKILL)
        }

        @Test func `clients are limited, and one that has gone makes room`() async throws {
            let workspace = try await Self.workspace()
            let page = try await PageBrowser(in: workspace.folder.path)
            let clients = try (0..<16).map { _ in try Self.events(page) }
            try await eventually("all clients are served") {
                clients.nonEmptyAllSatisfy { $0.output.contains("\"running\":false") }
            }
            #expect(try await page.get("/events").status == 503)
            #expect(try await page.get("/").status == 200, "pages still have connections")
            clients[3].signal(SIGKILL)
            let next = try await eventually("there is room again") { () -> RunningProcess? in
                let client = try Self.events(page)
                try await eventually("there is a reply") { client.output.contains("\r\n\r\n") }
                return client.output.contains("200 OK") ? client : nil
            }
            for client in clients + [next] { client.signal(SIGKILL) }
        }

        @Test func `a stream ends with its session, and the server with SIGTERM`() async throws {
            let workspace = try await Self.workspace()
            let page = try await PageBrowser(in: workspace.folder.path)
            let events = try Self.events(page)
            try await eventually("the stream has begun") { events.output.contains("\"running\":false") }
            _ = try await page.post("/logout")
            #expect(try await events.finish(within: .seconds(15)).exitCode == 0)

            let other = try await PageBrowser(in: workspace.folder.path)
            let open = try Self.events(other)
            try await eventually("the stream has begun") { open.output.contains("\"running\":false") }
            other.process.signal(SIGTERM)
            #expect(try await other.process.finish(within: .seconds(15)).exitCode == 0)
            open.signal(SIGKILL)
        }
    }
}
