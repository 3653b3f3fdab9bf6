import BridgeKit
import Glibc
import RowFormats
import Testing
import TestLiterals

@testable import SMBBridge

/// Scans over recordings: each folder of Fixtures/smb has a share, a section of a config, and what a scan over it gives.
@Suite struct RecordedShareTests {
    private static let folder =
        #filePath.split(separator: "/").dropLast(3).reduce("") { $0 + "/" + $1 } + "/Fixtures/smb"
    static let cases: [String] = SMBServer.names(in: folder)

    @Test func `there are recordings`() { #expect(Self.cases.count >= 6) }

    @Test(arguments: cases)
    func `a recorded share gives the rows, the quarantine and the end that its fixture says`(name: String) throws {
        let folder = Self.folder + "/" + name
        let share = try RecordedShare(json: SMBServer.read(folder + "/share.json"))
        let section = try #require(try JSONObject.parse(try SMBServer.read(folder + "/section.json")))
        var lines: [String] = []
        do {
            let request = FetchRequest(entity: "Row", section: section, pageSize: 1000)
            let source = try EntitySection.source(request, share: share)
            let scan = try Scan(source)
            for record in scan.records {
                let members = record.sorted { $0.key < $1.key }
                    .filter { $0.value != "null" && $0.value != "false" && $0.key != "path_key" }
                lines.append("record " + members.map { "\($0.key)=\($0.value)" }.joined(separator: " "))
            }
            lines += scan.rejected.map { "rejected \($0.reason)" }
            lines += scan.warnings.map { "warning \($0)" }
            lines += scan.skipped.map { "skipped \($0)" }
            lines.append("complete \(scan.isComplete)")
        } catch let error as BridgeError {
            lines.append("error \(error.code.rawValue): \(error.message), retryable \(error.isRetryable)")
        }
        lines += share.log.map { "asked \($0)" }
        let found = lines.joined(separator: "\n") + "\n"
        let file = folder + "/expected.txt"
        if getenv("BMO_RECORD") != nil { try SMBServer.write(found, to: file) }
        #expect(found == String(decoding: try SMBServer.read(file), as: UTF8.self))
    }

    /// Samba gives the modification time for the time of change, other servers their own.
    @Test func `a file of the same size and modification time is read again when its change time moved`() throws {
        func share(changed: Int) throws -> RecordedShare {
            let entry = RecordedShare.Entry(name: "a.csv", size: 5, modified: 1_700_000_000_000_000, changed: changed)
            return try RecordedShare(
                RecordedShare.Recording(
                    folders: ["": RecordedShare.Folder(entries: [entry])],
                    files: [
                        "a.csv": [RecordedShare.Answer(bytes: Array("id\n1\n".utf8), modified: 1_700_000_000_000_000)]
                    ]))
        }
        func scan(_ share: RecordedShare, token: String?) throws -> Scan {
            let section = BridgeOptions(["csv": "*"])
            return try Scan(
                EntitySection.source(FetchRequest(entity: "Row", section: section, token: token), share: share))
        }
        let first = try scan(share(changed: 1), token: nil)
        #expect(first.records.count == 1)
        #expect(try scan(share(changed: 1), token: first.token).records.isEmpty)
        #expect(try scan(share(changed: 2), token: first.token).records.count == 1)
    }
}

extension AgainstRealServer {
    @Suite struct RecordingTests {
        @Test func `a recording that cannot be written ends the scan, and each later call`() throws {
            let server = try SMBServer.shared.get()
            try server.write("unrecorded/a.csv", "id\n1\n")
            func bridge() throws -> SMBBridge {
                var context = BridgeContext()
                let options: Literal = ["@exchange": ["folder": "/dev/null/recording", "mode": "record"]]
                context.exchange = ExchangeTape(options.options)
                return try SMBBridge(server, context: context)
            }
            let error = try bridgeError { _ = try Scan(bridge().source(["csv": "unrecorded/**"])) }
            #expect(error.code == .internal && !error.isRetryable)
            #expect(error.message.contains("the recording cannot be written: "), "\(error)")
            #expect(error.remedy?.contains("the recording's folder") == true)
            let connection = try bridge().connection
            for name in ["nowhere", "unrecorded"] {
                let failure = try #require(throws: SMBFailure.self) { try connection.list([name], fileIDs: false) }
                #expect(connection.explain(failure).message.contains("the recording cannot be written: "), "\(failure)")
            }
        }

        @Test func `a recorded scan over a real server plays back the same`() throws {
            let server = try SMBServer.shared.get()
            try server.write("recorded/a.csv", "id\n1\n2\n")
            try server.write("recorded/sub/b.csv", "id\n3\n")
            try server.write("recorded/shut/c.csv", "id\n4\n")
            chmod(server.share + "/recorded/shut", 0)
            defer { chmod(server.share + "/recorded/shut", 0o755) }
            let recorder = RecordingShare(try SMBBridge(server).connection)
            let request = FetchRequest(entity: "Row", section: BridgeOptions(["csv": "recorded/**"]))
            let live = try Scan(EntitySection.source(request, share: recorder))
            let share = try RecordedShare(json: Array(recorder.recording.json.utf8))
            let played = try Scan(EntitySection.source(request, share: share))
            #expect(played.records == live.records)
            #expect(played.records.count == 3)
            #expect(played.skipped == live.skipped)
            #expect(played.warnings == live.warnings)
        }
    }
}
