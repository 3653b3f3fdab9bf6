import BridgeKit

/// The config's `options:` of this bridge, checked.
struct ShareOptions: Sendable {
    let url: ShareURL
    /// Empty for guest access.
    let user: String
    let password: String
    let domain: String?
    let timeoutSeconds: Int
    let requiresEncryption: Bool
    let minimumProtocol: String
    let maximumProtocol: String

    /// Protocol versions by libsmbclient's names, oldest first.
    static let protocols = ["NT1", "SMB2_02", "SMB2_10", "SMB3_00", "SMB3_02", "SMB3_11"]

    init(_ options: BridgeOptions) throws {
        guard let text = options.string("url") else {
            throw BridgeError(
                .configuration, "the option url is missing", remedy: "write it as smb://HOST[:PORT]/SHARE[/FOLDER]")
        }
        url = try ShareURL(text)
        user = options.string("user") ?? ""
        password = options.string("password") ?? ""
        domain = options.string("domain")
        // libsmbclient's buffers have 256 bytes each and cut what is longer without a word.
        for (name, value) in [("user", user), ("password", password), ("domain", domain ?? "")] {
            guard value.utf8.count < 256, !value.utf8.contains(0) else {
                throw BridgeError(.configuration, "the option \(name) is longer than 255 bytes or holds a zero byte")
            }
        }
        guard password.isEmpty || !user.isEmpty else {
            throw BridgeError(.configuration, "there is a password but no user", remedy: "set the option user")
        }
        timeoutSeconds = options.integer("timeout") ?? 20
        guard (1...3600).contains(timeoutSeconds) else {
            throw BridgeError(.configuration, "timeout: \(timeoutSeconds) is not within 1 to 3600 seconds")
        }
        requiresEncryption =
            try Self.choice(options, "encryption", of: ["default", "required"], otherwise: "default") == "required"
        minimumProtocol = try Self.choice(options, "min_protocol", of: Self.protocols, otherwise: "SMB2_02")
        maximumProtocol = try Self.choice(options, "max_protocol", of: Self.protocols, otherwise: "SMB3_11")
        let oldest = Self.protocols.firstIndex(of: minimumProtocol) ?? 0
        guard oldest <= Self.protocols.firstIndex(of: maximumProtocol) ?? 0 else {
            throw BridgeError(
                .configuration, "min_protocol \(minimumProtocol) is newer than max_protocol \(maximumProtocol)")
        }
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
