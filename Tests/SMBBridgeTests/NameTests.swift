import BridgeKit
import CSMBClient
import Glibc
import Testing
import TestLiterals

@testable import SMBBridge

extension AgainstRealServer {
    /// Names that some servers, clients or URLs have trouble with.
    @Suite struct NameTests {
        let server: SMBServer

        init() throws { server = try SMBServer.shared.get() }

        @Test func `names that Windows clients cannot have come mangled, and are read all the same`() throws {
            let names = ["a:b.txt", "dot.", "space ", "CON", "q?*.txt", "back\\slash.txt"]
            for (number, name) in names.enumerated() { try server.write("mangled/" + name, "\(number)") }
            let scan = try SMBBridge(server).scan(["files": "mangled/*", "content": "text"])
            #expect(scan.values("content").sorted() == names.indices.map { "\"\($0)\"" })
            #expect(scan.rejected.isEmpty)
            #expect(Set(scan.values("path")).count == names.count)
        }

        @Test func `a name in both normal forms is two files, and path_key shows that they are alike`() throws {
            try server.write("forms/caf\u{E9}.txt", "nfc")
            try server.write("forms/cafe\u{301}.txt", "nfd")
            try server.write("forms/B.txt", "")
            let scan = try SMBBridge(server).scan(["files": "forms/*", "content": "text"])
            #expect(Set(scan.values("content")) == [#""nfc""#, #""nfd""#, #""""#])
            let paths = scan.records.compactMap { $0["path"] }.map { Array($0.utf8) }
            #expect(Set(paths).count == 3)
            let keys = scan.records.compactMap { $0["path_key"] }.map { Array($0.utf8) }
            #expect(Set(keys).count == 2, "a server that ignores form has one file there")
            #expect(scan.values("path_key").contains(#""forms/b.txt""#))
            let named = try SMBBridge(server).scan(["files": "forms/caf\u{E9}.txt"])
            #expect(named.records.count == 2)
        }

        @Test func `folders whose names differ in normal form only stay two, with their files`() throws {
            try server.write("twins/caf\u{E9}/nfc.txt", "")
            try server.write("twins/cafe\u{301}/nfd.txt", "")
            let scan = try SMBBridge(server).scan(["files": "twins/**"])
            #expect(
                Set(scan.records.compactMap { $0["path"] }.map { Array($0.utf8) }) == [
                    Array("\"twins/caf\u{E9}/nfc.txt\"".utf8), Array("\"twins/cafe\u{301}/nfd.txt\"".utf8),
                ])
        }

        @Test func `two closed folders whose names differ in normal form only are both skipped`() throws {
            let folders = ["caf\u{E9}", "cafe\u{301}"].map { "closed-twins/" + $0 }
            for folder in folders {
                try server.write(folder + "/x.txt", "")
                chmod(server.share + "/" + folder, 0)
            }
            defer { for folder in folders { chmod(server.share + "/" + folder, 0o755) } }
            let scan = try SMBBridge(server).scan(["files": "closed-twins/**"])
            #expect(scan.skipped.count == 2 && scan.isComplete)
        }

        @Test func `long names and deep paths are listed, read and written`() throws {
            let name = String(repeating: "n", count: 200)
            let folder = "deep/" + (1...8).map { "\($0)" + name }.joined(separator: "/")
            let file = folder + "/" + String(repeating: "f", count: 240) + ".csv"
            try server.write(file, "id\n1\n")
            #expect(file.utf8.count > 1800)
            let scan = try SMBBridge(server).scan(["csv": "deep/**"])
            #expect(scan.records.first?["@path"] == "\"\(file)\"")
            let long = try bridgeError { _ = try SharePath(String(repeating: "x", count: 256)) }
            #expect(long.message.contains("is longer than 255 bytes"))
        }

        @Test func `a name that is not UTF-8, which Samba hides, does no harm to the others`() throws {
            try server.write("bytes/good.txt", "")
            let path = Array(server.share.utf8CString.dropLast()) + Array("/bytes/b".utf8CString.dropLast())
            var bad = path + [CChar(bitPattern: 0xFF), 0]
            let descriptor = open(&bad, O_CREAT | O_WRONLY, 0o644)
            #expect(descriptor >= 0)
            close(descriptor)
            let scan = try SMBBridge(server).scan(["files": "bytes/*"])
            #expect(scan.values("name").contains(#""good.txt""#))
            #expect(scan.isComplete)
        }

