import BridgeKit
import CSMBClient
import Glibc
import RecordBatch
import Testing
import TestLiterals

@testable import SMBBridge

extension AgainstRealServer {
    @Suite struct WriteTests {
        let server: SMBServer
        let bridge: SMBBridge

        init() throws {
            server = try SMBServer.shared.get()
            bridge = try SMBBridge(server, share: "rw")
        }

        /// Writes, and gives the answer as member name to JSON text.
        @discardableResult
        private func write(
            _ operation: WriteRequest.Operation, _ section: Literal, key: Literal = [:],
            values: Literal = [:], object: Literal = [:], members: [String] = [], bridge: SMBBridge? = nil
        ) throws -> [String: String] {
            let writer = RecordBatchWriter()
            var request = WriteRequest(
                operation, entity: "Document", section: BridgeOptions(section), key: BridgeOptions(key),
                values: BridgeOptions(values), object: BridgeOptions(object))
            request.members = members
            try (bridge ?? self.bridge).write(request, into: writer)
            let batch = try writer.finish()
            guard batch.count == 1 else { return [:] }
            return Dictionary(batch[0].members.map { ($0.key, $0.value.json) }, uniquingKeysWith: { $1 })
        }

        private func content(_ path: String) -> String? {
            (try? SMBServer.read(server.writable + "/" + path)).map { String(decoding: $0, as: UTF8.self) }
        }

        private func names(_ folder: String) -> [String] { SMBServer.names(in: server.writable + "/" + folder) }

        private let files: Literal = ["files": "**", "content": "text"]

        @Test func `a file is created with its folders, changed, moved and deleted`() throws {
            let made = try write(.create, files, values: ["path": "w1/new/a b#%.txt", "content": "grün"])
            #expect(content("w1/new/a b#%.txt") == "grün")
            #expect(made["path"] == #""w1/new/a b#%.txt""#)
            #expect(made["size"] == "5")
            #expect(names("w1/new") == ["a b#%.txt"], "no temporary file is left")
            let changed = try write(
                .update, files, key: ["path": "w1/new/a b#%.txt"], values: ["content": "x"],
                object: ["size": 5, "modified": .text(made["modified"]?.filter { $0 != "\"" } ?? "")])
            #expect(content("w1/new/a b#%.txt") == "x")
            #expect(changed["size"] == "1")
            let moved = try write(.update, files, key: ["path": "w1/new/a b#%.txt"], values: ["path": "w1/other/B.txt"])
            #expect(moved["folder"] == #""w1/other""#)
            #expect(names("w1/new") == [])
            #expect(content("w1/other/B.txt") == "x")
            try write(.update, files, key: ["path": "w1/other/B.txt"], values: ["name": "b.txt"])
            #expect(names("w1/other") == ["b.txt"])
            try write(.delete, files, key: ["path": "w1/other/b.txt"], object: ["size": 1])
            #expect(names("w1/other") == [])
            try write(.delete, files, key: ["path": "w1/other/b.txt"])
        }

        @Test func `a text keeps the byte order mark of UTF-8, and one of UTF-16 is not made UTF-8`() throws {
            try write(.create, files, values: ["path": "w10/wide.txt", "content": "x"])
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            let wide: [UInt8] = [0xFF, 0xFE, 0x61, 0]
            try SMBServer.write(mark + Array("old".utf8), to: server.writable + "/w10/marked.txt")
            try SMBServer.write(wide, to: server.writable + "/w10/wide.txt")
            try write(.update, files, key: ["path": "w10/marked.txt"], values: ["content": "new"])
            #expect(try SMBServer.read(server.writable + "/w10/marked.txt") == mark + Array("new".utf8))
            let error = try bridgeError {
                try write(.update, files, key: ["path": "w10/wide.txt"], values: ["content": "new"])
            }
            #expect(
                error.message == "w10/wide.txt is UTF-16LE, as its byte order mark says, and would become UTF-8")
            #expect(try SMBServer.read(server.writable + "/w10/wide.txt") == wide)
            let lost = try bridgeError {
                try write(.create, files, values: ["path": "w10/new.txt", "content": "\u{FEFF}x"])
            }
            #expect(lost.code == .configuration)
            #expect(names("w10") == ["marked.txt", "wide.txt"])
        }

