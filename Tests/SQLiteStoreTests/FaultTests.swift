import Foundation
import TestSupport
import Testing

/// Disks and memory that fail at every place where they can (Tests/FaultHost): the file is whole after each fault, a page
/// is in as a whole or not at all, and the next import is as if nothing had been.
@Suite struct FaultTests {
    private static var host: String { Products.folder + "/FaultHost" }

    private func faults(_ run: ProcessRun) throws -> Int {
        try #require(run.exitCode == 0, "\(run)")
        let line = run.output.split(separator: "\n").first ?? ""
        return try #require(line.split(separator: " ").first.flatMap { Int($0) }, "\(run)")
    }

    @Test(arguments: ["disk", "full"], ["once new", "once again", "for-good new", "for-good again"])
    func `every operation of the disk may fail`(_ fault: String, _ how: String) async throws {
        let folder = try TemporaryFolder()
        let words = how.split(separator: " ").map(String.init)
        let run = try await ProcessRun.run(Self.host, [fault, words[0], words[1], folder.path])
        // How many there are is SQLite's affair; that there are some is ours.
        #expect(try faults(run) >= 20, "\(run)")
        #expect(run.output.contains("(the page is not in)") && run.output.contains("(the page is in)"), "\(run)")
    }

    @Test(arguments: ["disk", "full"], ["once edits", "once answer", "for-good edits", "for-good answer"])
    func `every operation of the disk may fail for edits`(_ fault: String, _ how: String) async throws {
        let folder = try TemporaryFolder()
        let words = how.split(separator: " ").map(String.init)
        let run = try await ProcessRun.run(Self.host, [fault, words[0], words[1], folder.path])
        #expect(try faults(run) >= 10, "\(run)")
        #expect(run.output.contains("(the page is not in)") && run.output.contains("(the page is in)"), "\(run)")
    }

    @Test(arguments: ["once", "for-good"], ["again", "edits", "answer"])
    func `every allocation may fail`(_ how: String, _ work: String) async throws {
        let folder = try TemporaryFolder()
        let run = try await ProcessRun.run(Self.host, ["memory", how, work, folder.path])
        #expect(try faults(run) >= 50, "\(run)")
    }

    /// A file system of 8 MiB in a mount namespace of its own, which ends with the process.
    @Test(.enabled(if: TemporaryFolder.canMount, "needs the right to mount"))
    func `a full file system is reported and overcome`() async throws {
        let folder = try TemporaryFolder()
        let run = try await ProcessRun.run(
            "unshare",
            [
                "--mount", "sh", "-c", #"mount -t tmpfs -o size=8m tmpfs "$1" && exec "$0" room "$1""#, Self.host,
                folder.path,
            ])
        #expect(try faults(run) == 2, "\(run)")
    }
}
