import BridgeKit
import RowFormats

/// The identity that signs in to a share.
enum Credentials: Sendable, Equatable {
    case password(user: String, password: String, domain: String?)
    /// No user: only if the configuration asks for it.
    case guest
    /// The holder of the ticket in the cache; nil selects the system's default cache.
    case kerberos(cache: String?, user: String, domain: String?)

    /// The identity's description in the message about a successful connection.
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
        case .kerberos:
            "kerberos and credentials_cache (klist shows the tickets; there is none for an address or localhost in "
                + "url)"
        }
    }
}

/// The validated `options:` of this bridge.
struct ShareOptions: Sendable {
    let url: ShareURL
    let credentials: Credentials
    let timeoutSeconds: Int
    /// The number of processes that list folders in parallel.
    let workers: Int
    let encryption: Protection
    let signing: Protection
    let minimumProtocol: String
    let maximumProtocol: String
    /// The size limits for the content of files.
    let rowLimits: RowLimits

    /// The protection required from the server.
    enum Protection: String, CaseIterable, Sendable {
        /// Negotiated between client and server.
        case standard = "default"
        case preferred, required
    }

    /// Protocol versions by libsmbclient's names, from the oldest.
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
        rowLimits = try RowLimits(options)
        encryption = try Self.protection(options, "encryption")
        signing = try Self.protection(options, "signing")
        let isSealed = encryption == .required
        let oldestWanted = try Self.choice(options, "min_protocol", of: Self.protocols, otherwise: "SMB2_02")
        maximumProtocol = try Self.choice(options, "max_protocol", of: Self.protocols, otherwise: "SMB3_11")
        let oldest = Self.protocols.firstIndex(of: oldestWanted) ?? 0
        let newest = Self.protocols.firstIndex(of: maximumProtocol) ?? 0
        let firstWithEncryption = Self.protocols.firstIndex(of: "SMB3_00") ?? 0
        // Older protocols have no encryption, and libsmbclient would continue without it.
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
        // libsmbclient's buffers have 256 bytes each and truncate longer values silently.
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
                    .configuration, "kerberos cannot be combined with password or guest", remedy: "remove one of them")
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
                .configuration, "the options guest and user are both set", remedy: "remove one of them")
        case (false, true):
            throw BridgeError(
                .configuration, "no user is set",
                remedy: "set user and password, guest: true for guest access, or kerberos: true")
        case (false, false): return .password(user: user, password: password, domain: domain)
        }
    }

    /// The meaning of a refusal to open the share.
    var refusal: String {
        switch credentials {
        case .password: "wrong user, password, or no access to the share; the server does not say which"
        case .guest: "the server does not allow guests"
        case .kerberos: "no valid Kerberos ticket, or no access to the share; the server does not say which"
        }
    }

    private static func protection(_ options: BridgeOptions, _ name: String) throws -> Protection {
        let text = try choice(options, name, of: Protection.allCases.map(\.rawValue), otherwise: "default")
        return Protection(rawValue: text) ?? .standard
    }

    /// Returns the text of an option with a fixed set of values.
    static func choice(
        _ options: BridgeOptions, _ name: String, of choices: [String], otherwise: String
    ) throws -> String {
        guard options.has(name) else { return otherwise }
        guard let text = options.string(name), choices.contains(text) else {
            throw BridgeError(
                .configuration,
                "\(name): \"\(options.string(name) ?? "")\" is not one of \(choices.joined(separator: ", "))")
        }
        return text
    }
}
