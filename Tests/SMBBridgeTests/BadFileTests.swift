import BridgeKit
import Glibc
import RecordBatch
import TestLiterals
import Testing

@testable import SMBBridge

extension AgainstRealServer {
    /// Files that nobody would want on a share: each becomes a reason, and the files beside it still come.
    @Suite struct BadFileTests {
        private static let script = #filePath.replacing(
            "SMBBridgeTests/BadFileTests.swift", with: "Servers/bad-files.py")

        @Test func `bad files become reasons at constant memory, and the files beside them come`() throws {
            let server = try SMBServer.shared.get()
            try SMBServer.run(
                "python3 \"$1\" \"$2/share\"", Self.script, server.root)
            defer { try? SMBServer.run("rm -rf \"$1/bad\" /tmp/never", server.share) }
            let before = Self.peak
            let scan = try SMBBridge(server).scan(["csv": "bad/**"])
            #expect(Self.peak - before < 200 << 20, "a line of 1 GB and bombs: \((Self.peak - before) >> 20) MiB")
            let rows = zip(scan.values("@path"), scan.values("id")).map { "\($0) \($1)" }
            for row in [
                #""bad/a-good.csv" "1""#, #""bad/d-ragged.csv" "3""#, #""bad/e-nul.csv" "2""#,
                #""bad/h-dots.csv.zip" "7""#, #""bad/h-dots.csv.zip" "8""#, #""bad/l-marked.csv" "9""#,
                #""bad/m-wide.csv" "10""#, #""bad/z-last.csv" "99""#,
            ] { #expect(rows.contains(row), "no \(row) in \(rows.filter { !$0.contains("f-truncated") })") }
            #expect(!rows.contains { $0.contains("n-out") || $0.contains("b-empty") || $0.contains("c-header") })
            #expect(access("/tmp/escaped.csv", F_OK) != 0, "nothing is unpacked to a disk")
            let reasons = scan.rejected.map(\.reason)
            for name in ["d-ragged", "f-truncated", "g-bomb", "i-bomb", "j-not", "k-line"] {
                #expect(reasons.contains { $0.contains(name) }, "no reason for \(name): \(reasons)")
            }
            #expect(reasons.filter { $0.contains("d-ragged") }.count == 2, "one for each bad row")
            #expect(scan.isComplete)
            for name in ["f-truncated.csv.gz", "g-bomb.csv.gz", "j-not.csv.zip", "k-line.csv"] {
                #expect(scan.skipped.contains("@path = bad/\(name)"), "\(scan.skipped)")
            }
        }

        /// The process's highest resident size so far, in bytes.
        private static var peak: Int {
            var usage = rusage()
            getrusage(Int32(RUSAGE_SELF.rawValue), &usage)
            return usage.ru_maxrss * 1024
        }
    }
}
