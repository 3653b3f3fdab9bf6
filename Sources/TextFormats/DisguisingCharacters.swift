extension Unicode.Scalar {
    /// Whether the character could disguise a value that a person reads: a control character, or a mark that changes
    /// the direction of text (UAX 9).
    package var isDisguising: Bool {
        value < 0x20 || (0x7F...0x9F).contains(value) || (0x202A...0x202E).contains(value)
            || (0x2066...0x2069).contains(value)
    }

    /// The character's number as it is shown in its place: `\u{202e}`.
    package var escape: String { "\\u{\(String(value, radix: 16))}" }
}
