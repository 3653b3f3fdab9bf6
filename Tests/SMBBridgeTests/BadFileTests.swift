import BridgeKit
import Glibc
import RecordBatch
import Testing

@testable import SMBBridge

extension AgainstRealServer {
    /// Files that nobody would want on a share: each becomes a reason, and the files beside it still come.
    @Suite struct BadFileTests {
        private static let script = """
            import gzip, io, os, sys, zipfile, zlib
            root = sys.argv[1] + "/bad"
            os.makedirs(root, exist_ok=True)
            def write(name, data):
                with open(root + "/" + name, "wb") as file: file.write(data)
            write("a-good.csv", b"id,name\\n1,first\\n")
            write("b-empty.csv", b"")
            write("c-header.csv", b"id,name\\n")
            write("d-ragged.csv", b"id,name\\n1\\n2,two,more\\n3,three\\n")
            write("e-nul.csv", b"id,name\\n1,a\\0b\\n2,ok\\n")
            write("f-truncated.csv.gz", gzip.compress(b"id,name\\n" + b"".join(b"%d,x\\n" % i for i in range(200000)))[:2000])
            pack = zlib.compressobj(9, zlib.DEFLATED, 31)
            with open(root + "/g-bomb.csv.gz", "wb") as file:
                file.write(pack.compress(b"id,name\\n"))
                for _ in range(1024): file.write(pack.compress(b"x" * (1 << 20)))
                file.write(pack.flush())
            with zipfile.ZipFile(root + "/h-dots.csv.zip", "w") as archive:
                archive.writestr("../../../tmp/escaped.csv", "id,name\\n7,inside\\n")
                archive.writestr("/etc/absolute.csv", "id,name\\n8,inside\\n")
            with zipfile.ZipFile(root + "/i-bomb.csv.zip", "w", zipfile.ZIP_DEFLATED) as archive:
                with archive.open("bomb.csv", "w", force_zip64=True) as member:
                    member.write(b"id,name\\n")
                    for _ in range(256): member.write(b"x" * (1 << 20))
            write("j-not.csv.zip", b"PK\\3\\4" + b"no archive" * 100)
            with open(root + "/k-line.csv", "wb") as file:
                file.write(b"id,name\\n1,")
                file.seek(1 << 30)
                file.write(b"\\n")
            write("l-marked.csv", b"\\xef\\xbb\\xbfid,name\\n9,marked\\n")
            write("m-wide.csv", "\\ufeffid,name\\r\\n10,w\\u00efde\\r\\n".encode("utf-16-le"))
            os.path.lexists(root + "/n-out.csv") or os.symlink("/etc/passwd", root + "/n-out.csv")
            write("z-last.csv", b"id,name\\n99,last\\n")
            """

        @Test func `bad files become reasons at constant memory, and the files beside them come`() throws {
            let server = try SMBServer.shared.get()
            try SMBServer.run(
                "printf '%s' \"$1\" >\"$2/make.py\"; python3 \"$2/make.py\" \"$2/share\"", Self.script, server.root)
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
