#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The conditions for a remote representation, as in a configuration; all must hold.
public struct Matcher: Sendable, Equatable {
    /// One condition on one property.
    public enum Condition: Sendable, Equatable {
        /// The property exists and is not null.
        case has(RemotePath)
        /// The property is missing or null.
        case lacks(RemotePath)
        /// The property is one of these values; a Boolean is compared by its JSON text, and a number by its value.
        case equals(RemotePath, [String])
        /// A part of the property's text matches a POSIX extended regular expression.
        case matches(RemotePath, RegularExpression)
        /// The program's matcher of this name accepts the record.
        case code(String)
    }

    /// The conditions; at least one.
    public var conditions: [Condition]

    /// Creates a matcher of these conditions.
    public init(_ conditions: [Condition]) {
        self.conditions = conditions
    }
}

/// A POSIX extended regular expression (IEEE 1003.1, chapter 9.4), compiled once.
///
/// The C library's matcher takes time linear in the text, unlike a backtracking one.
public struct RegularExpression: Sendable, Equatable, CustomStringConvertible {
    /// The expression as written.
    public let pattern: String
    private let compiled: Compiled

    private final class Compiled: @unchecked Sendable {
        // Written once. regexec(3) only reads it, and locks its internal state (MT-Safe).
        var expression = regex_t()

        deinit { regfree(&expression) }
    }

    /// Compiles an expression.
    ///
    /// - Throws: ``RegularExpressionFault`` with the C library's message.
    public init(_ pattern: String) throws(RegularExpressionFault) {
        self.pattern = pattern
        let compiled = Compiled()
        let status = regcomp(&compiled.expression, pattern, REG_EXTENDED)
        guard status == 0 else {
            var words = [CChar](repeating: 0, count: 128)
            regerror(status, &compiled.expression, &words, words.count)
            let text = words.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            compiled.expression = regex_t()
            throw RegularExpressionFault(reason: String(decoding: text, as: UTF8.self))
        }
        self.compiled = compiled
    }

    /// Returns whether a part of `text` matches.
    ///
    /// Text after a NUL is ignored.
    public func matches(_ text: String) -> Bool {
        regexec(&compiled.expression, text, 0, nil, 0) == 0
    }

    /// Returns the part of a text that the expression's first group matches in the first match.
    ///
    /// Without a group, returns the whole match. Text after a NUL is ignored.
    ///
    /// - Returns: Nil if the text does not match; an inner nil if the group does not take part in the match.
    public func firstGroup(in text: String) -> String?? {
        var found = [regmatch_t](repeating: regmatch_t(), count: 2)
        guard regexec(&compiled.expression, text, found.count, &found, 0) == 0 else { return nil }
        let range = compiled.expression.re_nsub > 0 ? found[1] : found[0]
        guard range.rm_so >= 0 else { return .some(nil) }
        let bytes = Array(text.utf8)
        return .some(String(decoding: bytes[Int(range.rm_so)..<Int(range.rm_eo)], as: UTF8.self))
    }

    /// The expression as written.
    public var description: String { pattern }

    /// Returns whether two expressions are written the same.
    public static func == (left: RegularExpression, right: RegularExpression) -> Bool { left.pattern == right.pattern }
}

/// An error for a text that is not a regular expression.
public struct RegularExpressionFault: Error, Sendable {
    /// The C library's message.
    public let reason: String
}
