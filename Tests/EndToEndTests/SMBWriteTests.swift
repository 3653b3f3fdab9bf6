import Foundation
import ImportTestSupport
import TestSupport
import Testing

extension EndToEndTests {
    /// Edits that go to a share of Samba, and what smbclient then sees there.
    @Suite struct SMBWriteTests {
        @Test func `files and rows are written, read back by smbclient, and fought over`() async throws {
            let servers = try await DemoServers()
            let folder = try TemporaryFolder()
            try folder.write(
                """
                version: 1
                bridges:
                  files: {plugin: smb, options: {url: "\(servers.smbURL)", user: \(servers.smbUser), password: {env: SMB_PASSWORD}}}
                entities:
                  File:
                    bridge: files
                    key: path
                    writable: true
                    attributes:
                      path: {type: text, write: create_only}
                      size: {type: integer, write: false}
                      modified: {type: timestamp, write: false}
                      content: text
                    smb: {files: "notes/*.txt", content: text}
                  Price:
                    bridge: files
                    key: code
                    writable: true
                    attributes: {code: text, price: {type: decimal, write: {as: text}}}
                    smb: {csv: tables/prices.csv, write: rewrite}
                """, to: "bmo.yml")
            func bmo(_ arguments: String...) async throws -> ProcessRun {
                try await RunningProcess(
                    BuiltCommand.path(), arguments, environment: ["SMB_PASSWORD": servers.smbPassword],
                    directory: folder.path
                ).finish(within: .seconds(60))
            }
            // smb://127.0.0.1:PORT/documents as smbclient wants it.
            let port = servers.smbURL.split(separator: ":").last?.prefix { $0.isNumber } ?? ""
            func smbclient(_ command: String) async throws -> String {
                try await ProcessRun.run(
                    "smbclient",
                    [
                        "//127.0.0.1/documents", "-p", String(port), "-U", "\(servers.smbUser)%\(servers.smbPassword)",
                        "-c", command,
                    ]
                ).allOutput
            }
            func rows(_ sql: String) throws -> [[String]] {
                try SQLiteFile(folder.appending("bmo.sqlite")).plainRows(sql)
            }

            let created = try await bmo(
                "create", "File", "--set", "path=notes/a.txt", "--set", "content=hello", "--push")
            #expect(created.exitCode == 0, "\(created)")
            #expect(try await smbclient("get notes/a.txt -").contains("hello"))
            #expect(try rows("SELECT path, size, content FROM File") == [["notes/a.txt", "5", "hello"]])
            let updated = try await bmo("update", "File", "notes/a.txt", "--set", "content=hello again", "--push")
            #expect(updated.exitCode == 0, "\(updated)")
            #expect(try await smbclient("get notes/a.txt -").contains("hello again"))

            let file = try folder.write("theirs, and longer", to: "theirs.txt")
            _ = try await smbclient("put \(file) notes/a.txt")
            let fought = try await bmo("update", "File", "notes/a.txt", "--set", "content=ours", "--push")
            #expect(fought.exitCode == 1 && fought.output.contains("conflict"), "\(fought)")
            #expect(try await smbclient("get notes/a.txt -").contains("theirs, and longer"))
            #expect(try await bmo("resolve", "File", "notes/a.txt", "--take", "local").exitCode == 0)
            let sent = try await bmo("push")
            #expect(sent.exitCode == 0, "\(sent)")
            #expect(try await smbclient("get notes/a.txt -").contains("ours"))
            let deleted = try await bmo("delete", "File", "notes/a.txt", "--push")
            #expect(deleted.exitCode == 0, "\(deleted)")
            #expect(!(try await smbclient("ls notes/*").contains("a.txt")))

            for (code, price) in [("A", "1.50"), ("B", "2")] {
                let row = try await bmo("create", "Price", "--set", "code=\(code)", "--set", "price=\(price)", "--push")
                #expect(row.exitCode == 0, "\(row)")
            }
            #expect(try await bmo("update", "Price", "A", "--set", "price=1.75", "--push").exitCode == 0)
            #expect(try await bmo("delete", "Price", "B", "--push").exitCode == 0)
            let table = try await smbclient("get tables/prices.csv -")
            #expect(table.contains("code,price\nA,1.75\n") && !table.contains("B,2"), "\(table)")
            #expect(try await bmo("sync", "-q").exitCode == 0)
            #expect(try rows("SELECT code, price FROM Price") == [["A", "1.75"]])
        }

        @Test func `a file that an edit moves is known under its new path, and edits that cannot be sent say so`()
            async throws
        {
            let place = try await RemoteWorkspace.share()
            try place.configure(
                """
                  File:
                    bridge: files
                    key: path
                    writable: true
                    attributes: {path: text, name: text, hidden: boolean, size: integer, content: text}
                    smb: {files: "*.txt", content: text}
                """)
            try place.server.write("a.txt", "a")
            try place.server.write("c.txt", "c")
            #expect(try await place.bmo("sync").exitCode == 0)
            let moved = try await place.bmo("update", "File", "a.txt", "--set", "name=b.txt", "--push")
            #expect(moved.exitCode == 0, "\(moved)")
            #expect(try await place.query("SELECT min(path) || ' ' || max(path) FROM File") == "b.txt c.txt")
            let deleted = try await place.bmo("delete", "File", "b.txt", "--push")
            #expect(deleted.exitCode == 0, "\(deleted)")
            #expect(try FileManager.default.contentsOfDirectory(atPath: place.server.share) == ["c.txt"])

            let hidden = try await place.bmo(
                "update", "File", "c.txt", "--set", "content=new", "--set", "hidden=true", "--push")
            #expect(hidden.exitCode == 1, "\(hidden)")
            #expect(hidden.allOutput.contains("bmo cannot set hidden of a file"), "\(hidden)")
            #expect(try String(contentsOfFile: place.server.share + "/c.txt", encoding: .utf8) == "c")
        }
    }
}
