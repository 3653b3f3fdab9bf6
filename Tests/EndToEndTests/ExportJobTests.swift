import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// `export`: a job is created, its state asked for, and its files read.
    @Suite struct ExportJobTests {
        private func place(mode: String = "") async throws -> RemoteWorkspace<RemoteServer> {
            let place = try await RemoteWorkspace("export-jobs.py", environment: ["SHOP_TOKEN": "opensesame-77"])
            try configure(place)
            try set(place, mode)
            return place
        }

        private func set(_ place: RemoteWorkspace<RemoteServer>, _ mode: String) throws {
            try place.folder.write(mode, to: "mode")
            try place.folder.write("", to: "asked")
        }

        private func configure(
            _ place: RemoteWorkspace<RemoteServer>, create: String = "body: {what: orders}",
            status: String = "", files: String = "urls: \"$.result.files[*].url\"", more: String = "",
            format: String = "csv"
        ) throws {
            try place.folder.write(
                """
                version: 1
                bridges:
                  shop:
                    plugin: rest
                    options: {url: "\(place.url)", auth: {type: bearer, token: {env: SHOP_TOKEN}}}
                entities:
                  Order:
                    bridge: shop
                    key: id
                    attributes: {id: integer, item: text}
                    \(more)
                    rest:
                      format: \(format)
                      export:
                        create: {path: /exports, body_format: form, id: $.job.id, \(create)}
                        status: {path: "/exports/{id}", state: $.state, done: [done], failed: [failed], message: $.reason, interval: 0.1\(status)}
                        files: {\(files)}

                """, to: "bmo.yml")
        }

        private func asked(_ place: RemoteWorkspace<RemoteServer>) throws -> [String] {
            try String(contentsOfFile: place.folder.appending("asked"), encoding: .utf8).split(separator: "\n").map(
                String.init)
        }

        private func orders(_ place: RemoteWorkspace<RemoteServer>) async throws -> String {
            try await place.query(
                "SELECT group_concat(id || ' ' || item, ', ') FROM (SELECT * FROM \"Order\" ORDER BY id)")
        }

        private static let all = "1 apple, 2 pear, 3 plum"

        /// What a sync asks that makes the job with this number and reads its two files.
        private static func whole(_ job: Int) -> [String] {
            ["/exports +", "/exports/job%20\(job) +", "/exports/job%20\(job) +", "/files/1.csv", "/files/2.csv.gz"]
        }

        @Test func `the files of a job are the listing, and another host gets no credentials`() async throws {
            let place = try await place()
            try await place.expectSuccess("sync")
            #expect(try await orders(place) == Self.all)
            #expect(try asked(place) == Self.whole(1))
            // The next sync has a job of its own, and one without files has no records.
            try set(place, "empty")
            try await place.expectSuccess("sync", "--allow-deletes")
            #expect(try asked(place) == ["/exports +", "/exports/job%202 +", "/exports/job%202 +"])
            #expect(try await orders(place) == "")
        }

        @Test func `files of the API itself and of named hosts get credentials`() async throws {
            let place = try await place(mode: "own")
            try await place.expectSuccess("sync")
            #expect(try asked(place).suffix(2) == ["/files/1.csv +", "/files/2.csv.gz +"])
            try set(place, "private")
            let refused = try await place.bmo("sync")
            #expect(refused.exitCode != 0)
            refused.expectMessages("401", "name it under export.files.credentials_for")
            let host = place.url.replacing("127.0.0.1", with: "localhost")
            try configure(place, files: "urls: \"$.result.files[*].url\", credentials_for: [\"\(host)\"]")
            try set(place, "private")
            try await place.expectSuccess("sync")
            #expect(try asked(place).suffix(2) == ["/files/1.csv +", "/files/2.csv.gz +"])
        }

        @Test func `a file may have a path of its own`() async throws {
            let place = try await place()
            try configure(place, files: "path: /files/3.ndjson", format: "ndjson")
            try await place.expectSuccess("sync")
            #expect(try await orders(place) == "4 fig")
        }

        @Test func `a job that fails is an error, and the next sync makes a new one`() async throws {
            let place = try await place(mode: "fails")
            let sync = try await place.bmo("sync")
            #expect(sync.exitCode != 0, "\(sync)")
            sync.expectMessages("the export of Order: the job's state is failed", "the disk is full")
            try await place.bmo("sync")
            #expect(try asked(place) == ["/exports +", "/exports/job%201 +", "/exports +", "/exports/job%202 +"])
            try set(place, "")
            try await place.expectSuccess("sync")
            #expect(try await orders(place) == Self.all)
        }

        @Test func `a job that never ends is given up after the time limit`() async throws {
            let place = try await place(mode: "never")
            try configure(place, status: ", time_limit: 2")
            let sync = try await place.bmo("sync")
            #expect(sync.exitCode != 0, "\(sync)")
            sync.expectMessages(
                "the export of Order: the job is not done after 2 s; its state is running",
                "raise export.status.time_limit")
            // Asked once more, and then replaced.
            try set(place, "never")
            try await place.bmo("sync")
            #expect(try asked(place).prefix(3) == ["/exports/job%201 +", "/exports +", "/exports/job%202 +"])
            // A job that became done meanwhile is read.
            try set(place, "")
            try await place.expectSuccess("sync")
            #expect(try asked(place) == ["/exports/job%202 +", "/files/1.csv", "/files/2.csv.gz"])
            #expect(try await orders(place) == Self.all)
        }

        @Test func `an interrupted sync continues with the same job after its last file`() async throws {
            let place = try await place(mode: "broken")
            let sync = try await place.bmo("sync")
            #expect(sync.exitCode != 0, "\(sync)")
            sync.expectMessages("file 2 of 2 of the export of Order: the server answers 400")
            #expect(try await orders(place) == "1 apple, 2 pear")
            try set(place, "")
            try await place.expectSuccess("sync")
            #expect(try asked(place) == ["/exports/job%201 +", "/files/2.csv.gz"])
            #expect(try await orders(place) == Self.all)
        }

        @Test func `a sync that was interrupted within a file continues there`() async throws {
            let place = try await place(mode: "cut")
            let text = try String(contentsOfFile: place.folder.appending("bmo.yml"), encoding: .utf8)
            try place.folder.write(text.replacing("key: id", with: "key: id\n    retry_for: 1s"), to: "bmo.yml")
            let sync = try await place.bmo("sync")
            #expect(sync.exitCode != 0, "\(sync)")
            #expect(try await place.query("SELECT count(*) BETWEEN 10000 AND 15000 FROM \"Order\"") == "1")
            // The rows before are not imported again.
            _ = try await ProcessRun.run(
                "sqlite3", [place.database, "UPDATE \"Order\" SET item = 'mine' WHERE id = 5"])
            try set(place, "long")
            try await place.expectSuccess("sync")
            #expect(try asked(place).first == "/exports/job%201 +")
            #expect(try await place.query("SELECT count(*), max(id) FROM \"Order\"") == "30000|30000")
            #expect(try await place.query("SELECT item FROM \"Order\" WHERE id = 5") == "mine")
        }

        @Test func `a job that is gone is replaced`() async throws {
            let place = try await place(mode: "broken")
            try await place.bmo("sync")
            try set(place, "gone")
            try await place.expectSuccess("sync")
            #expect(try asked(place) == ["/exports/job%201 +"] + Self.whole(2))
            #expect(try await orders(place) == Self.all)
        }

        @Test func `a job that lists its files in another order continues with those that are not read`() async throws {
            let place = try await place(mode: "broken")
            try await place.bmo("sync")
            try set(place, "reversed")
            try await place.expectSuccess("sync")
            #expect(try asked(place) == ["/exports/job%201 +", "/files/2.csv.gz"])
            #expect(try await orders(place) == Self.all)
        }

        @Test func `a renewed list in another order leaves out no file`() async throws {
            let place = try await place()
            try await place.expectSuccess("sync")
            try set(place, "turned")
            try await place.expectSuccess("sync")
            #expect(
                try asked(place).suffix(4) == [
                    "/files/1.csv", "/files/2.csv.gz", "/exports/job%202 +", "/files/2.csv.gz",
                ])
            #expect(try await orders(place) == Self.all)
        }

        @Test func `a file with another order of rows at each request is read again from its first row`() async throws {
            let place = try await place(mode: "shuffled")
            try await place.expectSuccess("sync")
            #expect(try asked(place).filter { $0 == "/files/1.csv" }.count == 3)
            #expect(try await place.query("SELECT count(*), min(id), max(id) FROM \"Order\"") == "30000|1|30000")
        }

        @Test(arguments: ["key: id", "unique: none"])
        func `rows of a file that was written anew for the next request do not stay`(key: String) async throws {
            let place = try await place(mode: "rewritten")
            let text = try String(contentsOfFile: place.folder.appending("bmo.yml"), encoding: .utf8)
            try place.folder.write(text.replacing("key: id", with: key), to: "bmo.yml")
            let sync = try await place.expectSuccess("sync", "--allow-deletes")
            sync.expectMessages(
                "the scan starts over: file 1 of 2 of the export of Order has other bytes than when some of its rows were imported"
            )
            #expect(!sync.errorOutput.contains("occurs twice"), "\(sync)")
            // The second file has one row.
            #expect(
                try await place.query("SELECT count(*), count(DISTINCT id), sum(item = 'new') FROM \"Order\"")
                    == "25001|25001|25000")
            // The job is read again, and no second one made.
            #expect(try asked(place).filter { $0 == "/exports +" }.count == 1)
            #expect(try asked(place).filter { $0 == "/files/1.csv" }.count == 3)
        }

        @Test func `a part of a listing is read again, too`() async throws {
            let place = try await place(mode: "rewritten")
            let sync = try await place.expectSuccess("sync", "Order", "--where", "id>5000")
            sync.expectMessages("the scan starts over: file 1 of 2")
            #expect(try await place.query("SELECT count(*) FROM \"Order\" WHERE item = 'new'") == "25000")
        }

        @Test(arguments: ["fewer", "more", "others"])
        func `a job that names other files than before is replaced`(mode: String) async throws {
            let place = try await place(mode: "broken")
            try await place.bmo("sync")
            try set(place, mode)
            try await place.expectSuccess("sync")
            #expect(try asked(place) == ["/exports/job%201 +"] + Self.whole(2))
            #expect(try await orders(place) == Self.all)
        }

        @Test func `another request makes another job`() async throws {
            let place = try await place(mode: "broken")
            try await place.bmo("sync")
            try configure(place, create: "body: {what: all}")
            try set(place, "")
            try await place.expectSuccess("sync")
            #expect(try asked(place) == Self.whole(2))
        }

        @Test func `an expired link is asked for again, once`() async throws {
            let place = try await place(mode: "expired")
            try await place.expectSuccess("sync")
            #expect(try await orders(place) == Self.all)
            #expect(
                try asked(place).suffix(4) == [
                    "/files/1.csv", "/exports/job%201 +", "/files/1.csv", "/files/2.csv.gz",
                ])
        }

        @Test func `no message has the signature of a link`() async throws {
            for (mode, message) in [
                ("refused", "the link of the file is refused, also the new one"),
                ("login", "file 1 of 2 of the export of Order: the reply is a web page where CSV was expected"),
            ] {
                let place = try await place(mode: mode)
                let sync = try await place.bmo("sync", "--verbose")
                #expect(sync.exitCode != 0, "\(sync)")
                sync.expectMessages(message)
                #expect(!(sync.output + sync.errorOutput).contains("abcdefgh"), "\(sync)")
                #expect(!(sync.output + sync.errorOutput).contains("opensesame"), "\(sync)")
            }
        }

        @Test(arguments: [
            ("accepted", "file 2 of 2 of the export of Order: the status 202 (Accepted)"),
            ("pages", "file 2 of 2 of the export of Order: the status 206 (Partial Content)"),
            ("part", "file 2 of 2 of the export of Order: the reply 206 has a part of the file, bytes 0 to 7 of 1000"),
            ("unlinked", "the job is done, and a file has no link at $.result.files[*].url"),
            ("null-link", "the job is done, and a file has no link at $.result.files[*].url"),
            ("blank-link", "the job is done, and a file has no link at $.result.files[*].url"),
        ])
        func `a file that may lack rows deletes nothing`(mode: String, message: String) async throws {
            let place = try await place()
            try await place.expectSuccess("sync")
            try set(place, mode)
            let sync = try await place.bmo("sync", "--allow-deletes")
            sync.expectMessages(message)
            #expect(try await orders(place) == Self.all)
        }

        @Test(arguments: [("whole-part", all), ("no-content", "1 apple, 2 pear")])
        func `a part that is the whole file, and a reply without content, are complete`(
            mode: String, expected: String
        ) async throws {
            let place = try await place()
            try await place.expectSuccess("sync")
            try set(place, mode)
            try await place.expectSuccess("sync", "--allow-deletes")
            #expect(try await orders(place) == expected)
        }

        @Test func `a job that is done but says that it failed in part deletes nothing, unless that is accepted`()
            async throws
        {
            let place = try await place()
            try await place.expectSuccess("sync")
            try set(place, "partial")
            let sync = try await place.bmo("sync", "--allow-deletes")
            sync.expectMessages(
                "the export of Order: the job is done, but $.error is a text: shard 2 is down", "export.status.accept")
            #expect(try await orders(place) == Self.all)
            try configure(place, status: ", accept: [$.error]")
            try set(place, "partial")
            try await place.expectSuccess("sync", "--allow-deletes")
            #expect(try await orders(place) == "1 apple, 2 pear")
        }

        @Test func `a status without the state is an error`() async throws {
            let place = try await place(mode: "elsewhere")
            let sync = try await place.bmo("sync")
            #expect(sync.exitCode != 0, "\(sync)")
            sync.expectMessages("the export of Order: the reply has nothing at $.state")
        }

        @Test func `the server's Retry-After counts`() async throws {
            let place = try await place(mode: "wait")
            let start = ContinuousClock.now
            try await place.expectSuccess("sync")
            #expect(ContinuousClock.now - start >= .seconds(1))
            #expect(try asked(place) == Self.whole(1))
        }

        @Test func `a Retry-After that is longer than the time limit is not waited for`() async throws {
            let place = try await place(mode: "late")
            try configure(place, status: ", time_limit: 2")
            try await place.expectSuccess("sync")
            #expect(try asked(place) == ["/exports +", "/exports/job%201 +", "/files/1.csv", "/files/2.csv.gz"])
        }

        @Test func `only changes are exported from the second sync on`() async throws {
            let place = try await place()
            try configure(
                place, create: #"body: {what: orders, since: "{since}"}"#, more: "incremental: {field: id}")
            try await place.expectSuccess("sync")
            try set(place, "")
            try await place.expectSuccess("sync")
            #expect(try asked(place).first == "/exports 3 +")
            #expect(try await orders(place) == Self.all)
        }

        @Test(arguments: [
            (
                "create: {path: /x}, status: {path: /y, state: $.s, done: [d]}, files: {}",
                "export.files needs either urls or path"
            ),
            (
                "create: {path: /x}, status: {path: /y, state: $.s, done: [d], interval: 0}, files: {path: /f}",
                "export.status.interval"
            ),
            (
                "create: {path: /x}, status: {path: /y, state: $.s, done: [d], time_limit: 1}, files: {path: /f}",
                "export.status.time_limit is 1"
            ),
            (
                "create: {path: /x}, status: {path: /y, state: $.s, done: [d], failed: [d]}, files: {path: /f}",
                "export.status has \"d\" under done and under failed"
            ),
            (
                "create: {path: /x}, status: {state: $.s, done: [d]}, files: {path: /f}",
                "export needs either status.path or create.status_url"
            ),
            (
                "create: {path: /x}, status: {path: /y, state: $.s, done: [d]}, files: {path: /f, credentials_for: [example.org]}",
                "export.files.credentials_for: \"example.org\" is not an origin"
            ),
        ])
        func `a section that cannot work is a fault of the check`(_ export: String, _ message: String) async throws {
            let folder = try TemporaryFolder()
            let place = try RemoteWorkspace(of: (), in: folder)
            for (more, expected) in [("", message), ("path: /x, ", "path cannot be combined with export")] {
                let valid = "create: {path: /x}, status: {path: /y, state: $.s, done: [d]}, files: {path: /f}"
                try folder.write(
                    """
                    version: 1
                    bridges: {shop: {plugin: rest, options: {url: "http://127.0.0.1:9"}}}
                    entities:
                      Order:
                        bridge: shop
                        key: id
                        attributes: {id: integer}
                        rest: {\(more)format: csv, export: {\(more.isEmpty ? export : valid)}}

                    """, to: "bmo.yml")
                let check = try await place.bmo("check")
                #expect(check.exitCode == 2, "\(check)")
                check.expectMessages(expected)
            }
        }

        @Test func `the plan shows the request that creates the job`() async throws {
            let place = try await place()
            let plan = try await place.expectSuccess("plan", "Order")
            #expect(plan.output.contains("POST \(place.url)/exports"), "\(plan)")
            #expect(try asked(place).isEmpty)
        }
    }
}
