internal import TextFormats

/// A local value that owns its storage, with its type.
///
/// The texts of ``decimal(_:)``, ``timestamp(_:)``, ``date(_:)`` and ``uuid(_:)`` are canonical, as ``Cell`` documents
/// them, unless another program has written the value.
public enum StoredValue: Hashable, Sendable, CustomStringConvertible {
    /// No value.
    case null
    /// An integer of 64 bits.
    case integer(Int64)
    /// True or false.
    case boolean(Bool)
    /// A floating-point number.
    case real(Double)
    /// A text.
    case text(String)
    /// A decimal number of any length, as text.
    case decimal(String)
    /// An instant in UTC, in ISO 8601.
    case timestamp(String)
    /// A calendar date, in ISO 8601.
    case date(String)
    /// A JSON value, as text.
    case json(String)
    /// A URL, as text.
    case url(String)
    /// A UUID, as text.
    case uuid(String)
    /// Bytes of any kind.
    case bytes([UInt8])

    /// Returns whether two values have the same ``form``.
    ///
    /// Both sides of a comparison belong to one column, which gives them one type; a value whose column is unknown, such
    /// as a key typed by a user, equals the stored one all the same.
    public static func == (left: StoredValue, right: StoredValue) -> Bool { left.form == right.form }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) { form.hash(into: &hasher) }

    /// The type of a cell that has this value.
    public var kind: Cell.Kind {
        switch self {
        case .null: .null
        case .integer: .integer
        case .boolean: .boolean
        case .real: .real
        case .text: .text
        case .decimal: .decimal
        case .timestamp: .timestamp
        case .date: .date
        case .json: .json
        case .url: .url
        case .uuid: .uuid
        case .bytes: .bytes
        }
    }

    /// The value as a user would type it: 0 or 1 for a boolean, and base64 for bytes, unless they are many.
    public var description: String {
        switch form {
        case .null: "null"
        case .integer(let value): String(value)
        case .real(let value): String(value)
        case .text(let value): value
        case .bytes(let value): Base64.summary(of: value)
        }
    }
}