        @Test func `a time before 1970 keeps its fraction, and one of no calendar is none`() throws {
            let times = [
                ("1969-12-31T23:59:58.250000Z", -2, 250_000_000), ("1969-12-31T23:59:59Z", -1, 0),
                ("1966-01-02T03:04:05.999999Z", -126_132_955, 999_999_000),
                ("2001-09-09T01:46:40.5Z", 1_000_000_000, 500_000_000),
            ]
            for (index, (text, seconds, nanoseconds)) in times.enumerated() {
                try write(
                    .create, files,
                    values: ["path": .text("w9/\(index).txt"), "content": "x", "modified": .text(text)])
                var status = stat()
                #expect(stat(server.writable + "/w9/\(index).txt", &status) == 0)
                #expect(status.st_mtim.tv_sec == seconds && status.st_mtim.tv_nsec == nanoseconds, "\(text)")
            }
            for (index, text) in ["99999999999999999-01-01T00:00:00Z", "2026-01-01T9223372036854775807:00:00Z"]
                .enumerated()
            {
                try write(
                    .create, files,
                    values: ["path": .text("w9/odd\(index).txt"), "content": "x", "modified": .text(text)])
                #expect(content("w9/odd\(index).txt") == "x")
            }
        }

        @Test func `folders are made and deleted, but not while they hold something`() throws {
            try write(.create, ["folders": "**"], values: ["path": "w2/a/b"])
            #expect(names("w2/a") == ["b"])
            let error = try bridgeError { try write(.delete, ["folders": "**"], key: ["path": "w2/a"]) }
            // The host would look for another version of an object in conflict.
            #expect(error.code == .remote)
            #expect(error.message == "cannot delete w2/a: the folder is not empty")
            #expect(names("w2/a") == ["b"])
            try write(.delete, ["folders": "**"], key: ["path": "w2/a/b"])
            #expect(names("w2/a") == [])
        }

        @Test func `a file that moved since it was read is a conflict, and stays`() throws {
            let made = try write(.create, files, values: ["path": "w3/a.txt", "content": "one"])
            let modified = made["modified"]?.filter { $0 != "\"" } ?? ""
            let path = server.writable + "/w3/a.txt"
            try SMBServer.write("two!", to: path)
            let size = try bridgeError {
                try write(.update, files, key: ["path": "w3/a.txt"], values: ["content": "x"], object: ["size": 3])
            }
            #expect(size.code == .conflict)
            #expect(size.message == "cannot write w3/a.txt: it has 4 bytes, and had 3 when it was read")
            let time = try bridgeError {
                try write(
                    .delete, files, key: ["path": "w3/a.txt"], object: ["size": 4, "modified": .text(modified)])
            }
            #expect(time.code == .conflict)
            let exists = try bridgeError {
                try write(.create, files, values: ["path": "w3/A.TXT", "content": "x"])
            }
            #expect(exists.code == .conflict, "names differ in case only: \(exists)")
            #expect(content("w3/a.txt") == "two!")
            #expect(names("w3") == ["a.txt"])
        }

        @Test(arguments: [
            ("../out.txt", "leads out of its folder: .."), ("a/../../out.txt", "leads out of its folder: .."),
            ("/out.txt", "is absolute"), ("\\\\server\\share", "is absolute"), ("a//b", "has an empty name or ."),
            ("./a", "has an empty name or ."), ("", "is empty"),
            ("a/b:c", "has the name \"b:c\", which has a character that SMB names cannot have"),
            ("a\\..\\b", "has the name \"a\\..\\b\", which has a character that SMB names cannot have"),
            ("a.", "has the name \"a.\", which ends with a dot or a space"),
            (".bmo-tmp-1", "has a name that bmo gives to unfinished files"),
        ])
        func `a path out of the folder, or one that means another file, is refused`(path: String, why: String) throws {
            for operation in [WriteRequest.Operation.create, .update, .delete] {
                let error = try bridgeError {
                    try write(
                        operation, files, key: ["path": .text(path)], values: ["path": .text(path), "content": "x"],
                        bridge: SMBBridge(server, share: "rw", folder: "/inner"))
                }
                #expect(error.code == .configuration)
                #expect(error.message == "the path \"\(path)\" \(why)")
            }
        }

        @Test func `a path through a link is refused`() throws {
            var link = RecordedShare.Entry(name: "Link", size: 0, isFolder: true)
            link.attributes = 0x410
            let share = try RecordedShare(
                RecordedShare.Recording(folders: ["": RecordedShare.Folder(entries: [link])]))
            let error = try bridgeError { try SharePath("link/x.txt").checkLinks(on: share) }
            #expect(error.code == .permission)
            #expect(error.message == "the path \"link/x.txt\" goes through Link, which is a link")
            try SharePath("other/x.txt").checkLinks(on: share)
        }

