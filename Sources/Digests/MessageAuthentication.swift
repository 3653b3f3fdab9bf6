/// Codes that prove that a message comes from someone who knows a secret (HMAC, RFC 2104).
package enum MessageAuthentication {
    /// The size of SHA-256's blocks, in bytes.
    private static let blockSize = 64

    /// Returns the HMAC-SHA256 of a message.
    ///
    /// - Returns: 32 bytes; an empty array, which equals no code, if libcrypto fails.
    package static func code(of message: [UInt8], secret: [UInt8]) -> [UInt8] {
        var key = secret.count > blockSize ? MessageDigest.digest(of: secret, .sha256) : secret
        key += Array(repeating: 0, count: blockSize - key.count)
        let inner = MessageDigest(.sha256)
        inner.add(key.map { $0 ^ 0x36 })
        inner.add(message)
        let digest = inner.finish()
        guard !digest.isEmpty else { return [] }
        let outer = MessageDigest(.sha256)
        outer.add(key.map { $0 ^ 0x5C })
        outer.add(digest)
        return outer.finish()
    }
}
