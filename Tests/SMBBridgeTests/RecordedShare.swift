import BridgeKit
import Foundation
import Glibc
import Synchronization

@testable import SMBBridge

/// A share played back from a file, answer by answer: faults come where the recording has them, without a server.
///
/// `folders` has a listing for each path below the share, or an error by its `errno` name; `files` has for each path the
/// answers of one read after the other, of which the last one stays.
final class RecordedShare: Share {
    let options: ShareOptions
    private let recording: Recording
    private var reads: [String: Int] = [:]
    /// What was asked for, in order.
    private(set) var log: [String] = []

    struct Recording: Codable, Equatable {
        var folders: [String: Folder] = [:]
        var files: [String: [Answer]] = [:]
    }

    struct Folder: Codable, Equatable {
        var error: String?
        var entries: [Entry]?
    }

    struct Entry: Codable, Equatable {
        var name: String
        var size: UInt64 = 0
        var isFolder: Bool?
        /// Microseconds since 1970.
        var modified: Int64?
        var changed: Int64?
        var inode: UInt64?
    }

    /// What a file is, or the error that a read of it gives.
    struct Answer: Codable, Equatable {
        var error: String?
        var text: String?
        var base64: String?
        var modified: Int64?

        var bytes: [UInt8] {
            if let base64, let data = Data(base64Encoded: base64) { return Array(data) }
            return Array((text ?? "").utf8)
        }
    }

    static let errors: [String: Int32] = [
        "EACCES": EACCES, "ENOENT": ENOENT, "EBUSY": EBUSY, "ECONNABORTED": ECONNABORTED, "ETIMEDOUT": ETIMEDOUT,
        "EIO": EIO,
    ]

    init(_ recording: Recording) throws {
        self.recording = recording
        options = try ShareOptions(BridgeOptions(["url": "smb://recorded/share", "guest": true]))
    }

    convenience init(contentsOf path: String) throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: path))
        try self.init(JSONDecoder().decode(Recording.self, from: data))
    }

    func list(_ folder: [String]) throws(SMBFailure) -> SMBListing {
        let path = folder.joined(separator: "/")
        log.append("list \(path)")
        let answer = recording.folders[path] ?? Folder(error: "ENOENT")
        if let error = answer.error { throw failure(error, .listFolder, folder) }
        var listing = SMBListing()
        listing.entries = (answer.entries ?? []).map { entry in
            SMBEntry(
                name: entry.name, size: entry.size, attributes: entry.isFolder == true ? 0x10 : 0x20,
                modified: entry.modified, changed: entry.changed, inode: entry.inode ?? 0)
        }
        return listing
    }

    func read(
        _ path: [String], offset: Int64, limit: Int, expecting expected: FileVersion?
    ) throws(SMBFailure) -> (bytes: [UInt8], version: FileVersion) {
        let name = path.joined(separator: "/")
        log.append("read \(name) at \(offset)")
        let answers = recording.files[name] ?? []
        let number = reads[name, default: 0]
        reads[name] = number + 1
        guard let answer = number < answers.count ? answers[number] : answers.last else {
            throw failure("ENOENT", .readFile, path)
        }
        if let error = answer.error { throw failure(error, .readFile, path) }
        let bytes = answer.bytes
        let version = FileVersion(size: Int64(bytes.count), modified: answer.modified, inode: 0)
        if let expected, !expected.agrees(with: version) {
            throw SMBFailure(cause: .changed, action: .readFile, path: path)
        }
        let start = min(Int(offset), bytes.count)
        return (Array(bytes[start..<min(start + limit, bytes.count)]), version)
    }

    func owners(of path: [String]) throws(SMBFailure) -> Owners { Owners(owner: "S-1-5-32-544", group: nil) }

    private func failure(_ error: String, _ action: SMBFailure.Action, _ path: [String]) -> SMBFailure {
        SMBFailure(cause: .system(Self.errors[error] ?? EIO), action: action, path: path)
    }
}

/// Writes down what a share answers, for a ``RecordedShare``.
final class RecordingShare: Share {
    let share: any Share
    var recording = RecordedShare.Recording()
    var options: ShareOptions { share.options }

    init(_ share: any Share) { self.share = share }

    func list(_ folder: [String]) throws(SMBFailure) -> SMBListing {
        let path = folder.joined(separator: "/")
        do throws(SMBFailure) {
            let listing = try share.list(folder)
            recording.folders[path] = RecordedShare.Folder(
                entries: listing.entries.map {
                    RecordedShare.Entry(
                        name: $0.name, size: $0.size, isFolder: $0.isDirectory ? true : nil, modified: $0.modified,
                        changed: $0.changed, inode: $0.inode)
                })
            return listing
        } catch {
            recording.folders[path] = RecordedShare.Folder(error: Self.name(of: error))
            throw error
        }
    }

    func read(
        _ path: [String], offset: Int64, limit: Int, expecting expected: FileVersion?
    ) throws(SMBFailure) -> (bytes: [UInt8], version: FileVersion) {
        let name = path.joined(separator: "/")
        do throws(SMBFailure) {
            let read = try share.read(path, offset: offset, limit: limit, expecting: expected)
            recording.files[name, default: []].append(
                RecordedShare.Answer(base64: Data(read.bytes).base64EncodedString(), modified: read.version.modified))
            return read
        } catch {
            recording.files[name, default: []].append(RecordedShare.Answer(error: Self.name(of: error)))
            throw error
        }
    }

    func owners(of path: [String]) throws(SMBFailure) -> Owners { try share.owners(of: path) }

    private static func name(of failure: SMBFailure) -> String {
        guard case .system(let number) = failure.cause else { return "EIO" }
        return RecordedShare.errors.first { $0.value == number }?.key ?? "EIO"
    }
}