        @Test func `a share that may not be written to says so`() throws {
            let error = try bridgeError {
                try write(
                    .create, files, values: ["path": "readonly.txt", "content": "x"], bridge: SMBBridge(server))
            }
            #expect(error.code == .permission, "\(error)")
            #expect(error.message.hasPrefix("cannot make a file in the share: "), "\(error)")
        }

        @Test(arguments: ["rows", "content"])
        func `a file that may not be written is not replaced`(_ kind: String) throws {
            let path = "w12-\(kind)/a.csv"
            try write(.create, files, values: ["path": .text(path), "content": "id,n\n1,a\n"])
            chmod(server.writable + "/" + path, 0o444)
            let error = try bridgeError {
                if kind == "rows" {
                    let section: Literal = ["csv": .text(path), "write": "rewrite"]
                    try write(.update, section, key: ["id": 1], values: ["n": "b"])
                } else {
                    try write(.update, files, key: ["path": .text(path)], values: ["content": "b"])
                }
            }
            #expect(error.code == .permission)
            #expect(error.message.hasPrefix("cannot write \(path): "), "\(error)")
            #expect(content(path) == "id,n\n1,a\n" && names("w12-\(kind)") == ["a.csv"])
        }

        @Test func `a file stays hidden when it is written`() throws {
            try write(.create, files, values: ["path": "w13/a.txt", "content": "a"])
            let entry = SMBEntry(
                name: "a.txt", size: 0, attributes: UInt16(SMBC_DOS_MODE_HIDDEN | SMBC_DOS_MODE_SYSTEM), inode: 0)
            try bridge.connection.setAttributes(["w13", "a.txt"], of: entry)
            func attributes() throws -> [String] {
                let scan = try bridge.scan(["files": "w13/*"])
                return scan.values("hidden") + scan.values("system")
            }
            let before = try attributes()
            try write(.update, files, key: ["path": "w13/a.txt"], values: ["content": "b"])
            #expect(content("w13/a.txt") == "b")
            #expect(before == ["true", "true"])
            #expect(try attributes() == before)
        }

        @Test func `a byte order mark of the section's encoding stays`() throws {
            let mark: [UInt8] = [0xEF, 0xBB, 0xBF]
            try SMBServer.run("mkdir -p \"$1/w14\"; chmod 777 \"$1/w14\"", server.writable)
            func bytes(_ name: String) throws -> [UInt8] { try SMBServer.read(server.writable + "/w14/" + name) }
            try SMBServer.write(mark + Array("id,n\n1,a\n".utf8), to: server.writable + "/w14/rows.csv")
            let rows: Literal = ["csv": "w14/rows.csv", "encoding": "utf-8", "write": "rewrite"]
            try write(.update, rows, key: ["id": 1], values: ["n": "b"])
            #expect(try bytes("rows.csv") == mark + Array("id,n\n1,b\n".utf8))
            try SMBServer.write(mark, to: server.writable + "/w14/empty.csv")
            try write(.create, ["csv": "w14/empty.csv", "write": "append"], values: ["id": 1])
            #expect(try bytes("empty.csv") == mark + Array("id\n1\n".utf8))
            try SMBServer.write(mark + Array("old".utf8), to: server.writable + "/w14/a.txt")
            let text: Literal = ["files": "w14/*.txt", "content": "text", "encoding": "utf-8"]
            try write(.update, text, key: ["path": "w14/a.txt"], values: ["content": "new"])
            #expect(try bytes("a.txt") == mark + Array("new".utf8))
            try SMBServer.write([0xFF, 0xFE, 0x61, 0], to: server.writable + "/w14/wide.txt")
            let wide: Literal = ["files": "w14/*.txt", "content": "text", "encoding": "utf-16le"]
            try write(.update, wide, key: ["path": "w14/wide.txt"], values: ["content": "b"])
            #expect(try bytes("wide.txt") == [0xFF, 0xFE, 0x62, 0])
        }

