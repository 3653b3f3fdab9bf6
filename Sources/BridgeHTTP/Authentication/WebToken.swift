internal import BridgeKit
internal import CLibCrypto
internal import RecordBatch
internal import TextFormats

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A signed JSON Web Token (RFC 7519, in the compact form of RFC 7515).
struct WebToken: Sendable {
    enum Algorithm: String, CaseIterable, Sendable {
        case hs256 = "HS256"
        case rs256 = "RS256"
        case es256 = "ES256"
    }

    var algorithm: Algorithm
    /// The secret of HS256, otherwise a private key in PEM.
    var key: String
    var keyID: String?
    var issuer: String?
    var subject: String?
    var audience: String?
    var scope: String?
    /// Seconds for which a token is valid.
    var lifetime: Int
    /// Further claims, as JSON texts.
    var claims: [(name: String, json: String)]

    /// - Parameter options: The members of `auth` that describe the token.
    init(_ options: BridgeOptions) throws {
        let text = options.string("algorithm") ?? "RS256"
        guard let algorithm = Algorithm(rawValue: text) else {
            throw BridgeError(
                .configuration, "auth.algorithm is \"\(text)\"",
                remedy: "use one of: \(Algorithm.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        guard let key = options.string("private_key") ?? options.string("secret"), !key.isEmpty else {
            throw BridgeError(
                .configuration, "auth.private_key is missing",
                remedy: "name the key's PEM file under private_key, or for HS256 the secret under secret")
        }
        self.algorithm = algorithm
        self.key = key
        keyID = options.string("key_id")
        issuer = options.string("issuer")
        subject = options.string("subject")
        audience = options.string("audience")
        scope = options.string("scope")
        lifetime = min(max(options.integer("lifetime") ?? 300, 10), 86_400)
        let further = options.object("claims")
        claims = (further?.names ?? []).map { name in
            (name, further?.withValue(name) { $0?.json ?? "null" } ?? "null")
        }
        // Report a key that cannot sign at once.
        _ = try signed(now: 0, id: "check")
    }

    /// Returns a token that becomes valid slightly before `now`, because clocks differ.
    func signed(now: Int, id: String, audience standard: String? = nil) throws -> String {
        // A replay has no key, and does not check signatures.
        if key.hasPrefix(ExchangeTape.placeholder) { return key }
        var header = "{\"alg\":\"\(algorithm.rawValue)\",\"typ\":\"JWT\""
        if let keyID { header += ",\"kid\":\(keyID.jsonQuoted)" }
        header += "}"
        var members: [String] = []
        for (name, value) in [
            ("iss", issuer), ("sub", subject), ("aud", audience ?? standard), ("scope", scope), ("jti", id),
        ] {
            if let value, !claims.contains(where: { $0.name == name }) {
                members.append("\"\(name)\":\(value.jsonQuoted)")
            }
        }
        members.append("\"iat\":\(now - 30)")
        members.append("\"exp\":\(now + lifetime)")
        members += claims.map { "\($0.name.jsonQuoted):\($0.json)" }
        let payload = "{" + members.joined(separator: ",") + "}"
        let text = Self.encode(Array(header.utf8)) + "." + Self.encode(Array(payload.utf8))
        let signature = sign(Array(text.utf8))
        guard !signature.isEmpty else {
            throw BridgeError(
                .configuration, "auth.private_key is not a key for \(algorithm.rawValue)",
                remedy: algorithm == .es256
                    ? "ES256 takes an EC key on P-256, in PEM and without a password"
                    : "RS256 takes an RSA key, in PEM and without a password")
        }
        return text + "." + Self.encode(signature)
    }

    private func sign(_ data: [UInt8]) -> [UInt8] {
        let key = Array(self.key.utf8)
        var out = [UInt8](repeating: 0, count: Int(BMO_SIGNATURE_ROOM))
        let length =
            algorithm == .hs256
            ? bmo_sign_hs256(key, key.count, data, data.count, &out)
            : bmo_sign_pem(key, key.count, algorithm == .es256 ? 1 : 0, data, data.count, &out)
        return Array(out.prefix(length))
    }

    /// Encodes base64 for URLs, without padding (RFC 4648, section 5).
    static func encode(_ bytes: [UInt8]) -> String {
        let plain = bytes.withUnsafeBytes { Base64.encode($0) }
        return plain.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}
