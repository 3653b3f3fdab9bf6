import BridgeKit
import Glibc
import RecordBatch
import Testing
import TestLiterals

@testable import SMBBridge

/// Sessions that end during a scan, after which the server does not accept the user any more.
@Suite struct LostSessionTests {
    /// A share that refuses everything after some calls, as libsmbclient does when it cannot sign in again.
    private final class LockedShare: Share {
        private let share: RecordedShare
        private var left: Int
        var options: ShareOptions { share.options }

        init(_ recording: RecordedShare.Recording, calls: Int) throws {
            share = try RecordedShare(recording)
            left = calls
        }

        private func take(_ action: SMBFailure.Action, _ path: [String]) throws(SMBFailure) {
            left -= 1
            if left < 0 { throw SMBFailure(cause: .system(EACCES), action: action, path: path) }
        }

        func list(_ folder: [String], fileIDs: Bool) throws(SMBFailure) -> SMBListing {
            try take(.listFolder, folder)
            return try share.list(folder, fileIDs: fileIDs)
        }

        func read(
            _ path: [String], offset: Int64, limit: Int, expecting expected: FileVersion?, growing: Bool
        ) throws(SMBFailure) -> (bytes: [UInt8], version: FileVersion) {
            try take(.readFile, path)
            return try share.read(path, offset: offset, limit: limit, expecting: expected, growing: growing)
        }

        func owners(of path: [String]) throws(SMBFailure) -> Owners { try share.owners(of: path) }

        func confirmed(_ failure: SMBFailure) -> SMBFailure {
            left < 0 ? SMBFailure(cause: .system(EACCES), action: .openShare, path: []) : failure
        }
    }

    private static let recording: RecordedShare.Recording = {
        let text = Array("id\n1\n".utf8)
        let file = RecordedShare.Entry(name: "x.csv", size: text.count, modified: 1)
        var recording = RecordedShare.Recording()
        let names = ["a", "b", "c"]
        recording.folders[""] = RecordedShare.Folder(
            entries: names.map { RecordedShare.Entry(name: $0, isFolder: true) })
        for name in names {
            recording.folders[name] = RecordedShare.Folder(entries: [file])
            recording.files[name + "/x.csv"] = [RecordedShare.Answer(bytes: text, modified: 1)]
        }
        return recording
    }()

    @Test(
        arguments: [
            (["files": "**"], 0), (["files": "**"], 2), (["csv": "**/*.csv"], 2), (["csv": "**/*.csv"], 3),
            (["files": "**", "content": "text"], 2),
        ] as [(Literal, Int)])
    func `a scan whose session ends fails, and takes no path for one that is closed`(
        section: Literal, calls: Int
    ) throws {
        let request = FetchRequest(entity: "Row", section: BridgeOptions(section))
        let share = try LockedShare(Self.recording, calls: calls)
        let error = try bridgeError { _ = try Scan(EntitySection.source(request, share: share)) }
        #expect(error.code == .authentication, "\(error)")
        #expect(error.message.hasPrefix("cannot open the share: "))
    }

    @Test func `the introspection of a share whose session ends fails, too`() throws {
        let share = try LockedShare(Self.recording, calls: 2)
        let error = try bridgeError { _ = try ShareSurvey(share) }
        #expect(error.code == .authentication, "\(error)")
    }
}
