import BridgeKit
import Glibc

/// A failed call of libsmbclient.
struct SMBFailure: Error, Equatable {
    enum Cause: Equatable {
        /// The `errno` from libsmbclient.
        case system(Int32)
        /// The file differs from the listed one, or changed while it was read.
        case changed
        /// The server does not support the required encryption.
        case notEncrypted
        /// A replay has no reply, for the given reason.
        case notRecorded(String)
        /// The recording could not be written, for the given reason.
        case notWritten(String)
    }

    enum Action: String {
        case openShare = "open"
        case listFolder = "list"
        case readFile = "read"
        case writeFile = "write"
        case deleteFile = "delete"
        case moveFile = "move"
        case makeFolder = "make the folder"
        case makeFile = "make a file in"
        case readOwners = "read the owners of"
        case watchFolder = "watch"
    }

    let cause: Cause
    /// The attempted action.
    let action: Action
    /// Components below the share.
    let path: [String]

    /// Whether the server refuses this user, or the sign-in is wrong: the server does not say which.
    var isAccess: Bool { cause == .system(EACCES) || cause == .system(EPERM) }

    /// Whether the name does not exist.
    var isAbsence: Bool { cause == .system(ENOENT) || cause == .system(ENOTDIR) }

    /// Whether libsmbclient refuses a folder's listing because of one name, which hides all others in the folder.
    ///
    /// It accepts no name with a slash or a backslash, and no invalid UTF-16, which NTFS allows.
    var isOfListedName: Bool { cause == .system(EINVAL) && action == .listFolder }

    /// Whether the file is changing or in use, so that a retry may succeed.
    var isMomentary: Bool {
        switch cause {
        case .changed, .system(EBUSY), .system(ETXTBSY), .system(EAGAIN): true
        default: false
        }
    }

    /// Whether more changed than the server keeps for a watch.
    ///
    /// STATUS_NOTIFY_ENUM_DIR ([MS-SMB2], section 3.3.4.4) is not an error, so libsmbclient has no `errno` for it.
    var isOverflow: Bool { cause == .system(0) && action == .watchFolder }

    /// Whether the call was a change.
    var isOfWriting: Bool { [.writeFile, .deleteFile, .moveFile, .makeFolder, .makeFile].contains(action) }

    /// Whether the failure concerns this file rather than the connection.
    var isOfFile: Bool {
        guard action != .openShare, !isMomentary, !isAccess, !isAbsence else { return action != .openShare }
        switch cause {
        case .system(EINVAL), .system(EISDIR), .system(ENAMETOOLONG), .system(EIO), .system(ELOOP): return true
        default: return false
        }
    }
}

extension SMBFailure {
    /// Returns the system's text for an `errno`.
    static func words(_ number: Int32) -> String {
        strerror(number).map { String(cString: $0) } ?? "error \(number)"
    }
}
