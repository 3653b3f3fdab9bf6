internal import TextFormats

/// A value of a YAML document with its mark.
///
/// Aliases are expanded; their copies share storage.
struct YAMLNode: Sendable {
    struct Pair: Sendable {
        var key: YAMLNode
        var value: YAMLNode
    }

    enum Content: Sendable {
        /// `plain` is false for quoted and block texts, which are never numbers, Booleans or null.
        case scalar(String, plain: Bool)
        case sequence([YAMLNode])
        case mapping([Pair])
    }

    var content: Content
    var mark: YAMLMark
    /// The number of nodes with aliases expanded, including this one.
    var count = 1
    /// The number of nested levels of collections; 0 for a scalar.
    var height = 0

    /// The kind of a node, named as in a message.
    enum Kind: String {
        case null = "empty"
        case bool = "a boolean"
        case integer = "an integer"
        case number = "a number"
        case text = "text"
        case list = "a list"
        case mapping = "a mapping"
    }

    var kind: Kind {
        switch content {
        case .sequence: .list
        case .mapping: .mapping
        case .scalar:
            switch scalar {
            case .null: .null
            case .bool: .bool
            case .int: .integer
            case .double: .number
            default: .text
            }
        }
    }

    /// The kind in a message about a value that a place does not take; numbers beyond a double have names of their own.
    var kindInWords: String {
        guard case .double(let number)? = scalar, !number.isFinite else { return kind.rawValue }
        return number.isNaN ? "NaN" : "a number beyond 1.7e308"
    }

    var isNull: Bool { kind == .null }

    /// The scalar's text as written, whatever its kind; nil for collections.
    var scalarText: String? {
        if case .scalar(let text, _) = content { text } else { nil }
    }

    /// The scalar's value in the core schema (YAML 1.2.2, section 10.3.2); nil for collections.
    var scalar: ConfigValue? {
        guard case .scalar(let text, let plain) = content else { return nil }
        return plain ? CoreSchema.resolve(text) : .string(text)
    }

    /// The scalar's value with every digit of a number, as far as JSON has such a number; nil for collections.
    var exactScalar: ConfigValue? {
        guard let value = scalar, let text = scalarText, !isWritten(value) else { return scalar }
        return Array(text.utf8).withUnsafeBytes { NumberGrammar.matches($0) } ? .decimal(text) : value
    }

    /// The scalar's value for a place that takes a text as well as a number; nil for collections.
    ///
    /// A number that JSON would write in another way, such as `007`, is the text that is written.
    var writtenScalar: ConfigValue? {
        guard let value = exactScalar, let text = scalarText, !isWritten(value) else { return exactScalar }
        return .string(text)
    }

    /// Whether a value is not a number, or one whose JSON is what is written.
    private func isWritten(_ value: ConfigValue) -> Bool {
        switch value {
        case .int, .double: value.json == scalarText
        default: true
        }
    }
}