        @Test func `a name that libsmbclient refuses spares its folder, and the other folders come`() throws {
            // Without mangling, Samba gives a backslash and broken UTF-16 as they are, as other servers do.
            let plain = try SMBServer("mangled names = no")
            defer { plain.kill() }
            try plain.write("refused/slash/back\\slash.txt", "1")
            try plain.write("refused/slash/good.txt", "2")
            try plain.write("refused/ok/good.txt", "3")
            try plain.write("refused/surrogate/good.txt", "4")
            let path = Array((plain.share + "/refused/surrogate/s").utf8) + [0xED, 0xA0, 0x80]
            var bad = path.map { CChar(bitPattern: $0) } + [0]
            let descriptor = open(&bad, O_CREAT | O_WRONLY, 0o644)
            #expect(descriptor >= 0)
            close(descriptor)
            let scan = try SMBBridge(plain).scan(["files": "refused/**"])
            #expect(scan.values("path") == [#""refused/ok/good.txt""#])
            #expect(scan.isComplete)
            #expect(scan.skipped.sorted() == ["path = refused/slash/...", "path = refused/surrogate/..."])
            #expect(
                scan.warnings.first
                    == "the folder refused/slash cannot be listed (its name, or one in it, is not one that libsmbclient accepts "
                    + "(a backslash, or broken UTF-16), and it has no other): its contents are unknown")
            #expect(scan.warnings.count == 2)
            let root = try bridgeError { _ = try SMBBridge(plain).scan(["files": "refused/slash/*.txt"]) }
            #expect(root.code == .remote && root.remedy?.hasPrefix("rename it on the server") == true, "\(root)")
            // One whose name is known can be read.
            #expect(try SMBBridge(plain, folder: "/refused/ok").scan(["files": "*"]).records.count == 1)
        }

        @Test func `several patterns, depth and exclude choose files, each once`() throws {
            for path in ["a/1.txt", "a/2.tmp", "a/sub/3.txt", "a/sub/deep/4.txt", "b/5.csv", "c/6.csv"] {
                try server.write("choose/" + path, "")
            }
            let bridge = try SMBBridge(server, folder: "/choose")
            let scan = try bridge.scan([
                "files": ["a/**", "{folder_name}/*.csv", "a/*.txt"], "exclude": ["**/*.tmp", "c"], "depth": 2,
            ])
            #expect(scan.values("path") == [#""a/1.txt""#, #""a/sub/3.txt""#, #""b/5.csv""#])
            #expect(scan.values("folder_name") == ["null", "null", #""b""#])
            #expect(scan.isComplete)
            #expect(scan.warnings == ["no file matches a/*.txt in smb://127.0.0.1:\(server.port)/pw/choose"])
        }

        @Test func `DOS attributes come one by one and as their number`() throws {
            try server.write("dos/.hidden", "x")
            let scan = try SMBBridge(server).scan(["files": "dos/*"])
            #expect(scan.values("hidden") == ["true"])
            #expect(scan.values("reparse_point") == ["false"])
            let attributes = Int32(scan.values("attributes").first ?? "") ?? 0
            #expect(attributes & SMBC_DOS_MODE_HIDDEN != 0)
        }

        @Test func `owners need port 445`() throws {
            let refused = try bridgeError {
                _ = try SMBBridge(server).scan(["files": "*", "owners": true])
            }
            #expect(refused.code == .configuration)
        }

        @Test(.enabled(if: geteuid() == 0, "only root can listen on port 445"))
        func `owners are SIDs`() throws {
            // Each test run has an address of its own.
            let local = try SMBServer(address: "127.\(getpid() % 200 + 20).\(getpid() / 200 % 250).7", port: 445)
            defer { local.kill() }
            try local.write("owned.txt", "x")
            let bridge = try SMBBridge(local)
            let scan = try bridge.scan(["files": "owned.txt", "owners": true])
            #expect(scan.values("owner").first?.hasPrefix("\"S-1-") == true, "\(scan.values("owner"))")
            #expect(scan.values("group").first?.hasPrefix("\"S-1-") == true)
            #expect(try bridge.scan(["files": "owned.txt"]).values("owner") == ["(none)"])
        }
    }
}
