import BridgeKit
import Glibc
import SMBBridge
import Testing
import TestLiterals

extension AgainstRealServer {
    @Suite struct IncrementalTests {
        let server: SMBServer

        init() throws { server = try SMBServer.shared.get() }

        private func write(_ path: String, _ text: String) throws {
            try server.write(path, text)
            server.age(path)
        }

        @Test func `files that did not move are skipped and not read again`() throws {
            for name in ["a", "b", "c"] { try write("inc/\(name).csv", "id\n\(name)1\n\(name)2\n") }
            let bridge = try SMBBridge(server)
            let first = try bridge.scan(["csv": "inc/*"])
            #expect(first.records.count == 6)
            let token = try #require(first.token)
            let second = try bridge.scan(["csv": "inc/*"], token: token)
            #expect(second.records.isEmpty)
            #expect(second.isComplete && !second.isUnchanged, "the host may have rows of a file that has gone")
            #expect(second.skipped == ["a", "b", "c"].map { "@path = inc/\($0).csv" })
            #expect(second.token == token)

            try write("inc/b.csv", "id\nb3\n")
            unlink(server.share + "/inc/c.csv")
            let third = try bridge.scan(["csv": "inc/*"], token: token)
            #expect(third.values("id") == [#""b3""#])
            #expect(third.skipped == ["@path = inc/a.csv"])
            #expect(third.isComplete)
            let fourth = try bridge.scan(["csv": "inc/*"], token: third.token)
            #expect(fourth.records.isEmpty && fourth.skipped.count == 2)
        }

        @Test(arguments: [
            (["id"], true), (["@path", "@row"], false), (["file", "@path"], false), ([], true),
        ])
        func `what is missing has to be confirmed if a file that was skipped may have it`(
            key: [String], isPositional: Bool
        ) throws {
            try write("both/a.csv", "id\n1\n3\n")
            try write("both/b.csv", "id\n3\n")
            let bridge = try SMBBridge(server)
            func scan(token: String?) throws -> Scan {
                var request = FetchRequest(
                    entity: "Row", section: BridgeOptions(["csv": "both/*"]), token: token)
                request.keyPaths = key
                return try Scan(bridge.fetch(request))
            }
            let first = try scan(token: nil)
            #expect(first.pages.last?.isPositional == false)
            unlink(server.share + "/both/b.csv")
            let second = try scan(token: first.token)
            #expect(second.isComplete && second.records.isEmpty)
            #expect(second.pages.last?.isPositional == isPositional)
        }

        @Test func `a file that was written a moment ago is not taken for known`() throws {
            try server.write("racy/a.csv", "id\n1\n")
            let bridge = try SMBBridge(server)
            let first = try bridge.scan(["csv": "racy/*"])
            #expect(try bridge.scan(["csv": "racy/*"], token: first.token).records.count == 1)
        }

        @Test(arguments: ["a moment ago", "with a bad row"])
        func `a file that is deleted, and was read without a state, is a change`(kind: String) throws {
            let folder = kind == "a moment ago" ? "racy-gone" : "bad-gone"
            try write(folder + "/a.csv", "id\n1\n")
            if kind == "a moment ago" {
                try server.write(folder + "/b.csv", "id\n2\n")
            } else {
                try write(folder + "/b.csv", "id\n2\n3,surplus\n")
            }
            let bridge = try SMBBridge(server)
            let section: Literal = ["csv": .text(folder + "/*")]
            let first = try bridge.scan(section)
            #expect(first.values("id") == [#""1""#, #""2""#])
            unlink(server.share + "/" + folder + "/b.csv")
            let second = try bridge.scan(section, token: first.token)
            #expect(second.isComplete && second.records.isEmpty && !second.isUnchanged)
            #expect(second.skipped == ["@path = \(folder)/a.csv"])
        }

        @Test func `a file is missing that came and went after the scan of the token`() throws {
            try write("between/a.csv", "id\n1\n")
            let bridge = try SMBBridge(server)
            let first = try bridge.scan(["csv": "between/*"])
            // The host imports the row, and does not store the token of a scan with rows in quarantine.
            try write("between/b.csv", "id\n2\n3,surplus\n")
            #expect(try bridge.scan(["csv": "between/*"], token: first.token).values("id") == [#""2""#])
            unlink(server.share + "/between/b.csv")
            let third = try bridge.scan(["csv": "between/*"], token: first.token)
            #expect(third.isComplete && !third.isUnchanged)
            #expect(third.skipped == ["@path = between/a.csv"])
        }

