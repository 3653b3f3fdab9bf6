import BridgeKit
import CLibCrypto

/// SHA-256 (FIPS 180-4), computed incrementally with libcrypto.
final class SHA256 {
    private let context: OpaquePointer

    /// - Throws: ``BridgeError`` if libcrypto has no memory.
    init() throws {
        guard let context = EVP_MD_CTX_new() else { throw BridgeError(.internal, "libcrypto has no memory") }
        self.context = context
        guard EVP_DigestInit_ex(context, EVP_sha256(), nil) == 1 else {
            throw BridgeError(.internal, "libcrypto has no SHA-256")
        }
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Adds bytes.
    func add(_ bytes: [UInt8]) { EVP_DigestUpdate(context, bytes, bytes.count) }

    /// Returns the digest in lower-case hexadecimal digits; must be the last call.
    func finish() -> String {
        var digest = [UInt8](repeating: 0, count: 32)
        EVP_DigestFinal_ex(context, &digest, nil)
        return digest.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
