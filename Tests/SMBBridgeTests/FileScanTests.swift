import BridgeKit
import CSMBClient
import Glibc
import SMBBridge
import Testing
import TestLiterals

extension AgainstRealServer {
    @Suite struct FileScanTests {
        let server: SMBServer

        init() throws { server = try SMBServer.shared.get() }

        @Test func `check opens the share and says as whom`() throws {
            #expect(
                try SMBBridge(server).check() == "smb://127.0.0.1:\(server.port)/pw is open as \(server.user)")
        }

        @Test func `guest access needs no user`() throws {
            let bridge = try SMBBridge(server, share: "guest", ["user": "", "password": "", "guest": true])
            #expect(try bridge.check() == "smb://127.0.0.1:\(server.port)/guest is open as a guest")
        }

        @Test func `a listing has captures, sizes, attributes and the times that stat gives`() throws {
            try server.write("listing/countries/AW/flag.txt", "four")
            try server.write("listing/countries/DE/Map.tar.gz", "")
            try server.write("listing/countries/DE/.hidden", "x")
            try server.write("listing/other/readme.txt", "no")
            let scan = try SMBBridge(server, folder: "/listing").scan(["files": "countries/{country}/*"])
            #expect(
                scan.values("path") == [
                    #""countries/AW/flag.txt""#, #""countries/DE/.hidden""#, #""countries/DE/Map.tar.gz""#,
                ])
            #expect(scan.values("country") == [#""AW""#, #""DE""#, #""DE""#])
            #expect(scan.values("folder") == [#""countries/AW""#, #""countries/DE""#, #""countries/DE""#])
            #expect(scan.values("name") == [#""flag.txt""#, #"".hidden""#, #""Map.tar.gz""#])
            #expect(scan.values("extension") == [#""txt""#, #""""#, #""gz""#])
            #expect(scan.values("size") == ["4", "1", "0"])
            #expect(scan.values("hidden") == ["false", "true", "false"])
            #expect(scan.values("is_directory") == ["false", "false", "false"])
            #expect(scan.values("content") == ["(none)", "(none)", "(none)"])
            #expect(scan.isComplete)
            #expect(scan.warnings == [])
            let status = try server.status("listing/countries/AW/flag.txt")
            let whole = String(status.st_mtim.tv_nsec / 1000 + 1_000_000).dropFirst()
            let modified = try #require(scan.records.first?["modified"])
            #expect(modified.hasSuffix(".\(whole)Z\""))
            #expect(scan.records.first?["inode"] == String(status.st_ino))
        }

        @Test func `a set modification time comes through to the microsecond`() throws {
            try server.write("times/old.txt", "x")
            var times = [timespec(tv_sec: 0, tv_nsec: 0), timespec(tv_sec: 1_700_000_000, tv_nsec: 123_456_000)]
            #expect(utimensat(AT_FDCWD, server.share + "/times/old.txt", &times, 0) == 0)
            let scan = try SMBBridge(server).scan(["files": "times/*"])
            #expect(scan.values("modified") == [#""2023-11-14T22:13:20.123456Z""#])
        }

        @Test func `3,000 files in folders come in pages, each once, and any page's cursor goes on behind it`() throws {
            for folder in 0..<30 {
                for file in 0..<100 { try server.write("many/\(folder)/\(file).txt", "") }
            }
            let bridge = try SMBBridge(server)
            let whole = try bridge.scan(["files": "many/**"], pageSize: 700)
            #expect(whole.pages.count == 5)
            #expect(whole.records.count == 3000)
            #expect(Set(whole.values("path")).count == 3000)
            #expect(whole.isComplete)
            var first = try Scan(bridge.source(["files": "many/**"], pageSize: 700), limit: 1)
            while let cursor = first.pages.last?.cursor {
                let rest = try Scan(
                    SMBBridge(server).source(["files": "many/**"], cursor: cursor, pageSize: 700), limit: 1)
                first.records += rest.records
                first.pages += rest.pages
            }
            #expect(first.values("path") == whole.values("path"))
        }

        @Test func `odd names are listed, read and matched`() throws {
            let names = [
                "a b.txt", "a%20b.txt", "50%.txt", "#1.txt", "Übergröße.txt", "日本.txt", "plus+&=;.txt", "{x}.txt",
            ]
            for name in names { try server.write("odd names #/" + name, name) }
            let bridge = try SMBBridge(server, folder: "/odd%20names%20%23")
            let scan = try bridge.scan(["files": "{stem}.txt", "content": "text"])
            #expect(scan.values("content").sorted() == names.map { "\"\($0)\"" }.sorted())
            #expect(scan.values("name") == scan.values("content"))
            #expect(scan.rejected.isEmpty)
            #expect(try bridge.scan(["files": "üBERGRÖßE.txt"]).values("name") == [#""Übergröße.txt""#])
            #expect(try bridge.scan(["files": "{{x}}.txt"]).records.count == 1)
        }

        @Test func `matching ignores case by default`() throws {
            try server.write("case/README.TXT", "")
            let bridge = try SMBBridge(server)
            #expect(try bridge.scan(["files": "case/*.txt"]).records.count == 1)
            let strict = try bridge.scan(["files": "case/*.txt", "case_sensitive": true])
            #expect(strict.records.isEmpty)
            #expect(strict.warnings == ["no file matches case/*.txt in smb://127.0.0.1:\(server.port)/pw"])
        }

        @Test func `content comes as text or bytes, and null where the file is too large`() throws {
            try server.write("content/a.txt", [0xEF, 0xBB, 0xBF] + Array("grün".utf8))
            try server.write("content/b.txt", [0xFF, 0x00])
            try server.write("content/c.txt", String(repeating: "x", count: 5000))
            try server.write("content/empty.txt", "")
            let bridge = try SMBBridge(server)
            let text = try bridge.scan(["files": "content/*", "content": "text", "max_content_bytes": 4999])
            #expect(text.values("name") == [#""a.txt""#, #""c.txt""#, #""empty.txt""#])
            #expect(text.values("content") == [#""grün""#, "null", #""""#])
            #expect(text.rejected.map(\.representation) == ["content/b.txt"])
            #expect(
                text.rejected.map(\.reason) == [
                    "the content of content/b.txt is not UTF-8: set encoding, or content: data"
                ])
            #expect(
                text.warnings == [
                    "the file content/c.txt has 5000 bytes, more than max_content_bytes: its content is null"
                ])
            #expect(text.isComplete)
            #expect(text.skipped == ["path = content/b.txt"])
            let bytes = try bridge.scan(["files": "content/b.*", "content": "bytes"])
            #expect(bytes.values("content") == [#""/wA=""#])
            let latin = try bridge.scan(["files": "content/b.*", "content": "text", "encoding": "iso-8859-1"])
            #expect(latin.values("content") == [#""ÿ\u0000""#])
        }

        @Test func `many warnings are counted`() throws {
            for file in 0..<30 { try server.write("warnings/\(file)", "xx") }
            let scan = try SMBBridge(server).scan([
                "files": "warnings/*", "content": "bytes", "max_content_bytes": 1,
            ])
            #expect(scan.records.count == 30)
            #expect(scan.warnings.count == 21)
            #expect(scan.warnings.last == "and 10 more warnings on this page")
        }

        @Test func `directories are records only when asked for`() throws {
            try server.write("folders/inner/file", "")
            let bridge = try SMBBridge(server)
            #expect(try bridge.scan(["files": "folders/*"]).records.isEmpty)
            let scan = try bridge.scan(["files": "folders/**", "directories": true, "content": "bytes"])
            #expect(scan.values("path") == [#""folders/inner""#, #""folders/inner/file""#])
            #expect(scan.values("is_directory") == ["true", "false"])
        }

        @Test func `an unreadable folder is a warning, and what it holds is skipped`() throws {
            try server.write("locked/open/a", "")
            try server.write("locked/shut/b", "")
            chmod(server.share + "/locked/shut", 0)
            defer { chmod(server.share + "/locked/shut", 0o755) }
            let scan = try SMBBridge(server).scan(["files": "locked/**"])
            #expect(scan.values("path") == [#""locked/open/a""#])
            #expect(
                scan.warnings == ["the folder locked/shut may not be listed by this user: its contents are unknown"])
            #expect(scan.skipped == ["path = locked/shut/..."])
            #expect(scan.isComplete)
        }

        @Test func `an unreadable file is rejected, and the others come`() throws {
            try server.write("secret/a", "a")
            try server.write("secret/b", "b")
            chmod(server.share + "/secret/a", 0)
            let scan = try SMBBridge(server).scan(["files": "secret/*", "content": "text"])
            #expect(scan.values("content") == [#""b""#])
            #expect(
                scan.rejected.map(\.reason) == ["cannot read secret/a: the server refuses access"])
        }

        @Test func `a link back up is left out`() throws {
            try server.write("loop/inner/file", "")
            symlink("..", server.share + "/loop/inner/up")
            let scan = try SMBBridge(server).scan(["files": "loop/**"])
            #expect(scan.values("path") == [#""loop/inner/file""#])
            #expect(scan.warnings == ["the folder loop/inner/up leads back to a folder above it: left out"])
            #expect(scan.isComplete)
        }

        @Test func `max_files ends a scan that is too large`() throws {
            for file in 0..<4 { try server.write("limit/\(file)", "") }
            let error = try bridgeError {
                _ = try SMBBridge(server).scan(["files": "limit/*", "max_files": 3])
            }
            #expect(error.code == .limit)
            #expect(error.message == "more than 3 files match limit/*")
        }

        @Test func `a cancelled scan says so`() throws {
            try server.write("cancel/a", "")
            let source = try SMBBridge(server).source(["files": "cancel/*"])
            source.cancel()
            #expect(try bridgeError { _ = try Scan(source) }.code == .cancelled)
        }
    }
}
