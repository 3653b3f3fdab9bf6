public import Foundation
internal import Mapping
internal import TextFormats

/// A value of a local object, as exact as it is stored.
///
/// Literals and Swift's own types convert to values: `object["name"] == "Aruba"`, `Field("size") > 10`.
public enum LocalValue: Sendable, Hashable {
    /// Null.
    case null
    /// True or false.
    case boolean(Bool)
    /// A 64-bit integer.
    case integer(Int64)
    /// A double-precision number.
    case real(Double)
    /// A number as its decimal text, with every digit.
    case decimal(String)
    /// Unicode text.
    case text(String)
    /// A timestamp, in microseconds since 1970-01-01T00:00:00Z.
    case timestamp(microseconds: Int64)
    /// A calendar date, such as `2026-11-21`.
    case date(String)
    /// Bytes.
    case data([UInt8])
    /// A JSON text.
    case json(String)
    /// A URL, as received.
    case url(String)
    /// A UUID, in lower case with hyphens.
    case uuid(String)

    /// Returns whether two values have the same type and value.
    ///
    /// Texts are compared byte by byte, as a store compares keys, not by Unicode equivalence.
    public static func == (left: LocalValue, right: LocalValue) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.boolean(let left), .boolean(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.real(let left), .real(let right)): left == right
        case (.timestamp(let left), .timestamp(let right)): left == right
        case (.data(let left), .data(let right)): left == right
        case (.decimal(let left), .decimal(let right)), (.text(let left), .text(let right)),
            (.date(let left), .date(let right)), (.json(let left), .json(let right)),
            (.url(let left), .url(let right)), (.uuid(let left), .uuid(let right)):
            ExactText(left) == ExactText(right)
        default: false
        }
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .boolean(let value): hasher.combine(value)
        case .integer(let value), .timestamp(let value): hasher.combine(value)
        case .real(let value): hasher.combine(value)
        case .data(let bytes): hasher.combine(bytes)
        case .decimal(let text), .text(let text), .date(let text), .json(let text), .url(let text), .uuid(let text):
            hasher.combine(ExactText(text))
        }
    }

    /// Whether the value is null.
    public var isNull: Bool { self == .null }

    /// The integer; nil for values of other types.
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }

    /// The bool; nil for values of other types.
    public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }

    /// The number as a double, for a decimal the nearest one; nil for values that are not numbers.
    public var double: Double? {
        switch self {
        case .real(let value): value
        case .integer(let value): Double(value)
        case .decimal(let text): Double(text)
        default: nil
        }
    }

    /// The text of a text, decimal, date, JSON, URL or UUID; nil for values of other types.
    public var text: String? {
        switch self {
        case .text(let text), .decimal(let text), .date(let text), .json(let text), .url(let text), .uuid(let text):
            text
        default: nil
        }
    }

    /// The timestamp, to the microsecond; nil for values of other types.
    public var date: Date? {
        if case .timestamp(let value) = self { Date(timeIntervalSince1970: Double(value) / 1_000_000) } else { nil }
    }

    /// The bytes; nil for values of other types.
    public var data: [UInt8]? { if case .data(let bytes) = self { bytes } else { nil } }
}

extension LocalValue: ExpressibleByStringLiteral, ExpressibleByIntegerLiteral, ExpressibleByFloatLiteral,
    ExpressibleByBooleanLiteral, ExpressibleByNilLiteral
{
    /// Creates a text.
    public init(stringLiteral value: String) { self = .text(value) }
    /// Creates an integer.
    public init(integerLiteral value: Int64) { self = .integer(value) }
    /// Creates a double.
    public init(floatLiteral value: Double) { self = .real(value) }
    /// Creates a Boolean.
    public init(booleanLiteral value: Bool) { self = .boolean(value) }
    /// Creates null.
    public init(nilLiteral: ()) { self = .null }
}

extension LocalValue: CustomStringConvertible {
    /// The value as a person would type it; bytes in base64, unless they are many.
    public var description: String {
        switch self {
        case .null: "null"
        case .boolean(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .real(let value): "\(value)"
        case .timestamp(let value): Self.text(ofTimestamp: value)
        case .data(let bytes): Base64.summary(of: bytes)
        case .decimal(let text), .text(let text), .date(let text), .json(let text), .url(let text), .uuid(let text):
            text
        }
    }
}

/// A type whose values can be compared with a field, or assigned to one.
public protocol LocalValueConvertible {
    /// The value in the form that objects use.
    var localValue: LocalValue { get }
}

extension LocalValue: LocalValueConvertible {
    /// The value itself.
    public var localValue: LocalValue { self }
}

extension Bool: LocalValueConvertible {
    /// The value as a Boolean.
    public var localValue: LocalValue { .boolean(self) }
}

extension Int: LocalValueConvertible {
    /// The value as an integer.
    public var localValue: LocalValue { .integer(Int64(self)) }
}

extension Int32: LocalValueConvertible {
    /// The value as an integer.
    public var localValue: LocalValue { .integer(Int64(self)) }
}

extension Int64: LocalValueConvertible {
    /// The value as an integer.
    public var localValue: LocalValue { .integer(self) }
}

extension Double: LocalValueConvertible {
    /// The value as a double.
    public var localValue: LocalValue { .real(self) }
}

extension String: LocalValueConvertible {
    /// The value as a text.
    public var localValue: LocalValue { .text(self) }
}

extension Date: LocalValueConvertible {
    /// The date as a timestamp, to the microsecond.
    public var localValue: LocalValue { .timestamp(microseconds: LocalValue.microseconds(of: self)) }
}

extension Decimal: LocalValueConvertible {
    /// The number as its decimal text.
    public var localValue: LocalValue { .decimal(description) }
}

extension URL: LocalValueConvertible {
    /// The URL's absolute string.
    public var localValue: LocalValue { .url(absoluteString) }
}

extension UUID: LocalValueConvertible {
    /// The UUID in lower case.
    public var localValue: LocalValue { .uuid(uuidString.lowercased()) }
}

extension Data: LocalValueConvertible {
    /// The data's bytes.
    public var localValue: LocalValue { .data(Array(self)) }
}

extension Optional: LocalValueConvertible where Wrapped: LocalValueConvertible {
    /// The value, or null.
    public var localValue: LocalValue { self?.localValue ?? .null }
}

extension LocalValue: Codable {
    /// Reads a value from another format's decoder; this library's own decoder passes values through unchanged.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .boolean(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .integer(value)
        } else if let value = try? container.decode(Double.self) {
            self = .real(value)
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    /// Writes the plain value; timestamps, bytes and numbers with more digits than a double are written as text.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let value): try container.encode(value)
        case .integer(let value): try container.encode(value)
        case .real(let value): try container.encode(value)
        case .data(let bytes): try container.encode(Data(bytes).base64EncodedString())
        default: try container.encode(description)
        }
    }
}
