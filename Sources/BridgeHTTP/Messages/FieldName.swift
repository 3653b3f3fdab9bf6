extension String {
    /// Returns whether both are names of the same header field: they are compared without the case of ASCII letters
    /// (RFC 9110, section 5.1).
    public func isSameField(as other: String) -> Bool {
        utf8.count == other.utf8.count && zip(utf8, other.utf8).allSatisfy { $0 == $1 || $0.lowercase == $1.lowercase }
    }
}

extension UInt8 {
    /// The lower-case form of an ASCII letter.
    fileprivate var lowercase: UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self ? self | 0x20 : self
    }
}
