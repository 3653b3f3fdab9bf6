import CSMBClient
import Glibc
import RecordBatch

/// One name of a folder's listing, with all that the server said about it.
struct SMBEntry: Sendable, Equatable {
    var name: String
    var size: UInt64
    /// File attributes of [MS-FSCC], section 2.6.
    var attributes: UInt16
    /// Microseconds since 1970; nil where the server gave none.
    var modified: Int64?
    var created: Int64?
    var accessed: Int64?
    var changed: Int64?
    /// The server's file id; 0 where it gave none.
    var inode: UInt64

    var isDirectory: Bool { has(SMBC_DOS_MODE_DIRECTORY) }

    func has(_ attribute: Int32) -> Bool { Int32(attributes) & attribute != 0 }

    /// The version to expect when the file is read.
    ///
    /// Without the inode: servers need not give the same id in a listing as for an open file.
    var version: FileVersion { FileVersion(size: Int64(clamping: size), modified: modified, inode: 0) }

    /// A number that is another as soon as anything moved that the server tells of the file.
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
    /// The folder's own entry, `.`, where the server gave one.
    var itself: SMBEntry?

    /// The folder's own file id; 0 where the server gave none.
    var inode: UInt64 { itself?.inode ?? 0 }
}

/// What tells one state of a file from another.
struct FileVersion: Sendable, Equatable {
    var size: Int64
    /// Microseconds since 1970.
    var modified: Int64?
    /// 0 where unknown.
    var inode: UInt64

    /// Whether both can be the same state of the same file.
    func agrees(with other: FileVersion) -> Bool {
        size == other.size && modified == other.modified && (inode == other.inode || inode == 0 || other.inode == 0)
    }
}

extension timespec {
    /// Microseconds since 1970, or nil where there is no time.
    ///
    /// Samba marks a time that the server left out with UTIME_OMIT in the nanoseconds.
    var microseconds: Int64? {
        guard (0..<1_000_000_000).contains(tv_nsec) else { return nil }
        let (value, overflow) = Int64(tv_sec).multipliedReportingOverflow(by: 1_000_000)
        let (sum, overflowedToo) = value.addingReportingOverflow(Int64(tv_nsec / 1000))
        return overflow || overflowedToo ? nil : sum
    }
}

extension timeval {
    /// Microseconds since 1970: of a time before, too, the fraction counts forward from the second below.
    init(microseconds: Int64) {
        let (seconds, rest) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
        self.init(tv_sec: Int(rest < 0 ? seconds - 1 : seconds), tv_usec: Int(rest < 0 ? rest + 1_000_000 : rest))
    }
}