        @Test func `a token of an earlier version spares the files`() throws {
            try write("old-token/a.csv", "id\n1\n")
            let bridge = try SMBBridge(server)
            let parts = try #require(try bridge.scan(["csv": "old-token/*"]).token).split(
                separator: " ", omittingEmptySubsequences: false)
            try #require(parts.count == 5)
            let scan = try bridge.scan(["csv": "old-token/*"], token: "smb-states1 \(parts[1]) \(parts[2])")
            #expect(scan.records.isEmpty && scan.skipped == ["@path = old-token/a.csv"])
            #expect(try bridge.scan(["csv": "old-token/*"], token: scan.token).records.isEmpty)
        }

        @Test func `a file that comes back as it was is read again, also while a folder cannot be read`() throws {
            try write("back/in/a.csv", "id\n1\n")
            try write("back/in/shut/b.csv", "id\n2\n")
            let bridge = try SMBBridge(server)
            let (file, away) = (server.share + "/back/in/a.csv", server.share + "/back/a.csv")
            func scan(_ token: String?) throws -> Scan { try bridge.scan(["csv": "back/in/**"], token: token) }
            let first = try scan(nil)
            chmod(server.share + "/back/in/shut", 0)
            defer { chmod(server.share + "/back/in/shut", 0o755) }
            rename(file, away)
            let second = try scan(first.token)
            #expect(second.isComplete && second.records.isEmpty)
            rename(away, file)
            let third = try scan(second.token)
            #expect(third.values("id") == [#""1""#])
            chmod(server.share + "/back/in/shut", 0o755)
            let fourth = try scan(third.token)
            #expect(fourth.records.isEmpty, "the state of the folder's file was kept")
        }

        @Test func `another section, or a broken token, reads everything`() throws {
            try write("asked/a.csv", "id;x\n1;2\n")
            let bridge = try SMBBridge(server)
            let first = try bridge.scan(["csv": "asked/*"])
            #expect(try bridge.scan(["csv": "asked/*", "delimiter": ";"], token: first.token).records.count == 1)
            #expect(try bridge.scan(["csv": "asked/*"], token: "nonsense").records.count == 1)
            #expect(try bridge.scan(["csv": "asked/*"], token: first.token).records.isEmpty)
        }

        @Test func `a folder that cannot be read keeps the states of its files`() throws {
            try write("kept/open/a.csv", "id\n1\n")
            try write("kept/shut/b.csv", "id\n2\n")
            let bridge = try SMBBridge(server)
            let first = try bridge.scan(["csv": "kept/**"])
            chmod(server.share + "/kept/shut", 0)
            let second = try bridge.scan(["csv": "kept/**"], token: first.token)
            chmod(server.share + "/kept/shut", 0o755)
            #expect(second.skipped == ["@path = kept/open/a.csv", "@path = kept/shut/..."])
            #expect(try bridge.scan(["csv": "kept/**"], token: second.token).records.isEmpty)
        }

        @Test func `contents and hashes come once`() throws {
            try write("hashed/a.txt", "abc")
            try write("hashed/empty", "")
            let bridge = try SMBBridge(server)
            let first = try bridge.scan(["files": "hashed/*", "content": "hash"])
            #expect(
                first.values("sha256") == [
                    "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"",
                    "\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"",
                ])
            let second = try bridge.scan(["files": "hashed/*", "content": "hash"], token: first.token)
            #expect(second.records.isEmpty)
            #expect(second.skipped == ["path = hashed/a.txt", "path = hashed/empty"])
            #expect(try bridge.scan(["files": "hashed/*"]).token == nil, "a listing alone is always told whole")
        }

        @Test func `a resumed scan says again what was skipped before`() throws {
            for name in ["a", "m", "z"] { try write("resumed/\(name)/x.csv", "id\n1\n") }
            chmod(server.share + "/resumed/a", 0)
            defer { chmod(server.share + "/resumed/a", 0o755) }
            let bridge = try SMBBridge(server)
            let first = try Scan(bridge.source(["csv": "resumed/**"], pageSize: 1), limit: 2)
            #expect(first.skipped == ["@path = resumed/a/..."])
            let rest = try bridge.scan(["csv": "resumed/**"], cursor: first.pages.last?.cursor)
            #expect(rest.skipped == ["@path = resumed/a/..."])
            #expect(rest.isComplete)
            #expect(first.records.count + rest.records.count == 2)
        }
    }
}
