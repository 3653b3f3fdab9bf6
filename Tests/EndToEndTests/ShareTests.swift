import Foundation
import TestSupport
import Testing

extension EndToEndTests {
    /// A share of files through the built command: what a second sync reads, what it deletes, and what bad days do.
    @Suite struct ShareTests {
        private static let rows = """
              Row:
                bridge: files
                key: [file, id]
                attributes: {id: integer, name: text, file: {type: text, from: "@path"}}
                incremental: token
                smb: {csv: "tables/**/*.csv"}
            """

        @Test func `a second sync reads only files that moved, and drops the rows of those that went`() async throws {
            let place = try await RemoteWorkspace.share()
            try place.configure(Self.rows)
            for name in ["a", "b", "deep/c", "deep/d"] {
                try place.server.write("tables/\(name).csv", "id,name\n1,\(name) one\n2,\(name) two\n")
            }
            let first = try await place.bmo("sync")
            #expect(first.exitCode == 0, "\(first)")
            #expect(try await place.query("SELECT count(*) FROM Row") == "8")
            #expect(
                try place.server.filesRead() == [
                    "tables/a.csv", "tables/b.csv", "tables/deep/c.csv", "tables/deep/d.csv",
                ])

            let second = try await place.bmo("sync")
            #expect(second.exitCode == 0, "\(second)")
            #expect(try place.server.filesRead() == [], "nothing moved")

            try place.server.write("tables/b.csv", "id,name\n1,other\n3,new\n", age: 1800)
            let third = try await place.bmo("sync")
            #expect(third.exitCode == 0, "\(third)")
            #expect(try place.server.filesRead() == ["tables/b.csv"])
            #expect(
                try await place.query("SELECT group_concat(id || name) FROM Row WHERE file = 'tables/b.csv'")
                    == "1other,3new")

