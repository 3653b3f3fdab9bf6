import Foundation
import Glibc
import TestSupport
import Testing

extension EndToEndTests {
    /// `bmo watch` over a share that tells of its changes.
    @Suite struct ShareWatchTests {
        @Test func `what moves on the share comes at once, long before the next round`() async throws {
            let place = try await RemoteWorkspace.share()
            try place.configure(
                """
                  File: {bridge: files, key: path, attributes: {path: text}, smb: {files: "*.txt"}}
                """)
            try Data("one".utf8).write(to: URL(fileURLWithPath: place.server.share + "/one.txt"))
            let watch = try place.start(["watch", "--every", "1h"])
            defer { watch.signal(SIGKILL) }
            try await eventually("the first sync is in") {
                try await place.count() == "1"
            }
            // The watch may open a moment after the sync: another file, until one is told of.
            var number = 1
            try await eventually("a file that came is told of") {
                number += 1
                let put = try await ProcessRun.run(
                    "smbclient",
                    [
                        "-p", String(place.server.port), "-U", place.server.user, "//127.0.0.1/share", "-c",
                        "put /etc/hostname new\(number).txt",
                    ], environment: ["PASSWD": SambaServer.password])
                #expect(put.exitCode == 0, "\(put)")
                try await Task.sleep(for: .milliseconds(1500))
                return try await place.count() == String(number)
            }
            kill(watch.pid, SIGTERM)
            let ended = try await watch.finish(within: .seconds(30))
            #expect(ended.exitCode == 0, "\(ended)")
        }
    }
}

extension RemoteWorkspace where Remote == SambaServer {
    /// How many files are in the database; nil where it is not there yet, or is being written.
    fileprivate func count() async throws -> String? {
        let run = try await ProcessRun.run("sqlite3", ["-readonly", database, "SELECT count(*) FROM File"])
        return run.exitCode == 0 ? run.output.trimmingCharacters(in: .whitespacesAndNewlines) : nil
    }
}
