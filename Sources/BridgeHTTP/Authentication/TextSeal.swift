internal import CLibCrypto
internal import TextFormats

/// Encrypts texts with a key made of a secret (AES-256-GCM; the key is an HMAC-SHA256), so that only those who know the
/// secret can read or replace them.
///
/// Only for a secret that cannot be guessed, such as a token.
struct TextSeal: Sendable {
    private let secret: [UInt8]
    private let key: [UInt8]
    private static let mark = "1:"

    init?(secret: String) {
        self.secret = Array(secret.utf8)
        guard let key = Self.code("bmo: key of a saved login", self.secret) else { return nil }
        self.key = key
    }

    /// Returns a name that only those who know the secret can make, in hexadecimal digits.
    func name(for purpose: String) -> String? {
        Self.code("bmo: name of \(purpose)", secret).map { Hexadecimal.text($0) }
    }

    private static func code(_ text: String, _ secret: [UInt8]) -> [UInt8]? {
        var code = [UInt8](repeating: 0, count: Int(BMO_SEAL_KEY))
        let message = Array(text.utf8)
        return bmo_sign_hs256(secret, secret.count, message, message.count, &code) == code.count ? code : nil
    }

    /// Encrypts a text; nil if libcrypto fails.
    func seal(_ text: String) -> String? {
        let plain = Array(text.utf8)
        let nonce = (0..<Int(BMO_SEAL_NONCE)).map { _ in UInt8.random(in: .min ... .max) }
        var sealed = [UInt8](repeating: 0, count: plain.count + Int(BMO_SEAL_TAG))
        guard bmo_seal(key, nonce, plain, plain.count, &sealed) == 1 else { return nil }
        return Self.mark + (nonce + sealed).withUnsafeBytes { Base64.encode($0) }
    }

    /// Decrypts a text; nil if it was encrypted with another secret, or changed.
    func open(_ text: String) -> String? {
        guard text.hasPrefix(Self.mark), let bytes = Base64.decode(String(text.dropFirst(Self.mark.count))) else {
            return nil
        }
        let (nonce, sealed) = (bytes.prefix(Int(BMO_SEAL_NONCE)), Array(bytes.dropFirst(Int(BMO_SEAL_NONCE))))
        let size = sealed.count - Int(BMO_SEAL_TAG)
        guard size > 0 else { return nil }
        var plain = [UInt8](repeating: 0, count: size)
        guard bmo_unseal(key, Array(nonce), sealed, size, &plain) == 1 else { return nil }
        return String(validUTF8: plain)
    }
}