            try FileManager.default.removeItem(atPath: place.server.share + "/tables/deep/d.csv")
            let fourth = try await place.bmo("sync", "--allow-deletes")
            #expect(fourth.exitCode == 0, "\(fourth)")
            #expect(try place.server.filesRead() == [])
            #expect(
                try await place.query("SELECT group_concat(DISTINCT file) FROM Row")
                    == "tables/a.csv,tables/b.csv,tables/deep/c.csv")
        }

        @Test func `a row that two files have stays when one of them goes`() async throws {
            let place = try await RemoteWorkspace.share()
            try place.configure(Self.rows.replacing("key: [file, id]", with: "key: id"))
            try place.server.write("tables/a.csv", "id,name\n1,one\n3,three\n")
            #expect(try await place.bmo("sync").exitCode == 0)
            try place.server.write("tables/b.csv", "id,name\n3,three\n")
            #expect(try await place.bmo("sync").exitCode == 0)
            #expect(try await place.query("SELECT file FROM Row WHERE id = 3") == "tables/b.csv")
            _ = try place.server.filesRead()
            try FileManager.default.removeItem(atPath: place.server.share + "/tables/b.csv")
            let third = try await place.bmo("sync", "--allow-deletes")
            #expect(third.exitCode == 0, "\(third)")
            #expect(try place.server.filesRead() == ["tables/a.csv"])
            #expect(
                try await place.query("SELECT group_concat(id || file) FROM Row") == "1tables/a.csv,3tables/a.csv")
            #expect(try await place.bmo("sync").exitCode == 0)
            #expect(try place.server.filesRead() == [], "the token of the second reading counts")
        }

        @Test func `a bad row stays in quarantine while its file rests, and goes when the file is mended or gone`()
            async throws
        {
            let place = try await RemoteWorkspace.share()
            try place.configure(Self.rows)
            for name in ["a", "b", "c"] {
                try place.server.write("tables/\(name).csv", "id,name\n1,x\nbad\u{20}\(name),y\n")
            }
            let bad = """
                SELECT group_concat(name || '=' || id, ' ') FROM (SELECT
                    json_extract(representation, '$."@path"') AS name, json_extract(representation, '$.id') AS id
                    FROM bmo_quarantine ORDER BY name, id)
                """
            let first = try await place.bmo("sync")
            #expect(first.allOutput.contains("3 quarantined"), "\(first)")
            #expect(
                try await place.query(bad) == "tables/a.csv=bad a tables/b.csv=bad b tables/c.csv=bad c")
            // Only b is read again, and still bad in another row.
            try place.server.write("tables/b.csv", "id,name\n1,x\nworse,z\n", age: 1800)
            _ = try await place.bmo("sync")
            #expect(
                try await place.query(bad) == "tables/a.csv=bad a tables/b.csv=worse tables/c.csv=bad c")
            try place.server.write("tables/a.csv", "id,name\n1,x\n2,y\n", age: 1800)
            try FileManager.default.removeItem(atPath: place.server.share + "/tables/c.csv")
            let last = try await place.bmo("sync", "--allow-deletes")
            #expect(last.exitCode == 0, "\(last)")
            #expect(try await place.query(bad) == "tables/b.csv=worse")
        }

        @Test func `a folder that may not be listed keeps its rows, and what else went is deleted`() async throws {
            let place = try await RemoteWorkspace.share()
            try place.configure(Self.rows)
            for name in ["open/a", "open/b", "open/c", "shut/d"] {
                try place.server.write("tables/\(name).csv", "id,name\n1,x\n")
            }
            let first = try await place.bmo("sync")
            #expect(first.exitCode == 0, "\(first)")
            let shut = place.server.share + "/tables/shut"
            try FileManager.default.setAttributes([.posixPermissions: 0], ofItemAtPath: shut)
            defer { try? FileManager.default.setAttributes([.posixPermissions: 0o777], ofItemAtPath: shut) }
            try FileManager.default.removeItem(atPath: place.server.share + "/tables/open/a.csv")
            let second = try await place.bmo("sync", "--allow-deletes")
            #expect(second.exitCode == 0, "\(second)")
            #expect(
                second.allOutput.contains(
                    "the folder tables/shut may not be listed by this user: its contents are unknown"),
                "\(second)")
            #expect(
                try await place.query("SELECT group_concat(file) FROM (SELECT file FROM Row ORDER BY 1)")
                    == "tables/open/b.csv,tables/open/c.csv,tables/shut/d.csv")
        }

        @Test func `a share that goes away between two syncs leaves the rows, and says so in time`() async throws {
            let place = try await RemoteWorkspace.share()
            try place.configure(Self.rows)
            try place.server.write("tables/a.csv", "id,name\n1,x\n")
            #expect(try await place.bmo("sync").exitCode == 0)
            let refused = try await place.bmo("sync", environment: ["SHARE_PASSWORD": "wrong-secret"])
            #expect(refused.exitCode == 1, "\(refused)")
            #expect(refused.allOutput.contains("authentication"), "\(refused)")
            #expect(!refused.allOutput.contains("wrong-secret"))
            try FileManager.default.moveItem(atPath: place.server.share, toPath: place.server.share + "-gone")
            let gone = try await place.bmo("sync")
            try FileManager.default.moveItem(atPath: place.server.share + "-gone", toPath: place.server.share)
            #expect(gone.exitCode == 1, "\(gone)")
            place.server.kill()
            let dead = try await place.bmo("sync")
            #expect(dead.exitCode == 1, "\(dead)")
            #expect(dead.allOutput.contains("unreachable"), "\(dead)")
            #expect(dead.duration < .seconds(40))
            for run in [refused, gone, dead] {
                for leak in ["NT_STATUS", "smb.conf", "do_connect", "lp_load"] {
                    #expect(!run.allOutput.contains(leak), "the library's words: \(run)")
                }
            }
            #expect(try await place.query("SELECT count(*) FROM Row") == "1")
        }

        @Test func `a server that is killed while it is read leaves whole pages, and the next sync goes on`()
            async throws
        {
            let place = try await RemoteWorkspace.share()
            try place.configure(Self.rows)
            for number in 1...30 {
                let lines = (1...4000).map { "\($0),\(String(repeating: "x", count: 200))\n" }.joined()
                try place.server.write("tables/\(100 + number).csv", "id,name\n" + lines)
            }
            let sync = try place.start(["sync"])
            try await eventually("a file is there") {
                // The table is not there at first.
                let run = try await ProcessRun.run(
                    "sqlite3", ["-readonly", place.database, "SELECT count(DISTINCT file) FROM Row"])
                return Int(run.output.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0 >= 2
            }
            place.server.freeze()
            let frozen = try await sync.finish(within: .seconds(120))
            #expect(frozen.exitCode == 1, "\(frozen)")
            #expect(frozen.allOutput.contains("timeout"), "\(frozen)")
            let count = Int(try await place.query("SELECT count(*) FROM Row")) ?? 0
            #expect(count >= 4000 && count < 120_000)
            #expect(
                try await place.query("SELECT count(*) FROM Row WHERE name IS NULL OR length(name) <> 200") == "0",
                "no half rows")
            place.server.thaw()
            let second = try await place.bmo("sync")
            #expect(second.exitCode == 0, "\(second)")
            #expect(try await place.query("SELECT count(*) FROM Row") == "120000")
        }

        @Test func `what introspect proposes for a share passes check, syncs, and syncs unchanged`() async throws {
            let place = try await RemoteWorkspace.share()
            try place.server.write("people/list.csv", "id;name;born\n1;Ann;1980-02-03\n2;Bob;1990-12-31\n3;Cy;\n")
            for month in ["01", "02"] {
                try place.server.write("sales/2024-\(month).csv", "day,amount\n2024-\(month)-01,10\n")
            }
            try place.server.write(
                "odd names/100%  #1 'x'.ndjson", "{\"event_id\":\"a\",\"n\":1}\n{\"event_id\":\"b\",\"n\":2}\n")
            let introspect = try await ProcessRun.run(
                BuiltCommand.path(),
                ["introspect", "smb", place.server.url, "--auth", "SHARE_USER:SHARE_PASSWORD", "-o", "bmo.yml"],
                environment: ["SHARE_USER": place.server.user, "SHARE_PASSWORD": SambaServer.password],
                directory: place.folder.path)
            #expect(introspect.exitCode == 0, "\(introspect)")
            let path = place.folder.appending("bmo.yml")
            let text = try String(contentsOfFile: path, encoding: .utf8)
            for line in [
                "parent: {to: Folder, from: folder}  # high: the folder that holds it",
                "file: {to: File, from: '@path'}  # high: where the row was read",
                "# incremental: token  # high: a sync then reads only files that changed",
                "born: {type: date, transform: empty_as_null}  # medium: in 2 of 3 rows", "csv: 'sales/*.csv'",
            ] { #expect(text.contains(line), "no \(line) in\n\(text)") }
            #expect(!text.contains(SambaServer.password))
            // As a person does who follows the advice.
            try text.replacing("# incremental: token", with: "incremental: token")
                .write(toFile: path, atomically: true, encoding: .utf8)
            func bmo(_ arguments: String...) async throws -> ProcessRun {
                try await ProcessRun.run(
                    BuiltCommand.path(), arguments,
                    environment: ["SHARE_USER": place.server.user, "SHARE_PASSWORD": SambaServer.password],
                    directory: place.folder.path)
            }
            let check = try await bmo("check")
            #expect(check.exitCode == 0, "\(check)\n\(text)")
            let first = try await bmo("sync")
            #expect(first.exitCode == 0, "\(first)\n\(text)")
            let database = try #require(
                try FileManager.default.contentsOfDirectory(atPath: place.folder.path).first {
                    $0.hasSuffix(".sqlite")
                })
            let file = place.folder.appending(database)
            #expect(
                try await place.query(
                    "SELECT f.path, p.path FROM File f JOIN Folder p ON f.parent = p.path WHERE f.name LIKE '100%'",
                    in: file) == "odd names/100%  #1 'x'.ndjson|odd names")
            #expect(
                try await place.query("SELECT count(*) FROM Sale s JOIN File f ON s.file = f.path", in: file) == "2")
            #expect(try await place.query("SELECT count(*) FROM Folder", in: file) == "4", "the root is one, too")
            #expect(try await place.query("SELECT count(*) FROM bmo_stubs", in: file) == "0")
            _ = try place.server.filesRead()
            let second = try await bmo("sync")
            #expect(second.exitCode == 0, "\(second)")
            #expect(try place.server.filesRead() == [])
            for run in [first, second] { #expect(!run.errorOutput.contains("warning"), "\(run)") }
        }
    }
}
