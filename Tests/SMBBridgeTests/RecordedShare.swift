import BridgeKit
import Glibc
import RecordBatch
import RowFormats
import TestLiterals
import TextFormats

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

    struct Recording: Sendable {
        var folders: [String: Folder] = [:]
        var files: [String: [Answer]] = [:]
    }

    struct Folder: Sendable {
        var error: String?
        var entries: [Entry] = []
    }

    struct Entry: Sendable {
        var name: String
        var size = 0
        var isFolder = false
        /// Microseconds since 1970.
        var modified: Int?
        var changed: Int?
        var inode = 0
        var attributes: UInt16?
    }

    /// What a file is, or the error that a read of it gives.
    struct Answer: Sendable {
        var error: String?
        var bytes: [UInt8] = []
        var modified: Int?
    }

    static let errors: [String: Int32] = [
        "EACCES": EACCES, "ENOENT": ENOENT, "EBUSY": EBUSY, "ECONNABORTED": ECONNABORTED, "ETIMEDOUT": ETIMEDOUT,
        "EIO": EIO, "EINPROGRESS": EINPROGRESS,
    ]

    init(_ recording: Recording) throws {
        self.recording = recording
        options = try ShareOptions(BridgeOptions(["url": "smb://recorded/share", "guest": true]))
    }

    /// A recording as JSON.
    convenience init(json: [UInt8]) throws { try self.init(Recording(json: json)) }

    func list(_ folder: [String], fileIDs: Bool) throws(SMBFailure) -> SMBListing {
        let path = folder.joined(separator: "/")
        log.append("list \(path)")
        let answer = recording.folders[path] ?? Folder(error: "ENOENT")
        if let error = answer.error { throw failure(error, .listFolder, folder) }
        var listing = SMBListing()
        listing.entries = answer.entries.map { entry in
            SMBEntry(
                name: entry.name, size: UInt64(entry.size),
                attributes: entry.attributes ?? (entry.isFolder ? 0x10 : 0x20),
                modified: entry.modified.map(Int64.init), changed: entry.changed.map(Int64.init),
                inode: UInt64(entry.inode))
        }
        return listing
    }

    func read(
        _ path: [String], offset: Int64, limit: Int, expecting expected: FileVersion?, growing: Bool
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
        let version = FileVersion(size: Int64(bytes.count), modified: answer.modified.map(Int64.init), inode: 0)
        if let expected, !version.agrees(with: expected, growing: growing) {
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

extension RecordedShare.Recording {
    init(json: [UInt8]) throws {
        guard let root = try JSONObject.parse(json) else { throw SMBServer.Failure(description: "no JSON object") }
        let folders = root.object("folders") ?? .empty
        for path in folders.names {
            guard let folder = folders.object(path) else { continue }
            self.folders[path] = RecordedShare.Folder(
                error: folder.string("error"),
                entries: folder.objects("entries").map { entry in
                    RecordedShare.Entry(
                        name: entry.string("name") ?? "", size: entry.integer("size") ?? 0,
                        isFolder: entry.bool("isFolder") ?? false, modified: entry.integer("modified"),
                        changed: entry.integer("changed"), inode: entry.integer("inode") ?? 0)
                })
        }
        let files = root.object("files") ?? .empty
        for path in files.names {
            self.files[path] = files.objects(path).map { answer in
                RecordedShare.Answer(
                    error: answer.string("error"),
                    bytes: answer.string("base64").flatMap(Base64.decode) ?? Array((answer.string("text") ?? "").utf8),
                    modified: answer.integer("modified"))
            }
        }
    }

    /// The recording as JSON.
    var json: String {
        RecordBatchWriter.json { writer in
            writer.key("folders")
            writer.object {
                for (path, folder) in folders {
                    writer.key(path)
                    writer.object {
                        writer.member("error", folder.error)
                        writer.key("entries")
                        writer.array {
                            for entry in folder.entries {
                                writer.object {
                                    writer.member("name", entry.name)
                                    writer.member("size", entry.size)
                                    writer.member("isFolder", entry.isFolder)
                                    writer.member("modified", entry.modified)
                                    writer.member("changed", entry.changed)
                                    writer.member("inode", entry.inode)
                                }
                            }
                        }
                    }
                }
            }
            writer.key("files")
            writer.object {
                for (path, answers) in files {
                    writer.key(path)
                    writer.array {
                        for answer in answers {
                            writer.object {
                                writer.member("error", answer.error)
                                writer.member("base64", answer.bytes.withUnsafeBytes { Base64.encode($0) })
                                writer.member("modified", answer.modified)
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Writes down what a share answers, for a ``RecordedShare``.
final class RecordingShare: Share {
    let share: any Share
    var recording = RecordedShare.Recording()
    var options: ShareOptions { share.options }

    init(_ share: any Share) { self.share = share }

    func list(_ folder: [String], fileIDs: Bool) throws(SMBFailure) -> SMBListing {
        let path = folder.joined(separator: "/")
        do throws(SMBFailure) {
            let listing = try share.list(folder)
            recording.folders[path] = RecordedShare.Folder(
                entries: listing.entries.map {
                    RecordedShare.Entry(
                        name: $0.name, size: Int($0.size), isFolder: $0.isDirectory,
                        modified: $0.modified.map(Int.init),
                        changed: $0.changed.map(Int.init), inode: Int($0.inode))
                })
            return listing
        } catch {
            recording.folders[path] = RecordedShare.Folder(error: Self.name(of: error))
            throw error
        }
    }

    func read(
        _ path: [String], offset: Int64, limit: Int, expecting expected: FileVersion?, growing: Bool
    ) throws(SMBFailure) -> (bytes: [UInt8], version: FileVersion) {
        let name = path.joined(separator: "/")
        do throws(SMBFailure) {
            let read = try share.read(path, offset: offset, limit: limit, expecting: expected, growing: growing)
            recording.files[name, default: []].append(
                RecordedShare.Answer(bytes: read.bytes, modified: read.version.modified.map(Int.init)))
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