        @Test func `rows are appended to CSV, in the columns of its header, and to newline-delimited JSON`() throws {
            try SMBServer.run("mkdir -p \"$1/w4\"; chmod 777 \"$1/w4\"", server.writable)
            try SMBServer.write("id;note;x\r\n1;a;\r\n2;b;", to: server.writable + "/w4/a.csv")
            chmod(server.writable + "/w4/a.csv", 0o666)
            let csv: Literal = ["csv": "w4/a.csv", "delimiter": ";", "write": "append"]
            try write(.create, csv, values: ["note": "c;\"d\"\n", "id": 3])
            #expect(content("w4/a.csv") == "id;note;x\r\n1;a;\r\n2;b;\r\n3;\"c;\"\"d\"\"\n\";\r\n")
            #expect(try bridge.scan(csv).values("note") == [#""a""#, #""b""#, #""c;\"d\"\n""#])
            let unknown = try bridgeError { try write(.create, csv, values: ["nope": "1"]) }
            #expect(unknown.message == "the file has no column nope")
            let update = try bridgeError { try write(.update, csv, key: ["id": "1"], values: ["note": "z"]) }
            #expect(update.code == .unsupported)

            let lines: Literal = ["ndjson": "w4/deep/b.ndjson", "write": "append"]
            try write(.create, lines, values: ["id": 1])
            try write(.create, lines, values: ["id": 2, "@path": "w4/deep/b.ndjson"])
            #expect(content("w4/deep/b.ndjson") == "{\"id\":1}\n{\"id\":2}\n")
            let none = try bridgeError { try write(.create, ["ndjson": "w4/deep/b.ndjson"], values: ["id": 3]) }
            #expect(none.message == "the entity Document does not say that its files may be changed")
            try write(.create, ["csv": "w4/new.csv", "write": "append"], values: ["id": 7])
            #expect(content("w4/new.csv") == "id\n7\n")

            let log: Literal = ["csv": "w4/logs/{area}.csv", "write": "append"]
            let members = ["id", "note", "area", "@path"]
            try write(.create, log, values: ["id": 1, "@path": "w4/logs/north.csv"], members: members)
            try write(
                .create, log, values: ["id": 2, "note": "b", "@path": "w4/logs/north.csv"], members: members)
            #expect(content("w4/logs/north.csv") == "id,note\n1,\n2,b\n", "the header has all members")
        }

        @Test func `rows are changed and deleted in place, and the others stay byte for byte`() throws {
            try SMBServer.run("mkdir -p \"$1/w5\"; chmod 777 \"$1/w5\"", server.writable)
            let before = "# list\nCode,\"Name\",n\nA,\"one, \"\"1\"\"\",1\n\"B\",two,2\nC,\"th\nree\",3"
            try SMBServer.write(before, to: server.writable + "/w5/a.csv")
            let section = BridgeOptions { writer in
                writer.member("csv", "w5/a.csv")
                writer.member("comment", "#")
                writer.member("write", "rewrite")
                writer.key("columns")
                writer.object { writer.member("code", "Code") }
            }
            func run(_ operation: WriteRequest.Operation, _ code: String, _ values: Literal = [:]) throws {
                try bridge.write(
                    WriteRequest(
                        operation, entity: "Row", section: section, key: BridgeOptions(["code": .text(code)]),
                        values: BridgeOptions(values)), into: RecordBatchWriter())
            }
            try run(.update, "B", ["Name": "a,b"])
            #expect(content("w5/a.csv") == before.replacing("\"B\",two,2", with: "B,\"a,b\",2"))
            try run(.update, "C", ["n": 4])
            try run(.delete, "A")
            #expect(content("w5/a.csv") == "# list\nCode,\"Name\",n\nB,\"a,b\",2\nC,\"th\nree\",4")
            #expect(try bridgeError { try run(.update, "Q", ["n": 1]) }.code == .notFound)
            try run(.delete, "Q")
            #expect(names("w5") == ["a.csv"])

            try SMBServer.write(
                "{\"id\":1,\"big\":12345678901234567890}\n\n{\"id\":2}\n", to: server.writable + "/w5/b.nd")
            let lines: Literal = ["ndjson": "w5/b.nd", "write": "rewrite"]
            try write(.update, lines, key: ["id": 1], values: ["name": "x"])
            #expect(content("w5/b.nd") == "{\"id\":1,\"big\":12345678901234567890,\"name\":\"x\"}\n\n{\"id\":2}\n")
            try write(.delete, lines, key: ["id": 2])
            #expect(content("w5/b.nd") == "{\"id\":1,\"big\":12345678901234567890,\"name\":\"x\"}\n\n")
        }

