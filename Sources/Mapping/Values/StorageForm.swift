public import Model

/// A value without its type, in one of the five forms that JSON texts and databases with few types, such as SQLite,
/// have.
///
/// A boolean is 0 or 1. A decimal, time, JSON value, URL or UUID is its text. The column's `AttributeType` restores the
/// type: see ``StoredValue/init(_:as:)``.
public enum StorageForm: Hashable, Sendable {
    /// No value.
    case null
    /// An integer or a boolean.
    case integer(Int64)
    /// A floating-point number.
    case real(Double)
    /// A text, or a value that is kept as its text.
    case text(String)
    /// Bytes of any kind.
    case bytes([UInt8])

    /// Returns whether two values have the same form and value.
    ///
    /// Texts are compared byte by byte, as a store compares keys: see ``ExactText``.
    public static func == (left: StorageForm, right: StorageForm) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left == right
        case (.text(let left), .text(let right)): ExactText(left) == ExactText(right)
        case (.bytes(let left), .bytes(let right)): left == right
        default: false
        }
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .integer(let value): hasher.combine(value)
        case .real(let value): hasher.combine(value)
        case .text(let value): hasher.combine(ExactText(value))
        case .bytes(let value): hasher.combine(value)
        }
    }
}

extension StoredValue {
    /// The value without its type.
    public var form: StorageForm {
        switch self {
        case .null: .null
        case .integer(let value): .integer(value)
        case .boolean(let value): .integer(value ? 1 : 0)
        case .real(let value): .real(value)
        case .text(let text), .decimal(let text), .timestamp(let text), .date(let text), .json(let text),
            .url(let text), .uuid(let text):
            .text(text)
        case .bytes(let bytes): .bytes(bytes)
        }
    }

    /// Creates the value of a column from its form.
    ///
    /// A form that the type does not have, such as the integer 2 in a boolean column that another program wrote, becomes
    /// the value of that form.
    public init(_ form: StorageForm, as type: AttributeType) {
        switch (form, type) {
        case (.null, _): self = .null
        case (.integer(0), .boolean): self = .boolean(false)
        case (.integer(1), .boolean): self = .boolean(true)
        case (.integer(let value), _): self = .integer(value)
        case (.real(let value), _): self = .real(value)
        case (.text(let text), .decimal): self = .decimal(text)
        case (.text(let text), .timestamp): self = .timestamp(text)
        case (.text(let text), .date): self = .date(text)
        case (.text(let text), .json): self = .json(text)
        case (.text(let text), .url): self = .url(text)
        case (.text(let text), .uuid): self = .uuid(text)
        case (.text(let text), _): self = .text(text)
        case (.bytes(let bytes), _): self = .bytes(bytes)
        }
    }

    /// Returns the same form as a value of a column of this type.
    public func typed(as type: AttributeType) -> StoredValue { StoredValue(form, as: type) }
}
