internal import Foundation
internal import Mapping
internal import Model
internal import RecordBatch
internal import TextFormats

extension LocalValue {
    /// Creates the value of a column according to its type.
    init(_ value: StoredValue, as type: AttributeType) {
        switch (value.form, type) {
        case (.null, _): self = .null
        case (.integer(let number), .boolean): self = .boolean(number != 0)
        case (.integer(let number), _): self = .integer(number)
        case (.real(let number), _): self = .real(number)
        case (.bytes(let bytes), _): self = .data(bytes)
        case (.text(let text), .decimal): self = .decimal(text)
        case (.text(let text), .timestamp):
            self = Timestamp.microseconds(text).map { .timestamp(microseconds: $0) } ?? .text(text)
        case (.text(let text), .date): self = .date(text)
        case (.text(let text), .json): self = .json(text)
        case (.text(let text), .url): self = .url(text)
        case (.text(let text), .uuid): self = .uuid(text)
        case (.text(let text), _): self = .text(text)
        }
    }

    /// A value that does not fit an attribute's type.
    struct Misfit: Error {
        let reason: String
    }

    /// Returns the value as a column of the type stores it.
    ///
    /// - Throws: ``Misfit`` where that would change the value.
    func stored(as type: AttributeType) throws(Misfit) -> StoredValue {
        switch (type, self) {
        case (_, .null): return .null
        case (.boolean, .boolean(let value)): return .boolean(value)
        case (.integer, .integer(let value)): return .integer(value)
        case (.integer, .real(let value)):
            if let exact = Int64(exactly: value) { return .integer(exact) }
        case (.real, .real(let value)):
            if value.isFinite { return .real(value) }
        case (.real, .integer(let value)):
            if let exact = Double(exactly: value) { return .real(exact) }
        case (.data, .data(let bytes)): return .bytes(bytes)
        case (.timestamp, .timestamp(let microseconds)):
            if Timestamp.range.contains(microseconds) {
                return .timestamp(Timestamp.text(microseconds: microseconds))
            }
        case (.timestamp, .text(let text)), (.date, .text(let text)), (.date, .date(let text)),
            (.url, .text(let text)), (.url, .url(let text)), (.uuid, .text(let text)), (.uuid, .uuid(let text)),
            (.decimal, .text(let text)), (.decimal, .decimal(let text)):
            return try converted(text, to: type)
        case (.decimal, .integer(let value)): return .decimal(String(value))
        case (.decimal, .real(let value)): return try converted("\(value)", to: type)
        case (.json, _):
            // JSON has no number that is infinite, or not a number.
            if case .real(let value) = self, !value.isFinite { break }
            let text = jsonText
            if ObjectNode.value(.json(text)).opened != nil { return .json(text) }
        case (.text, .text(let text)), (.text, .url(let text)), (.text, .uuid(let text)), (.text, .date(let text)),
            (.text, .decimal(let text)):
            return .text(text)
        default: break
        }
        throw Misfit(reason: "\(described) is not of type \(type.rawValue)")
    }

    /// Returns a text in the canonical form in which an import would store it.
    private func converted(_ text: String, to type: AttributeType) throws(Misfit) -> StoredValue {
        do {
            return try StoredValueConverter(from: .text, to: type).convert(.text(text))
        } catch {
            throw Misfit(reason: "\(described) is not of type \(type.rawValue)")
        }
    }

    /// Returns whether the value is what a Swift type makes of a stored one: a `Date` rounds a distant moment, and a `URL`
    /// escapes characters.
    func isForm(of stored: LocalValue) -> Bool {
        if self == stored { return true }
        switch (self, stored) {
        case (.timestamp(let microseconds), .timestamp):
            return stored.date.map { Self.microseconds(of: $0) } == microseconds
        case (.url(let text), .url(let other)): return URL(string: other)?.absoluteString == text
        default: return false
        }
    }

    /// The value with its kind, for messages; a long value is truncated.
    var described: String {
        let text = description
        let shown = text.count > 60 ? String(text.prefix(60)) + "…" : text
        return if case .text = self { "the text \"\(shown)\"" } else { shown }
    }

    /// The value as JSON.
    var jsonText: String {
        switch self {
        case .null: return "null"
        case .json(let text): return text
        case .boolean, .integer, .decimal: return description
        case .real(let value): return value.isFinite ? description : "null"
        case .data(let bytes): return Data(bytes).base64EncodedString().jsonQuoted
        case .timestamp, .text, .date, .url, .uuid: return description.jsonQuoted
        }
    }

    // MARK: timestamps

    static func text(ofTimestamp microseconds: Int64) -> String {
        Timestamp.range.contains(microseconds)
            ? Timestamp.text(microseconds: microseconds) : "\(microseconds) µs"
    }

    /// Returns the nearest microsecond, within the limits of timestamps.
    static func microseconds(of date: Date) -> Int64 {
        let value = (date.timeIntervalSince1970 * 1_000_000).rounded()
        let (first, last) = (Timestamp.range.lowerBound, Timestamp.range.upperBound)
        guard value.isFinite else { return value < 0 ? first - 1 : last + 1 }
        // The last moment rounds up to the beginning of the year 10000.
        if value == Double(last) { return last }
        return value <= Double(first) - 1e6 ? first - 1 : value >= Double(last) + 1e6 ? last + 1 : Int64(value)
    }
}
