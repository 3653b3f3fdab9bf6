internal import CLibCrypto
internal import TextFormats

/// A cryptographic digest (FIPS 180-4), computed incrementally with libcrypto.
///
/// ```swift
/// let digest = MessageDigest(.sha256)
/// while let piece = try file.read() { digest.add(piece) }
/// print(digest.hexadecimal())
/// ```
package final class MessageDigest {
    /// The algorithms in use.
    package enum Algorithm {
        /// Not collision-resistant: only for protocols that prescribe it, and for names.
        case sha1
        /// The usual choice.
        case sha256
    }

    private let context: OpaquePointer?

    /// Creates the digest of no bytes.
    package init(_ algorithm: Algorithm) {
        guard let new = EVP_MD_CTX_new() else {
            context = nil
            return
        }
        guard EVP_DigestInit_ex(new, algorithm == .sha1 ? EVP_sha1() : EVP_sha256(), nil) == 1 else {
            // libcrypto must not be called with a context that it refused.
            EVP_MD_CTX_free(new)
            context = nil
            return
        }
        context = new
    }

    deinit { EVP_MD_CTX_free(context) }

    /// Adds bytes.
    package func add(_ bytes: [UInt8]) { bytes.withUnsafeBytes { add($0) } }

    /// Adds bytes.
    package func add(_ bytes: ArraySlice<UInt8>) { bytes.withUnsafeBytes { add($0) } }

    private func add(_ bytes: UnsafeRawBufferPointer) {
        guard let context else { return }
        EVP_DigestUpdate(context, bytes.baseAddress, bytes.count)
    }

    /// Returns the digest; the last call.
    ///
    /// - Returns: An empty array, which equals no digest, if libcrypto has no memory or refuses the algorithm.
    package func finish() -> [UInt8] {
        guard let context else { return [] }
        return [UInt8](unsafeUninitializedCapacity: Int(EVP_MAX_MD_SIZE)) { buffer, count in
            var size: UInt32 = 0
            count = EVP_DigestFinal_ex(context, buffer.baseAddress, &size) == 1 ? Int(size) : 0
        }
    }

    /// Returns the digest in lower-case hexadecimal digits; the last call.
    package func hexadecimal() -> String { Hexadecimal.text(finish()) }

    /// Returns the digest of a whole message.
    package static func digest(of message: [UInt8], _ algorithm: Algorithm) -> [UInt8] {
        let digest = MessageDigest(algorithm)
        digest.add(message)
        return digest.finish()
    }
}
