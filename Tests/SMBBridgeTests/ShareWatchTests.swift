import BridgeKit
import CSMBClient
import Glibc
import RecordBatch
import Testing
import TestLiterals

@testable import SMBBridge

extension AgainstRealServer {
    /// Change notification of a real server.
    @Suite struct ShareWatchTests {
        let server: SMBServer

        init() throws { server = try SMBServer.shared.get() }

        private func watch(
            _ section: Literal, wait: Int = 500, server other: SMBServer? = nil
        ) throws -> any RecordSource {
            try SMBBridge(other ?? server, share: "rw").fetch(
                FetchRequest(entity: "Document", section: BridgeOptions(section), watchMilliseconds: wait))
        }

        /// Whether something moved; a watch has no records.
        private func moved(_ source: any RecordSource) throws -> Bool {
            let writer = RecordBatchWriter()
            let page = try source.next(into: writer)
            #expect(writer.recordCount == 0)
            #expect(!page.isEnd && page.isPageEnd)
            return !page.isUnchanged
        }

        /// What another client does on the share.
        private func smbclient(_ commands: String) throws {
            try SMBServer.run(
                "PASSWD=\"$1\" smbclient -p \"$2\" -U \"$3\" //127.0.0.1/rw -c \"$4\" >/dev/null 2>&1",
                SMBServer.password, String(server.port), server.user, commands)
        }

        @Test
        func `a watch reports what another client writes, renames or deletes, and nothing that does not concern it`()
            throws
        {
            try SMBServer.run("mkdir -p \"$1/n1/in/deep\" \"$1/n1/out\"; chmod -R 777 \"$1/n1\"", server.writable)
            let source = try watch(["csv": "n1/in/**/*.csv", "exclude": "n1/in/secret"], wait: 3000)
            try smbclient("put /etc/hostname n1/in/deep/a.csv")
            #expect(try moved(source))
            // One write is told several times.
            while try moved(source) {}
            try smbclient("rename n1/in/deep/a.csv n1/in/deep/b.csv")
            #expect(try moved(source))
            while try moved(source) {}
            try smbclient(
                "put /etc/hostname n1/out/a.csv; put /etc/hostname n1/in/.bmo-tmp-1; mkdir n1/in/secret; "
                    + "put /etc/hostname n1/in/secret/x.csv")
            #expect(try !moved(source))
            try smbclient("rm n1/in/deep/b.csv")
            // Nobody waits now: it counts for the next look.
            usleep(300_000)
            let started = Self.milliseconds
            #expect(try moved(source))
            #expect(Self.milliseconds - started < 1000)
        }

        @Test func `a watch goes on however often more changes than the server keeps overflow`() throws {
            try SMBServer.run("mkdir -p \"$1/n3\"; chmod 777 \"$1/n3\"", server.writable)
            let source = try watch(["csv": "n3/**"], wait: 2000)
            for round in 1...12 {
                try SMBServer.run(
                    "cd \"$1/n3\" && find . -name '*.csv' -delete && seq -f \"$2-%0200g.csv\" 4000 | xargs touch",
                    server.writable, "\(round)")
                #expect(try moved(source))
                // All that the server reports of this round.
                while try moved(source) {}
            }
            try SMBServer.run("rm -r \"$1/n3\"", server.writable)
        }

        @Test func `a watch ends at once when it is cancelled`() throws {
            try SMBServer.run("mkdir -p \"$1/n2\"", server.writable)
            let source = try watch(["files": "n2/**"], wait: 60_000)
            let started = Self.milliseconds
            try Self.after(milliseconds: 300, source) { $0.cancel() }
            let error = try bridgeError { _ = try source.next(into: RecordBatchWriter()) }
            #expect(error.code == .cancelled)
            #expect(Self.milliseconds - started < 2000)
            // The thread lets go of the library.
            #expect(try SMBBridge(server, share: "rw").check() != nil)
        }

        @Test func `a watch copes with a server without notifications, a missing folder, and one that goes away`()
            throws
        {
            let mute = try SMBServer("change notify = no")
            defer { mute.kill() }
            let error = try bridgeError { _ = try watch(["files": "**"], server: mute) }
            #expect(error.code == .unsupported)
            #expect(error.message == "cannot watch the share: the server does not report changes")
            #expect(try bridgeError { _ = try watch(["files": "nowhere/**"]) }.code == .notFound)

            let mortal = try SMBServer()
            defer { mortal.kill() }
            let source = try watch(["files": "**"], wait: 10_000, server: mortal)
            mortal.kill()
            let gone = try bridgeError { while true { _ = try source.next(into: RecordBatchWriter()) } }
            #expect(gone.code == .unreachable)
            #expect(gone.isRetryable)
        }

        private static var milliseconds: Int {
            var time = timespec()
            clock_gettime(CLOCK_MONOTONIC, &time)
            return time.tv_sec * 1000 + time.tv_nsec / 1_000_000
        }

        private final class Job: @unchecked Sendable {
            // Written before the thread starts.
            let source: any RecordSource
            let delay: UInt32
            let body: @Sendable (any RecordSource) -> Void

            init(_ source: any RecordSource, _ delay: UInt32, _ body: @escaping @Sendable (any RecordSource) -> Void) {
                self.source = source
                self.delay = delay
                self.body = body
            }
        }

        private static func after(
            milliseconds: UInt32, _ source: any RecordSource, _ body: @escaping @Sendable (any RecordSource) -> Void
        ) throws {
            var thread: pthread_t = 0
            let job = Unmanaged.passRetained(Job(source, milliseconds * 1000, body))
            let failed = pthread_create(
                &thread, nil,
                { argument in
                    guard let argument else { return nil }
                    let job = Unmanaged<Job>.fromOpaque(argument).takeRetainedValue()
                    usleep(job.delay)
                    job.body(job.source)
                    return nil
                }, job.toOpaque())
            #expect(failed == 0)
        }
    }
}
