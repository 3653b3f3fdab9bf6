internal import Mapping
internal import Model
internal import StoreContract
internal import TextFormats

/// The binary form of a column's values.
struct ValueCodec {
    let type: AttributeType
    let sqlType: SQLType
    /// Whether the values identify objects: the server compares decimals as numbers, and bmo compares keys as texts.
    private let isIdentity: Bool

    init(_ type: AttributeType, isIdentity: Bool = false) {
        self.type = type
        self.isIdentity = isIdentity
        sqlType = SQLType(type)
    }

    /// The days from 1970-01-01 to 2000-01-01, PostgreSQL's epoch.
    static let epochDays: Int64 = 10_957
    /// The microseconds from 1970-01-01 to 2000-01-01.
    static let epoch = epochDays * 86_400_000_000

    /// A value that cannot be stored in a column, in words such as "is not a date".
    struct Misfit: Error {
        let reason: String
    }

    /// Returns the bytes of a value, in the form of ``SQLType/transferred``; nil for null.
    ///
    /// The server returns exactly the same value: otherwise each import would find a change.
    func encode(_ value: StoredValue) throws(Misfit) -> [UInt8]? {
        switch (type, value.form) {
        case (_, .null): return nil
        case (.integer, .integer(let number)): return number.bigEndianBytes
        case (.boolean, .integer(let number)) where number == 0 || number == 1: return [UInt8(number)]
        case (.real, .real(let number)): return number.isNaN ? nil : Self.bytes(number)
        case (.real, .integer(let number)): return Self.bytes(Double(number))
        case (.text, .text(let text)), (.json, .text(let text)), (.url, .text(let text)):
            guard !text.utf8.contains(0) else {
                throw Misfit(reason: "contains the character U+0000, which PostgreSQL cannot store")
            }
            return Array(text.utf8)
        case (.decimal, .text(let text)):
            guard Self.isPlainDecimal(text) else { throw Misfit(reason: "is not a decimal number without an exponent") }
            return Array(text.utf8)
        case (.timestamp, .text(let text)):
            guard let microseconds = Timestamp.microseconds(text) else { throw Misfit(reason: "is not a time in UTC") }
            return (microseconds - Self.epoch).bigEndianBytes
        case (.date, .text(let text)):
            guard let days = Self.days(text) else { throw Misfit(reason: "is not a date") }
            return Int32(days - Self.epochDays).bigEndianBytes
        case (.uuid, .text(let text)):
            guard let bytes = Self.uuid(text) else { throw Misfit(reason: "is not a lowercase UUID") }
            return bytes
        case (.data, .bytes(let bytes)): return bytes
        default: throw Misfit(reason: "is not of the type \(type.rawValue)")
        }
    }

    /// Returns the value that the server sent for a column.
    func decode(_ bytes: UnsafeRawBufferPointer?) -> StoredValue {
        guard let bytes else { return .null }
        let value = Self.decode(bytes, sqlType).typed(as: type)
        return isIdentity ? value.identity : value
    }

    static func decode(_ bytes: UnsafeRawBufferPointer, _ type: SQLType) -> StoredValue {
        switch type {
        case .bigint: return Int64(bigEndian: bytes).map { .integer($0) } ?? .null
        case .boolean: return .integer(bytes.first == 1 ? 1 : 0)
        case .double:
            return UInt64(bigEndian: bytes).map { .real(Double(bitPattern: $0)) } ?? .null
        case .text, .numeric: return .text(String(decoding: bytes, as: UTF8.self))
        case .timestamptz:
            guard let microseconds = Int64(bigEndian: bytes) else { return .null }
            // The greatest and the least number are infinity.
            if microseconds == .max || microseconds == .min {
                return .text(microseconds > 0 ? "infinity" : "-infinity")
            }
            return .text(Timestamp.text(microseconds: microseconds + epoch))
        case .date:
            guard let days = Int32(bigEndian: bytes) else { return .null }
            return .text(dateText(Int64(days) + epochDays))
        case .uuid:
            var text = ""
            for (index, byte) in bytes.enumerated() {
                if [4, 6, 8, 10].contains(index) { text.append("-") }
                text += (byte < 16 ? "0" : "") + String(byte, radix: 16)
            }
            return .text(text)
        case .bytea: return .bytes(Array(bytes))
        }
    }

    // MARK: - Texts

    private static func bytes(_ number: Double) -> [UInt8] {
        // Zero has no sign in a database.
        (number == 0 ? 0 : number).bitPattern.bigEndianBytes
    }

    private static func isPlainDecimal(_ text: String) -> Bool {
        var digits = text.utf8[...]
        if digits.first == UInt8(ascii: "-") { digits.removeFirst() }
        let parts = digits.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let whole = parts.first, !whole.isEmpty, parts.allSatisfy({ $0.allSatisfy { (48...57).contains($0) } }),
            parts.count == 1 || !parts[1].isEmpty
        else { return false }
        // Numbers that the server would write otherwise: 007 and -0.
        if whole.count > 1, whole.first == UInt8(ascii: "0") { return false }
        return !(text.hasPrefix("-") && digits.allSatisfy { $0 == UInt8(ascii: "0") || $0 == UInt8(ascii: ".") })
    }

    /// Returns the days since 1970 of a date; nil for other text.
    private static func days(_ text: String) -> Int64? {
        var text = text
        return text.withUTF8 { Timestamp.days(utf8: UnsafeRawBufferPointer($0)) }
    }

    private static func dateText(_ days: Int64) -> String {
        if days + Self.epochDays > Int64(Int32.max) { return "infinity" }
        return String(Timestamp.text(microseconds: days * 86_400_000_000).prefix { $0 != "T" })
    }

    private static func uuid(_ text: String) -> [UInt8]? {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false).map(\.utf8.count)
        guard groups == [8, 4, 4, 4, 12], text == text.lowercased() else { return nil }
        let digits = text.filter { $0 != "-" }
        var bytes: [UInt8] = []
        var rest = digits[...]
        while !rest.isEmpty {
            let pair = rest.prefix(2)
            guard pair.allSatisfy(\.isHexDigit), let byte = UInt8(pair, radix: 16) else { return nil }
            bytes.append(byte)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
