public import Foundation

/// A Swift type that an attribute can have in a generated model.
public protocol AttributeValue: LocalValueConvertible, Sendable, Hashable {
    /// Creates a value from an attribute's; nil if the type does not fit, or would have to round.
    init?(localValue: LocalValue)
}

extension AttributeValue where Self: Decodable {
    /// Creates a value as ``LocalObject/decoded(as:)`` does; nil if the type does not fit.
    public init?(localValue: LocalValue) {
        guard let value = try? ObjectDecoder.decode(Self.self, from: .value(localValue)) else { return nil }
        self = value
    }
}

extension String: AttributeValue, BackedKey {
    /// Creates a text; nil for other values.
    public init?(localValue: LocalValue) {
        guard let text = localValue.text else { return nil }
        self = text
    }
}

extension Int: AttributeValue, BackedKey {
    /// Creates an integer; nil for other values, and for one that `Int` cannot represent.
    public init?(localValue: LocalValue) {
        guard let integer = localValue.integer, let exact = Int(exactly: integer) else { return nil }
        self = exact
    }
}

extension Bool: AttributeValue, BackedKey {}
extension Double: AttributeValue, BackedKey {}
extension Decimal: AttributeValue, BackedKey {}
extension Date: AttributeValue, BackedKey {}
extension Data: AttributeValue, BackedKey {}
extension URL: AttributeValue, BackedKey {}
extension UUID: AttributeValue, BackedKey {}

/// A day without a time, as attributes of type `date` have it.
public struct CalendarDate: AttributeValue, BackedKey, Comparable, CustomStringConvertible {
    /// The year, from 1 to 9999.
    public let year: Int
    /// The month, from 1.
    public let month: Int
    /// The day of the month, from 1.
    public let day: Int

    /// Creates a date of the Gregorian calendar; nil for one that does not exist, such as 30 February.
    public init?(year: Int, month: Int, day: Int) {
        guard (1...9999).contains(year), (1...12).contains(month), day >= 1 else { return nil }
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        guard day <= [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] else { return nil }
        self.year = year
        self.month = month
        self.day = day
    }

    /// Creates a date from a text such as `2026-11-21`; nil for other texts.
    public init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        // `Int` would read a sign.
        guard !text.contains("+"), parts.map(\.utf8.count) == [4, 2, 2], let year = Int(parts[0]),
            let month = Int(parts[1]), let day = Int(parts[2])
        else { return nil }
        self.init(year: year, month: month, day: day)
    }

    /// Creates a date from an attribute's value; nil for other values.
    public init?(localValue: LocalValue) {
        guard case .date(let text) = localValue else { return nil }
        self.init(text)
    }

    /// The value as an attribute has it.
    public var localValue: LocalValue { .date(description) }

    /// A text such as `2026-11-21`.
    public var description: String {
        func digits(_ number: Int, _ count: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: max(0, count - text.count)) + text
        }
        return "\(digits(year, 4))-\(digits(month, 2))-\(digits(day, 2))"
    }

    /// Returns whether one day is before the other.
    public static func < (left: CalendarDate, right: CalendarDate) -> Bool {
        (left.year, left.month, left.day) < (right.year, right.month, right.day)
    }
}

/// The content of an attribute of type `json`.
public struct StoredJSON: AttributeValue {
    /// The JSON text, as it is stored.
    public let text: String

    /// Creates a value from a JSON text, which is checked when it is saved.
    public init(text: String) { self.text = text }

    /// Creates a value from one of your own type.
    ///
    /// - Throws: `EncodingError`.
    public init(_ value: some Encodable) throws {
        let node = try ObjectEncoder.encode(value)
        guard node.isFinite else {
            throw EncodingError.invalidValue(
                value,
                EncodingError.Context(
                    codingPath: [], debugDescription: "JSON has no number that is infinite, or not a number"))
        }
        text = node.jsonText
    }

    /// Creates a value from an attribute's; nil for other values.
    public init?(localValue: LocalValue) {
        guard case .json(let text) = localValue else { return nil }
        self.text = text
    }

    /// The value as an attribute has it.
    public var localValue: LocalValue { .json(text) }

    /// Returns the content as a value of your type.
    ///
    /// - Throws: `DecodingError`.
    public func decoded<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        try ObjectDecoder.decode(type, from: .value(.json(text)))
    }
}
