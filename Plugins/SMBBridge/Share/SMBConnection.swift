import BridgeKit
import CSMBClient
import Glibc
import SystemCalls

/// One libsmbclient context, and with it the connection to one share.
///
/// libsmbclient 4.17 shares state between contexts without locks, so all calls of the process take one lock; a call may
/// come from any thread. Its log, protocol range and configuration are global, too, so each context sets them before it
/// calls.
final class SMBConnection: Share, @unchecked Sendable {
    // `context` is created in `init` and freed in `deinit`; in between, like `hasOpenedShare` and `isUnencrypted`, it
    // is used only inside `library.withLock`.
    let options: ShareOptions
    /// The context; nil in a replay, which does not need the library.
    private let context: UnsafeMutablePointer<SMBCCTX>?
    private let host: BridgeContext
    /// The tape that records or replays calls.
    var tape: ExchangeTape? { host.exchange }
    /// Why the recording could not be written, the first time; then it lacks exchanges, so no call goes on.
    let recordingFault = Mutex<String?>(nil)
    /// When the user was last known to be signed in, on the monotonic clock; nil before the first refusal.
    let lastConfirmation = Mutex<UInt64?>(nil)
    private var hasOpenedShare = false
    /// Whether libsmbclient reported that required encryption failed.
    private var isUnencrypted = false
    private let deadline: CallDeadline

    /// The lock, with the connection whose global settings are in effect.
    private static let library = Mutex<ObjectIdentifier?>(nil)

    /// Creates a context; does not connect.
    init(_ options: ShareOptions, context host: BridgeContext) throws {
        self.options = options
        self.host = host
        // libsmbclient takes a cache only from the environment of its process.
        if case .kerberos(let cache?, _, _) = options.credentials { setenv("KRB5CCNAME", cache, 1) }
        deadline = CallDeadline(port: options.url.port ?? 445, seconds: options.timeoutSeconds * 2)
        guard host.exchange?.isReplaying != true else {
            context = nil
            return
        }
        let made = Self.library.withLock { owner -> UInt? in
            owner = nil
            // A connection that the server closed must cause an error, not a signal.
            var action = sigaction()
            if sigaction(SIGPIPE, nil, &action) == 0, action.__sigaction_handler.sa_handler == nil {
                signal(SIGPIPE, SIG_IGN)
            }
            guard let context = smbc_new_context() else { return nil }
            smbc_setOptionDebugToStderr(context, 1)
            smbc_setDebug(context, 0)
            guard smbc_init_context(context) != nil else {
                smbc_free_context(context, 1)
                return nil
            }
            return UInt(bitPattern: context)
        }
        guard let context = made.flatMap({ UnsafeMutablePointer<SMBCCTX>(bitPattern: $0) }) else {
            throw BridgeError(
                .internal, "libsmbclient cannot create a context: \(SMBFailure.words(errno))",
                remedy: "check that HOME and the temporary folder exist")
        }
        self.context = context
        Self.library.withLock { _ in configure(context) }
    }

    deinit {
        guard let context else { return }
        Self.library.withLock { owner in
            smbc_setLogCallback(context, nil, Self.forwardLog)
            owner = nil
            smbc_free_context(context, 1)
        }
    }

    /// Runs `body` with the context, exclusively among all libsmbclient calls.
    func withContext<Result: Sendable>(
        _ body: (UnsafeMutablePointer<SMBCCTX>) throws(SMBFailure) -> Result
    ) throws(SMBFailure) -> Result {
        guard let context else { throw SMBFailure(cause: .system(ENOTCONN), action: .openShare, path: []) }
        return try Self.library.withLock { owner throws(SMBFailure) in
            if owner != ObjectIdentifier(self) {
                claimGlobals(context)
                owner = ObjectIdentifier(self)
            }
            deadline.begin()
            let result = try encrypting { () -> Swift.Result<Result, SMBFailure> in
                Swift.Result { () throws(SMBFailure) in try body(context) }
            }
            let isOver = deadline.end()
            do throws(SMBFailure) {
                return try result.get()
            } catch {
                guard isOver else { throw error }
                throw SMBFailure(cause: .system(ETIMEDOUT), action: error.action, path: error.path)
            }
        }
    }

