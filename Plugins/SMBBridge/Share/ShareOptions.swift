import BridgeKit

/// Who signs in to a share.
enum Credentials: Sendable, Equatable {
    case password(user: String, password: String, domain: String?)
    /// Nobody: only when the config asks for it.
    case guest
    /// Whoever holds the ticket in the cache; nil takes the system's default cache.
    case kerberos(cache: String?, user: String, domain: String?)

    /// In a message on a successful connection.
    var words: String {
        switch self {
        case .password(let user, _, _): "as \(user)"
        case .guest: "as a guest"
        case .kerberos(_, let user, _): user.isEmpty ? "with Kerberos" : "as \(user) with Kerberos"
        }
    }

    var optionNames: String {
        switch self {
        case .password: "user, password and domain"
        case .guest: "guest, user and password"
        case .kerberos: "kerberos and credentials_cache (klist shows the tickets)"
        }
    }
}

/// The config's `options:` of this bridge, checked.
struct ShareOptions: Sendable {
    let url: ShareURL
    let credentials: Credentials
    let timeoutSeconds: Int
    /// How many processes list folders at a time.
    let workers: Int
    let encryption: Protection
    let signing: Protection
    let minimumProtocol: String
    let maximumProtocol: String

    /// How much is asked of the server.
    enum Protection: String, CaseIterable, Sendable {
        /// What client and server agree on by themselves.
        case standard = "default"
        case preferred, required
    }

    /// Protocol versions by libsmbclient's names, oldest first.
    static let protocols = ["NT1", "SMB2_02", "SMB2_10", "SMB3_00", "SMB3_02", "SMB3_11"]

    init(_ options: BridgeOptions) throws {
        guard let text = options.string("url") else {
            throw BridgeError(
                .configuration, "the option url is missing", remedy: "write it as smb://HOST[:PORT]/SHARE[/FOLDER]")
        }
        url = try ShareURL(text)
        credentials = try Self.credentials(options)
        timeoutSeconds = options.integer("timeout") ?? 20
        guard (1...3600).contains(timeoutSeconds) else {
            throw BridgeError(.configuration, "timeout: \(timeoutSeconds) is not within 1 to 3600 seconds")
        }
        workers = min(max(options.integer("workers") ?? 4, 1), 16)
        encryption = try Self.protection(options, "encryption")
        signing = try Self.protection(options, "signing")
        let isSealed = encryption == .required
        let oldestWanted = try Self.choice(options, "min_protocol", of: Self.protocols, otherwise: "SMB2_02")
        maximumProtocol = try Self.choice(options, "max_protocol", of: Self.protocols, otherwise: "SMB3_11")
        let oldest = Self.protocols.firstIndex(of: oldestWanted) ?? 0
        let newest = Self.protocols.firstIndex(of: maximumProtocol) ?? 0
        let firstWithEncryption = Self.protocols.firstIndex(of: "SMB3_00") ?? 0
        // Before that there is none, and libsmbclient would go on without.
        minimumProtocol = isSealed ? Self.protocols[max(oldest, firstWithEncryption)] : oldestWanted
        guard oldest <= newest else {
            throw BridgeError(
                .configuration, "min_protocol \(minimumProtocol) is newer than max_protocol \(maximumProtocol)")
        }
        guard !isSealed || newest >= firstWithEncryption else {
            throw BridgeError(
                .configuration, "encryption is required, but max_protocol \(maximumProtocol) has none",
                remedy: "set max_protocol to SMB3_00 or newer")
        }
    }

    private static func credentials(_ options: BridgeOptions) throws -> Credentials {
        let user = options.string("user") ?? ""
        let password = options.string("password") ?? ""
        let domain = options.string("domain")
        // libsmbclient's buffers have 256 bytes each and cut what is longer without a word.
        for (name, value) in [("user", user), ("password", password), ("domain", domain ?? "")] {
            guard value.utf8.count < 256, !value.utf8.contains(0) else {
                throw BridgeError(.configuration, "the option \(name) is longer than 255 bytes or holds a zero byte")
            }
        }
        let isGuest = options.bool("guest") ?? false
        let cache = options.string("credentials_cache")
        if options.bool("kerberos") ?? false {
            guard !isGuest, password.isEmpty else {
                throw BridgeError(
                    .configuration, "kerberos takes neither password nor guest", remedy: "leave one of them out")
            }
            guard cache?.utf8.contains(0) != true else {
                throw BridgeError(.configuration, "the option credentials_cache holds a zero byte")
            }
            return .kerberos(cache: cache, user: user, domain: domain)
        }
        guard cache == nil else {
            throw BridgeError(
                .configuration, "there is a credentials_cache without kerberos", remedy: "set kerberos: true")
        }
        guard password.isEmpty || !user.isEmpty else {
            throw BridgeError(.configuration, "there is a password but no user", remedy: "set the option user")
        }
        switch (isGuest, user.isEmpty) {
        case (true, true): return .guest
        case (true, false):
            throw BridgeError(
                .configuration, "the option guest is set, and user, too", remedy: "leave one of them out")
        case (false, true):
            throw BridgeError(
                .configuration, "nobody signs in: there is no user",
                remedy: "set user and password, guest: true for a guest's access, or kerberos: true")
        case (false, false): return .password(user: user, password: password, domain: domain)
        }
    }

    /// What a refusal to open the share means.
    var refusal: String {
        switch credentials {
        case .password: "wrong user, password, or no access to the share; the server does not say which"
        case .guest: "the server lets no guest in"
        case .kerberos: "no valid Kerberos ticket, or no access to the share; the server does not say which"
        }
    }

    private static func protection(_ options: BridgeOptions, _ name: String) throws -> Protection {
        let text = try choice(options, name, of: Protection.allCases.map(\.rawValue), otherwise: "default")
        return Protection(rawValue: text) ?? .standard
    }

    /// The text of an option that has a fixed set of values.
    static func choice(
        _ options: BridgeOptions, _ name: String, of choices: [String], otherwise: String
    ) throws -> String {
        guard options.has(name) else { return otherwise }
        guard let text = options.string(name), choices.contains(text) else {
            throw BridgeError(
                .configuration,
                "\(name): \"\(options.string(name) ?? "")\" is none of \(choices.joined(separator: ", "))")
        }
        return text
    }
}
