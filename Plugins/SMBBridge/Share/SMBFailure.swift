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

    /// Whether it concerns this one file and not the connection.
    var isOfFile: Bool {
        guard action != .openShare, !isMomentary, !isAccess, !isAbsence else { return action != .openShare }
        switch cause {
        case .system(EINVAL), .system(EISDIR), .system(ENAMETOOLONG), .system(EIO), .system(ELOOP): return true
        default: return false
        }
    }
}

extension Share {
    /// The failure in words.
    ///
    /// libsmbclient gives one `errno` for several causes; whether the share was opened before tells them apart.
    func explain(_ failure: SMBFailure) -> BridgeError {
        let options = self.options
        let name = failure.path.joined(separator: "/")
        let isConnecting = failure.action == .openShare
        let isWriting = [.writeFile, .deleteFile, .moveFile, .makeFolder].contains(failure.action)
        let what = "cannot \(failure.action.rawValue) " + (failure.path.isEmpty ? "the share" : name)
        let location = options.url.location(path: failure.path)
        func error(
            _ code: BridgeError.Code, _ why: String, remedy: String? = nil, isRetryable: Bool = false
        ) -> BridgeError {
            BridgeError(code, "\(what): \(why)", remedy: remedy, location: location, isRetryable: isRetryable)
        }
        if failure.cause == .notEncrypted {
            return error(
                .tls, "the server does not encrypt, and encryption is required",
                remedy: "turn on encryption at the server, or leave out encryption: required")
        }
        if failure.action == .watchFolder,
            [EINVAL, ENOSYS, EOPNOTSUPP].map(SMBFailure.Cause.system).contains(failure.cause)
        {
            return error(
                .unsupported, "the server does not tell of changes", remedy: "ask it from time to time")
        }
        if case .notRecorded(let why) = failure.cause {
            return error(.internal, why, remedy: "record the case again, or correct the exchange")
        }
        guard case .system(let number) = failure.cause else {
            return error(
                .conflict, "it changed while it was \(isWriting ? "written" : "read")",
                remedy: isWriting ? "sync, then write again" : "read it again when nobody writes to it",
                isRetryable: true)
        }
        switch number {
        case EACCES, EPERM:
            if isConnecting {
                return error(
                    .authentication, options.refusal,
                    remedy: "check the options \(options.credentials.optionNames), and who may use the share")
            }
            return error(
                .permission, "the server refuses access",
                remedy: isWriting
                    ? "let the user write it" : "let the user read it, or leave it out of the pattern")
        case ENOENT, ENOTDIR, ENODEV:
            if isConnecting {
                return error(
                    .notFound, "the server has no share \(options.url.share)",
                    remedy: "look at the server's shares: smbclient -L \(options.url.host)")
            }
            return error(.notFound, "there is no such path on the share", remedy: "check the url and the pattern")
        case EINVAL, ENOSYS, EOPNOTSUPP:
            guard isConnecting else {
                guard number == EINVAL else { return error(.unsupported, "the server cannot do that") }
                return error(.configuration, "the server refuses the name")
            }
            if let reason = resolveFailure() {
                return error(
                    .unreachable, "the host \(options.url.host) cannot be resolved (\(reason))",
                    remedy: "check the host's name in the url", isRetryable: true)
            }
            return error(
                .malformed,
                "the server speaks no protocol version from \(options.minimumProtocol) to "
                    + "\(options.maximumProtocol), or refuses the encryption or signing that is asked for",
                remedy: "check min_protocol, max_protocol, encryption and signing")
        case ECONNREFUSED:
            return error(
                .unreachable, "nothing answers at port \(options.url.port ?? 445) of \(options.url.host)",
                remedy: "check the url's port and that the server runs", isRetryable: true)
        case EINPROGRESS:
            return error(
                .unreachable, "no server answers where it leads to",
                remedy: "check the DFS link; its target is asked at port 445 only", isRetryable: true)
        case EHOSTUNREACH, ENETUNREACH, EHOSTDOWN, ENETDOWN:
            return error(
                .unreachable, "no route to \(options.url.host) (\(SMBFailure.words(number)))", isRetryable: true)
        case ETIMEDOUT:
            return error(
                .timeout, "no answer within \(options.timeoutSeconds) s",
                remedy: "check the server, or raise the option timeout", isRetryable: true)
        case ECONNABORTED, ECONNRESET, ENETRESET, EPIPE, ENOTCONN:
            return error(.unreachable, "the server closed the connection", isRetryable: true)
        case EBUSY, ETXTBSY, EAGAIN:
            return error(.remote, "another program holds it locked", isRetryable: true)
        case ENOMEM:
            return error(.internal, "out of memory")
        case ENOSPC, EDQUOT:
            return error(.limit, "there is no room left on the share")
        case EEXIST:
            return error(.conflict, "there is one of that name")
        case ENOTEMPTY:
            return error(.conflict, "the folder is not empty", remedy: "delete what it holds first")
        case EROFS:
            return error(.permission, "the share cannot be written to")
        default:
            return error(.remote, SMBFailure.words(number))
        }
    }

    /// Why the host's name has no address; nil when it has one.
    private func resolveFailure() -> String? {
        let host = options.url.host
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, nil, nil, &list)
        if let list { freeaddrinfo(list) }
        return status == 0 ? nil : String(cString: gai_strerror(status))
    }

}

extension SMBFailure {
    /// What the system calls an `errno`.
    static func words(_ number: Int32) -> String {
        strerror(number).map { String(cString: $0) } ?? "error \(number)"
    }
}
