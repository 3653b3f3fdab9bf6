import BridgeKit
import Glibc
import RecordBatch

/// Encodes and decodes a share's reply for a recording.
struct ShareCoding<Value> {
    let write: (Value) -> ([Exchange.Field], [UInt8])
    let read: ([Exchange.Field], [UInt8]) -> Value?
}

extension ShareCoding where Value == Never {
    /// The names of the errors that a share may return.
    private static var numbers: [(word: String, number: Int32)] {
        [
            ("EPERM", EPERM), ("ENOENT", ENOENT), ("EIO", EIO), ("EAGAIN", EAGAIN), ("ENOMEM", ENOMEM),
            ("EACCES", EACCES),
            ("EBUSY", EBUSY), ("EEXIST", EEXIST), ("ENODEV", ENODEV), ("ENOTDIR", ENOTDIR), ("EISDIR", EISDIR),
            ("EINVAL", EINVAL), ("ETXTBSY", ETXTBSY), ("ENOSPC", ENOSPC), ("EROFS", EROFS), ("EPIPE", EPIPE),
            ("ENAMETOOLONG", ENAMETOOLONG), ("ENOSYS", ENOSYS), ("ENOTEMPTY", ENOTEMPTY), ("ELOOP", ELOOP),
            ("EOPNOTSUPP", EOPNOTSUPP), ("ECONNABORTED", ECONNABORTED), ("ECONNRESET", ECONNRESET),
            ("ENETRESET", ENETRESET),
            ("ENOTCONN", ENOTCONN), ("ETIMEDOUT", ETIMEDOUT), ("ECONNREFUSED", ECONNREFUSED),
            ("EHOSTDOWN", EHOSTDOWN), ("EHOSTUNREACH", EHOSTUNREACH), ("ENETUNREACH", ENETUNREACH), ("EDQUOT", EDQUOT),
        ]
    }

    static func word(for cause: SMBFailure.Cause) -> String {
        switch cause {
        case .system(let number): numbers.first { $0.number == number }?.word ?? "errno \(number)"
        case .changed: "changed"
        case .notEncrypted: "not encrypted"
        case .notRecorded: "not recorded"
        case .notWritten: "not written"
        }
    }

    static func cause(of word: String) -> SMBFailure.Cause {
        switch word {
        case "changed": .changed
        case "not encrypted": .notEncrypted
        default:
            .system(numbers.first { $0.word == word }?.number ?? Int32(word.split(separator: " ").last ?? "") ?? EIO)
        }
    }
}

extension ShareCoding where Value == Void {
    static var nothing: ShareCoding { ShareCoding(write: { _ in ([], []) }, read: { _, _ in () }) }
}

extension ShareCoding where Value == FilePart {
    static var part: ShareCoding {
        ShareCoding(
            write: { part in
                let version = part.version
                let fields = [
                    Exchange.Field("size", "\(version.size)"), Exchange.Field("inode", "\(version.inode)"),
                    Exchange.Field("modified", version.modified.map { "\($0)" } ?? "unknown"),
                ]
                return (fields, part.bytes)
            },
            read: { fields, bytes in
                func number(_ name: String) -> Int64? {
                    fields.first { $0.name == name }.flatMap { Int64($0.value) }
                }
                guard let size = number("size") else { return nil }
                let version = FileVersion(
                    size: size, modified: number("modified"), inode: UInt64(clamping: number("inode") ?? 0))
                return FilePart(bytes: bytes, version: version)
            })
    }
}

extension ShareCoding where Value == Owners {
    static var owners: ShareCoding {
        ShareCoding(
            write: { owners in
                let json = RecordBatchWriter.json { writer in
                    if let owner = owners.owner { writer.member("owner", owner) }
                    if let group = owners.group { writer.member("group", group) }
                }
                return ([], Array(json.utf8))
            },
            read: { _, bytes in
                ShareJSON.object(bytes).map { Owners(owner: $0.string("owner"), group: $0.string("group")) }
            })
    }
}

extension ShareCoding where Value == SMBEntry? {
    static var status: ShareCoding {
        ShareCoding(
            write: { entry in
                let json = RecordBatchWriter.json { writer in
                    if let entry { ShareJSON.write(entry, to: writer) }
                }
                return ([], Array(json.utf8))
            },
            read: { _, bytes in
                // Two levels of optional: a reply may say that the name does not exist.
                ShareJSON.object(bytes).map { $0.has("name") ? ShareJSON.entry($0) : nil }
            })
    }
}

extension ShareCoding where Value == SMBListing {
    static var listing: ShareCoding {
        ShareCoding(
            write: { listing in
                let json = RecordBatchWriter.json { writer in
                    if let itself = listing.itself {
                        writer.key("itself")
                        writer.object { ShareJSON.write(itself, to: writer) }
                    }
                    writer.key("entries")
                    writer.array {
                        // Servers guarantee no order, but a recording should have one.
                        for entry in listing.entries.sorted(by: SMBEntry.precedes) {
                            writer.object { ShareJSON.write(entry, to: writer) }
                        }
                    }
                    if !listing.malformedNames.isEmpty {
                        writer.key("malformed")
                        writer.array { for name in listing.malformedNames { writer.text(name) } }
                    }
                }
                return ([], Array(json.utf8))
            },
            read: { _, bytes in
                ShareJSON.object(bytes).map { object in
                    SMBListing(
                        entries: object.objects("entries").map(ShareJSON.entry),
                        malformedNames: object.strings("malformed"),
                        itself: object.object("itself").map(ShareJSON.entry))
                }
            })
    }
}

/// The server's information about a name, as JSON; times are microseconds since 1970.
private enum ShareJSON {
    static func object(_ bytes: [UInt8]) -> BridgeOptions? {
        BridgeOptions(json: String(decoding: bytes, as: UTF8.self))
    }

    static func write(_ entry: SMBEntry, to writer: RecordBatchWriter) {
        writer.member("name", entry.name)
        writer.member("size", Int(clamping: entry.size))
        writer.member("attributes", Int(entry.attributes))
        for (name, time) in [
            ("modified", entry.modified), ("created", entry.created), ("accessed", entry.accessed),
            ("changed", entry.changed),
        ] {
            if let time { writer.member(name, Int(time)) }
        }
        writer.member("inode", Int(truncatingIfNeeded: entry.inode))
    }

    static func entry(_ object: BridgeOptions) -> SMBEntry {
        func time(_ name: String) -> Int64? { object.integer(name).map(Int64.init) }
        return SMBEntry(
            name: object.string("name") ?? "", size: UInt64(clamping: object.integer("size") ?? 0),
            attributes: UInt16(clamping: object.integer("attributes") ?? 0), modified: time("modified"),
            created: time("created"), accessed: time("accessed"), changed: time("changed"),
            inode: UInt64(bitPattern: Int64(object.integer("inode") ?? 0)))
    }
}
