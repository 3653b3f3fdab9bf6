/// A 64-bit FNV-1a hash of texts or bytes.
///
/// For distinguishing things, not for keeping secrets.
package struct Fingerprint {
    /// The current hash.
    package private(set) var value: UInt64 = 14_695_981_039_346_656_037

    /// Creates the hash of no text.
    package init() {}

    /// Adds a text.
    package mutating func add(_ text: String) {
        for byte in text.utf8 { add(byte) }
    }

    /// Adds bytes.
    package mutating func add(_ bytes: ArraySlice<UInt8>) {
        for byte in bytes { add(byte) }
    }

    /// The byte between texts: it does not occur in UTF-8.
    package static let separator: UInt8 = 0xFF

    /// Separates the texts before from those after.
    package mutating func separate() { add(Self.separator) }

    private mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 1_099_511_628_211 }
}
