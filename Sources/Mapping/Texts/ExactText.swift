/// A text that is compared, hashed and ordered by its UTF-8 bytes, as stores compare keys.
///
/// A String follows Unicode's canonical equivalence instead: for a set of strings, a composed letter (U+00E9) and the same
/// letter decomposed (U+0065 U+0301) are one element, while a database has a row for each.
public struct ExactText: Hashable, Comparable, Sendable {
    /// The text.
    public let string: String

    /// Creates an exact text from a string.
    public init(_ string: String) { self.string = string }

    /// Returns whether two texts have the same bytes.
    public static func == (left: ExactText, right: ExactText) -> Bool {
        left.string.utf8.elementsEqual(right.string.utf8)
    }

    /// Returns whether a text comes before another by its bytes.
    public static func < (left: ExactText, right: ExactText) -> Bool {
        left.string.utf8.lexicographicallyPrecedes(right.string.utf8)
    }

    /// Hashes the bytes that `==` compares.
    public func hash(into hasher: inout Hasher) {
        var string = string
        string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        hasher.combine(UInt8.max)
    }
}
