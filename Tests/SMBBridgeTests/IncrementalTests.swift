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
            #expect(!first.isUnchanged)
            let token = try #require(first.token)
            let second = try bridge.scan(["csv": "inc/*"], token: token)
            #expect(second.records.isEmpty)
            #expect(second.isUnchanged)
            #expect(second.isComplete)
            #expect(second.skipped == ["a", "b", "c"].map { "@path = inc/\($0).csv" })
            #expect(second.token == token)

            try write("inc/b.csv", "id\nb3\n")
            unlink(server.share + "/inc/c.csv")
            let third = try bridge.scan(["csv": "inc/*"], token: token)
            #expect(third.values("id") == [#""b3""#])
            #expect(third.skipped == ["@path = inc/a.csv"])
            #expect(third.isComplete)
            #expect(!third.isUnchanged, "the rows of c.csv are gone")
            let fourth = try bridge.scan(["csv": "inc/*"], token: third.token)
            #expect(fourth.isUnchanged)
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

        @Test func `another section, or a broken token, reads everything`() throws {
            try write("asked/a.csv", "id;x\n1;2\n")
            let bridge = try SMBBridge(server)
            let first = try bridge.scan(["csv": "asked/*"])
            #expect(try bridge.scan(["csv": "asked/*", "delimiter": ";"], token: first.token).records.count == 1)
            #expect(try bridge.scan(["csv": "asked/*"], token: "nonsense").records.count == 1)
            #expect(try bridge.scan(["csv": "asked/*"], token: first.token).isUnchanged)
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
            #expect(!second.isUnchanged)
            #expect(try bridge.scan(["csv": "kept/**"], token: second.token).isUnchanged)
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
