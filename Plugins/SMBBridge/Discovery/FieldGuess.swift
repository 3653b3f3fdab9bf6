import RecordBatch

/// The type of a field, guessed from a sample of its values and named as in a configuration.
struct FieldGuess {
    let name: String
    private(set) var type: String?
    private(set) var isUnique = true
    /// Whether a record had no value.
    private(set) var hasGaps = false
    private var seen: Set<String> = []
    /// The number of records with a value.
    private(set) var count = 0

    init(_ name: String) { self.name = name }

    /// Adds a record's value; nil for a missing one.
    mutating func add(_ value: BatchValue?) {
        guard let value, value.tag != .null, !(value.tag == .text && value.count == 0 && value.string.isEmpty) else {
            hasGaps = true
            isUnique = false
            return
        }
        count += 1
        let found = Self.type(of: value)
        type = type.map { Self.common($0, found) } ?? found
        if isUnique { isUnique = value.tag != .array && value.tag != .object && seen.insert(value.json).inserted }
    }

    /// Whether the field may be a key: every record has a value, and all values differ.
    var mayBeKey: Bool { isUnique && !hasGaps && count > 0 && ["text", "integer", "uuid"].contains(type ?? "") }

    /// How well the field's name suits a key, from 0.
    var keyRank: Int {
        let name = name.lowercased()
        if ["id", "key", "code", "uuid", "guid", "number", "nr", "no", "@id"].contains(name) { return 3 }
        if ["id", "code", "key", "no", "nr", "number"].contains(where: { name.hasSuffix("_" + $0) }) { return 2 }
        return name.hasSuffix("id") || name.hasSuffix("code") ? 1 : 0
    }

    private static func common(_ first: String, _ second: String) -> String {
        if first == second { return first }
        let pair: Set<String> = [first, second]
        if pair == ["integer", "decimal"] { return "decimal" }
        if pair == ["date", "timestamp"] { return "timestamp" }
        return pair.contains("json") ? "json" : "text"
    }

    private static func type(of value: BatchValue) -> String {
        switch value.tag {
        case .bool: "boolean"
        case .int64: "integer"
        case .double, .decimal: "decimal"
        case .timestamp: "timestamp"
        case .bytes: "data"
        case .array, .object: "json"
        case .null: "text"
        case .text: type(of: value.string)
        }
    }

    /// Returns the type of a text; `007` and a telephone number stay texts.
    static func type(of text: String) -> String {
        let bytes = Array(text.utf8)
        let digits = bytes.first == UInt8(ascii: "-") ? bytes.dropFirst() : bytes[...]
        func isDigits(_ part: ArraySlice<UInt8>) -> Bool {
            !part.isEmpty && part.allSatisfy { (0x30...0x39).contains($0) }
        }
        let hasLeadingZero = digits.count > 1 && digits.first == 0x30
        if isDigits(digits), !hasLeadingZero, digits.count <= 18 { return "integer" }
        if let point = digits.firstIndex(of: UInt8(ascii: ".")), isDigits(digits[..<point]),
            isDigits(digits[(point + 1)...]), digits.first != 0x30 || point == digits.startIndex + 1
        {
            return "decimal"
        }
        if ["true", "false"].contains(text.lowercased()) { return "boolean" }
        if isShaped(bytes.prefix(10), like: "0000-00-00") {
            if bytes.count == 10 { return "date" }
            if bytes.count >= 19, bytes[10] == UInt8(ascii: "T"), isShaped(bytes[11..<19], like: "00:00:00") {
                return "timestamp"
            }
        }
        if isUUID(bytes) { return "uuid" }
        if text.hasPrefix("https://") || text.hasPrefix("http://") { return "url" }
        return "text"
    }

    private static func isShaped(_ bytes: ArraySlice<UInt8>, like shape: String) -> Bool {
        bytes.count == shape.utf8.count
            && zip(bytes, shape.utf8).allSatisfy { $1 == 0x30 ? (0x30...0x39).contains($0) : $0 == $1 }
    }

    private static func isUUID(_ bytes: [UInt8]) -> Bool {
        bytes.count == 36
            && bytes.enumerated().allSatisfy { index, byte in
                [8, 13, 18, 23].contains(index)
                    ? byte == UInt8(ascii: "-") : Character(Unicode.Scalar(byte)).isHexDigit
            }
    }
}
