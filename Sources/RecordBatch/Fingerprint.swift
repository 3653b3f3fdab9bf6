/// A short number that texts leave: FNV-1a of 64 bits.
///
/// For telling things apart, not for keeping secrets.
package struct Fingerprint {
    /// The number so far.
    package private(set) var value: UInt64 = 14_695_981_039_346_656_037

    /// Of nothing yet.
    package init() {}

    /// Adds a text.
    package mutating func add(_ text: String) {
        for byte in text.utf8 { add(byte) }
    }

    /// Keeps what comes apart from what came: 0xFF is no byte of UTF-8.
    package mutating func separate() { add(0xFF) }

    private mutating func add(_ byte: UInt8) { value = (value ^ UInt64(byte)) &* 1_099_511_628_211 }
}
