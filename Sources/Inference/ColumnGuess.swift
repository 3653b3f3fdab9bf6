package import RecordBatch

/// The type of a column, guessed from a sample of its values, and whether it may be a key.
package struct ColumnGuess {
    package let name: String
    package private(set) var type: String?
    private(set) var isUnique = true
    /// Whether a record had no value.
    package private(set) var hasGaps = false
    private var seen: Set<String> = []
    /// The number of records with a value.
    package private(set) var count = 0

    package init(_ name: String) { self.name = name }

    /// Adds a record's value; nil for a missing one.
    package mutating func add(_ value: BatchValue?) {
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
    package var mayBeKey: Bool {
        isUnique && !hasGaps && count > 0 && ["text", "integer", "uuid"].contains(type ?? "")
    }

    /// How well the field's name suits a key, from 0.
    package var keyRank: Int {
        let name = name.lowercased()
        if KeyVocabulary.certain.names(.column).contains(name) { return 3 }
        if KeyVocabulary.endings.names(.column).contains(where: { name.hasSuffix("_" + $0) }) { return 2 }
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
    package static func type(of text: String) -> String {
        switch TextFormat.of(text) {
        case .integer: "integer"
        case .decimal: "decimal"
        case .uuid: "uuid"
        case .url: "url"
        case .date: "date"
        // A column of times without seconds, or with a space in place of the T, may be a text that a person reads.
        case .timestamp:
            text.utf8.count >= 19 && text.utf8.dropFirst(10).first == UInt8(ascii: "T") ? "timestamp" : "text"
        case nil: ["true", "false"].contains(text.lowercased()) ? "boolean" : "text"
        }
    }
}
