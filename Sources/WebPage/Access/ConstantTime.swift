/// Compares secrets in a time that does not depend on where they differ.
package enum ConstantTime {
    /// Returns whether two texts have the same bytes.
    ///
    /// The duration depends on the length of `given` alone.
    package static func equal(_ secret: String, _ given: String) -> Bool {
        let (secret, given) = (Array(secret.utf8), Array(given.utf8))
        var difference = secret.count ^ given.count
        for index in given.indices {
            // The remainder keeps the index inside the secret; an empty secret differs by its length.
            let byte = secret.isEmpty ? 0 : secret[index % secret.count]
            difference |= Int(byte ^ given[index])
        }
        return difference == 0
    }
}

/// Random texts that cannot be guessed.
enum RandomToken {
    /// Returns 256 bits of the system's generator as hexadecimal digits.
    static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let digits = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}