        @Test func `a number in the key is found as the file writes it, and a text only as it is`() throws {
            try SMBServer.run("mkdir -p \"$1/w7\"; chmod 777 \"$1/w7\"", server.writable)
            let section: Literal = ["csv": "w7/a.csv", "write": "rewrite"]
            let before = "id,n\n007,a\n1.50,b\n8,c\n08,d\n"
            try SMBServer.write(before, to: server.writable + "/w7/a.csv")
            try write(.update, section, key: ["id": 7], values: ["n": "x"])
            try write(.delete, section, key: ["id": .decimal("1.5")])
            try write(.update, section, key: ["id": 8], values: ["n": "y"])
            #expect(content("w7/a.csv") == "id,n\n007,x\n8,y\n08,d\n")
            let text = try bridgeError { try write(.update, section, key: ["id": "7"], values: ["n": "z"]) }
            #expect(text.code == .notFound)
        }

        @Test func `a delete of a row that the file may write in another way is refused`() throws {
            try SMBServer.run("mkdir -p \"$1/w11\"; chmod 777 \"$1/w11\"", server.writable)
            let section: Literal = ["csv": "w11/a.csv", "write": "rewrite"]
            try SMBServer.write("id,n\nyes,a\nTRUE,b\n", to: server.writable + "/w11/a.csv")
            try write(.delete, section, key: ["id": true])
            #expect(content("w11/a.csv") == "id,n\nyes,a\n")
            let error = try bridgeError { try write(.delete, section, key: ["id": true]) }
            // The host takes "not found" for the end of a delete.
            #expect(error.code == .configuration)
            #expect(content("w11/a.csv") == "id,n\nyes,a\n")
        }

        @Test func `no row is written where the rows that the section leaves out are missing`() throws {
            try SMBServer.run("mkdir -p \"$1/w8\"; chmod 777 \"$1/w8\"", server.writable)
            try SMBServer.write("Report\n", to: server.writable + "/w8/a.csv")
            for name in ["a", "new"] {
                let section: Literal = ["csv": .text("w8/\(name).csv"), "write": "append", "skip_rows": 1]
                let error = try bridgeError { try write(.create, section, values: ["id": 1]) }
                #expect(error.message == "w8/\(name).csv does not have the rows that skip_rows leaves out")
            }
            #expect(content("w8/a.csv") == "Report\n")
            #expect(names("w8") == ["a.csv"])
        }

        @Test func `a file that another holds open alone is tried, then left out, and cannot be written`() throws {
            try write(.create, files, values: ["path": "w6/held.csv", "content": "id\n1\n"])
            try write(.create, files, values: ["path": "w6/free.csv", "content": "id\n2\n"])
            let other = try SMBBridge(server, share: "rw")
            try other.connection.holding(["w6", "held.csv"]) {
                let scan = try bridge.scan(["csv": "w6/*"])
                #expect(scan.values("id") == [#""2""#])
                #expect(
                    scan.rejected.map(\.reason) == [
                        "cannot read w6/held.csv: another program has locked it (3 attempts)"
                    ])
                #expect(scan.skipped == ["@path = w6/held.csv"])
                let error = try bridgeError {
                    try write(.delete, ["files": "**"], key: ["path": "w6/held.csv"])
                }
                #expect(error.isRetryable, "\(error)")
            }
            #expect(try bridge.scan(["csv": "w6/*"]).records.count == 2)
        }

        @Test(arguments: ["rows", "content"])
        func `a file that another lets others only read is locked, and no conflict`(_ kind: String) throws {
            let name = "w9-\(kind)"
            try write(.create, files, values: ["path": .text("\(name)/open.csv"), "content": "id,n\n1,a\n"])
            func edit() throws {
                if kind == "rows" {
                    let section: Literal = ["csv": .text("\(name)/open.csv"), "write": "rewrite"]
                    try write(.update, section, key: ["id": 1], values: ["n": "b"])
                } else {
                    let key: Literal = ["path": .text("\(name)/open.csv")]
                    try write(
                        .update, ["files": "**", "content": "text"], key: key, values: ["content": "id,n\n1,b\n"])
                }
            }
            let other = try SMBBridge(server, share: "rw")
            try other.connection.holding([name, "open.csv"], sharing: SMBC_SHAREMODE_DENY_WRITE) {
                let error = try bridgeError { try edit() }
                #expect(error.isRetryable && error.message.hasSuffix("another program has locked it"), "\(error)")
                #expect(content("\(name)/open.csv") == "id,n\n1,a\n" && names(name) == ["open.csv"])
            }
            try edit()
            #expect(content("\(name)/open.csv") == "id,n\n1,b\n")
        }
    }
}
