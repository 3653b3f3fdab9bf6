import BridgeKit
import Glibc
import RecordBatch
import Testing
import TestLiterals

@testable import SMBBridge

extension AgainstRealServer {
    /// A write that does not come to its end.
    @Suite struct WriteCrashTests {
        @Test func `a server that dies while a file is written leaves the old file whole, and no half one`() throws {
            let mortal = try SMBServer()
            defer { mortal.kill() }
            try SMBServer.run("printf before >\"$1/old.txt\"; chmod 666 \"$1/old.txt\"", mortal.writable)
            let bridge = try SMBBridge(mortal, share: "rw")
            let killer = try Killer(mortal)
            let content = String(repeating: "0123456789abcdef", count: 3 << 20)
            let section: Literal = ["files": "**", "content": "text", "max_content_bytes": 100_000_000]
            let request = WriteRequest(
                .update, entity: "Document", section: BridgeOptions(section),
                key: BridgeOptions(["path": "old.txt"]), values: BridgeOptions(["content": .text(content)]))
            let error = try bridgeError { try bridge.write(request, into: RecordBatchWriter()) }
            let names = try killer.result()
            #expect([.unreachable, .timeout].contains(error.code), "\(error)")
            #expect(names.content == "before", "the old file is as it was")
            #expect(names.all.nonEmptyAllSatisfy { $0 == "old.txt" || $0.hasPrefix(".bmo-tmp-") }, "\(names.all)")
            #expect(names.all.count == 2, "the write was under way: \(names.all)")
        }

        /// Kills a server as soon as an unfinished file lies in its share, and looks what is there.
        private final class Killer: @unchecked Sendable {
            // Written by the thread before it is joined.
            private let server: SMBServer
            private var thread: pthread_t = 0
            private var all: [String] = []
            private var content = ""

            init(_ server: SMBServer) throws {
                self.server = server
                let failed = pthread_create(
                    &thread, nil,
                    { argument in
                        if let argument { Unmanaged<Killer>.fromOpaque(argument).takeRetainedValue().run() }
                        return nil
                    }, Unmanaged.passRetained(self).toOpaque())
                try #require(failed == 0)
            }

            private func run() {
                for _ in 0..<20_000 {
                    let names = SMBServer.names(in: server.writable)
                    if names.contains(where: { $0.hasPrefix(".bmo-tmp-") }) { break }
                    usleep(500)
                }
                server.freeze()
                all = SMBServer.names(in: server.writable)
                content =
                    (try? SMBServer.read(server.writable + "/old.txt")).map { String(decoding: $0, as: UTF8.self) }
                    ?? ""
                server.kill()
            }

            func result() throws -> (all: [String], content: String) {
                pthread_join(thread, nil)
                return (all, content)
            }
        }
    }
}
