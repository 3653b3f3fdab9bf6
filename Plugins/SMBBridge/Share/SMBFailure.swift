import BridgeKit
import Glibc

/// A call of libsmbclient that failed.
struct SMBFailure: Error, Equatable {
    enum Cause: Equatable {
        /// What libsmbclient left in `errno`.
        case system(Int32)
        /// The file is not the one that was listed, or changed while it was read.
        case changed
        /// The server does not encrypt, which is required.
        case notEncrypted
        /// A replay has no answer; with the reason.
        case notRecorded(String)
    }

    enum Action: String {
        case openShare = "open"
        case listFolder = "list"
        case readFile = "read"
        case writeFile = "write"
        case deleteFile = "delete"
        case moveFile = "move"
        case makeFolder = "make the folder"
        case readOwners = "read the owners of"
        case watchFolder = "watch"
    }

    let cause: Cause
    /// What was attempted.
    let action: Action
    /// Components below the share.
    let path: [String]

    /// Whether the server refuses this user, or this user is wrong: it does not say which.
    var isAccess: Bool { cause == .system(EACCES) || cause == .system(EPERM) }

    /// Whether there is nothing of that name.
    var isAbsence: Bool { cause == .system(ENOENT) || cause == .system(ENOTDIR) }

    /// Whether the file moved or is in use: the next moment may be better.
    var isMomentary: Bool {
        switch cause {
        case .changed, .system(EBUSY), .system(ETXTBSY), .system(EAGAIN): true
        default: false
        }
    }

    /// Whether it was about to change something.
    var isOfWriting: Bool { [.writeFile, .deleteFile, .moveFile, .makeFolder].contains(action) }

    /// Whether it concerns this one file and not the connection.
    var isOfFile: Bool {
        guard action != .openShare, !isMomentary, !isAccess, !isAbsence else { return action != .openShare }
        switch cause {
        case .system(EINVAL), .system(EISDIR), .system(ENAMETOOLONG), .system(EIO), .system(ELOOP): return true
        default: return false
        }
    }
}

extension SMBFailure {
    /// What the system calls an `errno`.
    static func words(_ number: Int32) -> String {
        strerror(number).map { String(cString: $0) } ?? "error \(number)"
    }
}
