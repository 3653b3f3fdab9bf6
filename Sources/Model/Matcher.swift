internal import Glibc

/// What a remote representation must look like, as a configuration says it: all conditions must hold.
public struct Matcher: Sendable, Equatable {
    /// One condition on one property.
    public enum Condition: Sendable, Equatable {
        /// The property is there and not null.
        case has(RemotePath)
        /// The property is not there, or null.
        case lacks(RemotePath)
        /// The property is one of these values; numbers and bools are compared by their JSON text.
        case equals(RemotePath, [String])
        /// The property's text has a part that fits a POSIX extended regular expression.
        case matches(RemotePath, RegularExpression)
    }

    /// The conditions; at least one.
    public var conditions: [Condition]

    /// A matcher of these conditions.
    public init(_ conditions: [Condition]) {
        self.conditions = conditions
    }
}

/// A POSIX extended regular expression (IEEE 1003.1, chapter 9.4), compiled once.
///
/// The C library's matcher takes time in proportion to the text and not, as one that goes back, to its power.
public struct RegularExpression: Sendable, Equatable, CustomStringConvertible {
    /// The expression as it is written.
    public let pattern: String
    private let compiled: Compiled

    private final class Compiled: @unchecked Sendable {
        // Written once; regexec(3) only reads it, and locks what it keeps for itself (MT-Safe).
        var expression = regex_t()

        deinit { regfree(&expression) }
    }

    /// Compiles an expression.
    ///
    /// - Throws: ``RegularExpressionFault`` with the C library's words.
    public init(_ pattern: String) throws(RegularExpressionFault) {
        self.pattern = pattern
        let compiled = Compiled()
        let status = regcomp(&compiled.expression, pattern, REG_EXTENDED | REG_NOSUB)
        guard status == 0 else {
            var words = [CChar](repeating: 0, count: 128)
            regerror(status, &compiled.expression, &words, words.count)
            let text = words.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            compiled.expression = regex_t()
            throw RegularExpressionFault(reason: String(decoding: text, as: UTF8.self))
        }
        self.compiled = compiled
    }

    /// Whether a part of `text` fits; of a text with a NUL, what stands before that.
    public func matches(_ text: String) -> Bool {
        regexec(&compiled.expression, text, 0, nil, 0) == 0
    }

    /// The expression as it is written.
    public var description: String { pattern }

    /// Expressions that are written the same.
    public static func == (left: RegularExpression, right: RegularExpression) -> Bool { left.pattern == right.pattern }
}

/// Why a text is no regular expression.
public struct RegularExpressionFault: Error, Sendable {
    /// The C library's words.
    public let reason: String
}