    /// Runs `body`, and throws if libsmbclient continued without the required encryption.
    private func encrypting<Value>(_ body: () -> Value) throws(SMBFailure) -> Value {
        guard options.encryption == .required else { return body() }
        if isUnencrypted { throw SMBFailure(cause: .notEncrypted, action: .openShare, path: []) }
        var value: Value?
        let words = CapturedOutput.during { value = body() } ?? ""
        // libsmbclient prints it once, and keeps the connection.
        if words.contains("Encryption required") { isUnencrypted = true }
        guard let value, !isUnencrypted else {
            _ = deadline.end()
            throw SMBFailure(cause: .notEncrypted, action: .openShare, path: [])
        }
        if !words.isEmpty { host.log(.debug, "libsmbclient: \(words)") }
        return value
    }

    /// Reports the progress of a long call.
    func isGettingOn() { deadline.begin() }

    /// Connects, signs in, and reads the attributes of the share's root; does nothing once this has succeeded.
    ///
    /// This is a separate first step, so that a later refusal concerns a path instead of the user, without a second
    /// sign-in attempt that would count towards a lockout.
    func connect() throws(SMBFailure) {
        let url = options.url.encoded([])
        try withContext { context throws(SMBFailure) in
            guard !hasOpenedShare else { return }
            var status = stat()
            let look = smbc_getFunctionStat(context)
            let (result, number) = url.withCString { (look?(context, $0, &status) ?? -1, errno) }
            guard result == 0 else {
                throw SMBFailure(cause: .system(number), action: .openShare, path: [])
            }
            hasOpenedShare = true
        }
    }

    private func configure(_ context: UnsafeMutablePointer<SMBCCTX>) {
        smbc_setOptionUserData(context, Unmanaged.passUnretained(self).toOpaque())
        smbc_setFunctionAuthDataWithContext(context, Self.authenticate)
        smbc_setTimeout(context, Int32(options.timeoutSeconds * 1000))
        // Without a port, libsmbclient also tries port 139 of NetBIOS.
        smbc_setPort(context, options.url.port ?? 445)
        var usesKerberos = false
        if case .kerberos = options.credentials { usesKerberos = true }
        smbc_setOptionUseKerberos(context, usesKerberos ? 1 : 0)
        smbc_setOptionFallbackAfterKerberos(context, 0)
        // Otherwise a wrong password yields a guest's view of the share.
        smbc_setOptionNoAutoAnonymousLogin(context, options.credentials == .guest ? 0 : 1)
        smbc_setOptionUrlEncodeReaddirEntries(context, 0)
        switch options.encryption {
        case .standard: break
        case .preferred: smbc_setOptionSmbEncryptionLevel(context, SMBC_ENCRYPTLEVEL_REQUEST)
        case .required: smbc_setOptionSmbEncryptionLevel(context, SMBC_ENCRYPTLEVEL_REQUIRE)
        }
        claimGlobals(context)
    }

    private func claimGlobals(_ context: UnsafeMutablePointer<SMBCCTX>) {
        smbc_setLogCallback(context, Unmanaged.passUnretained(self).toOpaque(), Self.forwardLog)
        if !ClientConfiguration.load(options, into: context) {
            host.log(
                .warning, "libsmbclient's settings cannot be written to a temporary file: signing keeps its default")
        }
        _ = smbc_setOptionProtocols(context, options.minimumProtocol, options.maximumProtocol)
    }

    private static let forwardLog: smbc_debug_callback_fn = { owner, _, message in
        guard let owner, let message else { return }
        let connection = Unmanaged<SMBConnection>.fromOpaque(owner).takeUnretainedValue()
        connection.host.log(.debug, "libsmbclient: " + String(cString: message))
    }

    private static let authenticate: smbc_get_auth_data_with_context_fn = {
        context, _, _, domain, domainSize, user, userSize, password, passwordSize in
        guard let owner = smbc_getOptionUserData(context) else { return }
        let options = Unmanaged<SMBConnection>.fromOpaque(owner).takeUnretainedValue().options
        let (name, secret, realm): (String, String, String?) =
            switch options.credentials {
            case .password(let user, let password, let domain): (user, password, domain)
            case .guest: ("", "", nil)
            case .kerberos(_, let user, let domain): (user, "", domain)
            }
        if let realm { copy(realm, to: domain, size: domainSize) }
        // With Kerberos, the ticket tells who the user is. libsmbclient signs in anonymously if the name is empty, so
        // its own default stays.
        if case .kerberos = options.credentials, name.isEmpty {} else { copy(name, to: user, size: userSize) }
        copy(secret, to: password, size: passwordSize)
    }

    private static func copy(_ text: String, to target: UnsafeMutablePointer<CChar>?, size: Int32) {
        guard let target, size > 0 else { return }
        let count = min(text.utf8.count, Int(size) - 1)
        for (index, byte) in text.utf8.prefix(count).enumerated() { target[index] = CChar(bitPattern: byte) }
        target[count] = 0
    }
}
