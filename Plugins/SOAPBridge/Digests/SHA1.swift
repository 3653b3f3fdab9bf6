internal import CLibCrypto

/// SHA-1 (FIPS 180-4, section 6.1), for the password digest of WS-Security and the file names of the cache.
///
/// It is not collision-resistant: use it for nothing else.
enum SHA1 {
    static func digest(_ message: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: 20) { buffer, count in
            var size: UInt32 = 0
            let isDone = EVP_Digest(message, message.count, buffer.baseAddress, &size, EVP_sha1(), nil) == 1
            count = isDone ? Int(size) : 0
        }
    }
}
