import CSMBClient
import Glibc
import RecordBatch
internal import TextFormats

/// One name in a folder's listing, with the server's information about it.
struct SMBEntry: Sendable, Equatable {
    /// The prefix of bmo's own unfinished files, which are not records.
    static let temporaryPrefix = ".bmo-tmp-"
    /// The number of bytes that one call reads or writes.
    static let chunkBytes = 4_000_000
    /// FILE_ATTRIBUTE_REPARSE_POINT of [MS-FSCC], section 2.6.
    static let reparsePoint: Int32 = 0x400

    var name: String
    var size: UInt64
    /// File attributes of [MS-FSCC], section 2.6.
    var attributes: UInt16
    /// Microseconds since 1970; nil if the server sent none.
    var modified: Int64?
    var created: Int64?
    var accessed: Int64?
    var changed: Int64?
    /// The server's file id; 0 if it sent none.
    var inode: UInt64

    var isDirectory: Bool { has(SMBC_DOS_MODE_DIRECTORY) }

    func has(_ attribute: Int32) -> Bool { Int32(attributes) & attribute != 0 }

    /// The order of a listing, by the bytes of the names.
    static func precedes(_ first: SMBEntry, _ second: SMBEntry) -> Bool {
        first.name.utf8.lexicographicallyPrecedes(second.name.utf8)
    }

    /// The version to expect when the file is read.
    ///
    /// It omits the inode, because a server's id in a listing may differ from that of an open file.
    var version: FileVersion { FileVersion(size: Int64(clamping: size), modified: modified, inode: 0) }

    /// A number that changes with any of the file's information from the server.
    var fingerprint: UInt64 {
        var fingerprint = Fingerprint()
        let archive = UInt16(truncatingIfNeeded: SMBC_DOS_MODE_ARCHIVE)
        fingerprint.add("\(size) \(modified ?? 0) \(changed ?? 0) \(inode) \(attributes & ~archive)")
        return fingerprint.value
    }
}

/// A folder's listing.
struct SMBListing: Sendable {
    var entries: [SMBEntry] = []
    /// Names that are not UTF-8, repaired for messages.
    var malformedNames: [String] = []
    /// The folder's own entry, `.`, if the server sent it.
    var itself: SMBEntry?

    /// The folder's own file id; 0 if the server sent none.
    var inode: UInt64 { itself?.inode ?? 0 }

    /// A hash of the listing, almost unique per folder; nil for an empty folder.
    var mark: UInt64? {
        guard !entries.isEmpty else { return nil }
        var fingerprint = Fingerprint()
        for entry in [itself].compactMap(\.self) + entries.sorted(by: SMBEntry.precedes) {
            fingerprint.add("\(entry.name)/\(entry.fingerprint) \(entry.created ?? 0)")
            fingerprint.separate()
        }
        return fingerprint.value
    }

    /// The number of ancestors with the same ``mark`` that identify this folder as one of them.
    ///
    /// Creation times never match by chance. Without them, nested folders that each hold only one entry of the same
    /// name have the same mark.
    var likeness: Int { itself?.created == nil ? 8 : 1 }
}

/// The properties that distinguish the states of a file.
struct FileVersion: Sendable, Equatable {
    var size: Int64
    /// Microseconds since 1970.
    var modified: Int64?
    /// The file id; 0 if unknown.
    var inode: UInt64

    /// Whether both may be the same state of the same file.
    func agrees(with other: FileVersion) -> Bool {
        size == other.size && modified == other.modified && isSameFile(as: other)
    }

    /// Whether both may be the same state of the same file, or this one the `earlier` one after something was
    /// appended.
    ///
    /// The time alone may differ: some servers update it later than the size.
    func agrees(with earlier: FileVersion, growing: Bool) -> Bool {
        agrees(with: earlier) || growing && size >= earlier.size && isSameFile(as: earlier)
    }

    private func isSameFile(as other: FileVersion) -> Bool { inode == other.inode || inode == 0 || other.inode == 0 }
}

extension timespec {
    /// Microseconds since 1970, or nil without a time.
    ///
    /// Samba marks a missing time with UTIME_OMIT in the nanoseconds.
    var microseconds: Int64? {
        guard (0..<1_000_000_000).contains(tv_nsec) else { return nil }
        let (value, overflow) = Int64(tv_sec).multipliedReportingOverflow(by: 1_000_000)
        let (sum, overflowedToo) = value.addingReportingOverflow(Int64(tv_nsec / 1000))
        return overflow || overflowedToo ? nil : sum
    }
}

extension timeval {
    /// Creates a time from microseconds since 1970; before 1970, the fraction also counts forward from the second
    /// below.
    init(microseconds: Int64) {
        let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        self.init(tv_sec: Int(rest < 0 ? seconds - 1 : seconds), tv_usec: Int(rest < 0 ? rest + 1_000_000 : rest))
    }
}
