import BridgeKit
import Glibc

extension Share {
    /// Returns the failure as an error for people.
    ///
    /// libsmbclient uses one `errno` for several causes; whether the share was opened before distinguishes them.
    func explain(_ failure: SMBFailure) -> BridgeError {
        let found = explanation(failure)
        let what = failure.path.isEmpty ? "the share" : failure.path.joined(separator: "/")
        // The server may have done what it did not answer.
        let isLost = failure.isOfWriting && [BridgeError.Code.timeout, .unreachable].contains(found.code)
        return BridgeError(
            found.code, "cannot \(failure.action.rawValue) \(what): \(found.why)", remedy: found.remedy,
            location: options.url.location(path: failure.path), isRetryable: found.isRetryable, mayHaveArrived: isLost)
    }

    private func explanation(_ failure: SMBFailure) -> Explanation {
        switch failure.cause {
        case .notEncrypted: return .notEncrypted
        case .notRecorded(let why):
            return Explanation(.internal, why, remedy: "record the case again, or correct the exchange")
        case .notWritten(let why):
            return Explanation(
                .internal, "the recording cannot be written: \(why)",
                remedy: "check the space and the permissions of the recording's folder, and record again")
        case .changed:
            return Explanation(
                .conflict, "it changed while it was \(failure.isOfWriting ? "written" : "read")",
                remedy: failure.isOfWriting ? "sync, then write again" : "read it again when no program writes to it",
                isRetryable: true)
        case .system(let number):
            return explanation(number, failure)
                ?? Explanation.ofEach[number] ?? Explanation(.remote, SMBFailure.words(number))
        }
    }

    /// Returns the meaning of a number for this share and call; nil for its general meaning.
    private func explanation(_ number: Int32, _ failure: SMBFailure) -> Explanation? {
        let url = options.url
        switch number {
        case EACCES, EPERM: return refusal(failure)
        case 0 where failure.isOverflow:
            return Explanation(.remote, "each time, more changed at once than the server keeps", isRetryable: true)
        case ENOENT, ENOTDIR, ENODEV:
            guard failure.action == .openShare else { return nil }
            return Explanation(
                .notFound, "the server has no share \(url.share)",
                remedy: "look at the server's shares: smbclient -L \(url.host)")
        case EINVAL, ENOSYS, EOPNOTSUPP:
            if failure.action == .watchFolder { return .noChanges }
            if failure.isOfListedName { return .refusedName }
            return failure.action == .openShare ? noCommonProtocol() : nil
        case ECONNREFUSED:
            return Explanation(
                .unreachable, "no server answers at port \(url.port ?? 445) of \(url.host)",
                remedy: "check the url's port and that the server runs", isRetryable: true)
        case EHOSTUNREACH, ENETUNREACH, EHOSTDOWN, ENETDOWN:
            return Explanation(
                .unreachable, "no route to \(url.host) (\(SMBFailure.words(number)))", isRetryable: true)
        case ETIMEDOUT:
            return Explanation(
                .timeout, "no answer within \(options.timeoutSeconds) s",
                remedy: "check the server, or raise the option timeout", isRetryable: true)
        default: return nil
        }
    }

    private func refusal(_ failure: SMBFailure) -> Explanation {
        guard failure.action == .openShare else {
            return Explanation(
                .permission, "the server refuses access",
                remedy: failure.isOfWriting
                    ? "allow the user to write it" : "allow the user to read it, or exclude it in the pattern")
        }
        return Explanation(
            .authentication, options.refusal,
            remedy: "check the options \(options.credentials.optionNames), and who may use the share")
    }

    private func noCommonProtocol() -> Explanation {
        if let reason = resolveFailure() {
            return Explanation(
                .unreachable, "the host \(options.url.host) cannot be resolved (\(reason))",
                remedy: "check the host's name in the url", isRetryable: true)
        }
        let mismatch =
            "the server speaks no protocol version from \(options.minimumProtocol) to \(options.maximumProtocol), or "
            + "refuses the requested encryption or signing"
        // libsmbclient reports a lacking ticket alike (NT_STATUS_INVALID_PARAMETER).
        if case .kerberos = options.credentials {
            return Explanation(
                .authentication, "no valid Kerberos ticket, or \(mismatch)",
                remedy: "check the options \(options.credentials.optionNames), min_protocol, max_protocol, "
                    + "encryption and signing")
        }
        return Explanation(.malformed, mismatch, remedy: "check min_protocol, max_protocol, encryption and signing")
    }

    /// Returns the reason why the host's name has no address; nil if it has one.
    private func resolveFailure() -> String? {
        let host = options.url.host
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, nil, nil, &list)
        if let list { freeaddrinfo(list) }
        return status == 0 ? nil : String(cString: gai_strerror(status))
    }
}

extension SMBFailure {
    static let refusedNameWords =
        "its name, or one in it, is not one that libsmbclient accepts (a backslash, or broken UTF-16), and it has no other"
}

/// The meaning of a failure, and its remedy.
private struct Explanation {
    let code: BridgeError.Code
    let why: String
    let remedy: String?
    let isRetryable: Bool

    init(_ code: BridgeError.Code, _ why: String, remedy: String? = nil, isRetryable: Bool = false) {
        self.code = code
        self.why = why
        self.remedy = remedy
        self.isRetryable = isRetryable
    }

    static let notEncrypted = Explanation(
        .tls, "the server does not encrypt, and encryption is required",
        remedy: "turn on encryption on the server, or leave out encryption: required")

    static let noChanges = Explanation(
        .unsupported, "the server does not report changes", remedy: "poll it instead")

    static let refusedName = Explanation(
        .remote, SMBFailure.refusedNameWords, remedy: "rename it on the server, or name other folders in the pattern")

    /// The meaning of the numbers on any open share.
    static let ofEach: [Int32: Explanation] = {
        let table: [([Int32], Explanation)] = [
            (
                [ENOENT, ENOTDIR, ENODEV],
                Explanation(
                    .notFound, "there is no such path on the share", remedy: "check the url and the pattern")
            ),
            ([EINVAL], Explanation(.configuration, "the server refuses the name")),
            ([ENOSYS, EOPNOTSUPP], Explanation(.unsupported, "the server cannot do that")),
            (
                [EINPROGRESS],
                Explanation(
                    .unreachable, "no server answers at its target",
                    remedy: "check the DFS link; its target is contacted at port 445 only", isRetryable: true)
            ),
            (
                [ECONNABORTED, ECONNRESET, ENETRESET, EPIPE, ENOTCONN],
                Explanation(.unreachable, "the server closed the connection", isRetryable: true)
            ),
            (
                [EBUSY, ETXTBSY, EAGAIN],
                Explanation(.remote, "another program has locked it", isRetryable: true)
            ),
            ([ENOMEM], Explanation(.internal, "out of memory")),
            ([ENOSPC, EDQUOT], Explanation(.limit, "no space is left on the share")),
            ([EEXIST], Explanation(.conflict, "one of that name already exists")),
            (
                [ENOTEMPTY],
                Explanation(.remote, "the folder is not empty", remedy: "delete its contents first")
            ),
            ([EROFS], Explanation(.permission, "the share cannot be written to")),
        ]
        return Dictionary(
            table.flatMap { numbers, found in numbers.map { ($0, found) } }, uniquingKeysWith: { first, _ in first })
    }()
}
