import BridgeKit
import RowFormats
internal import TextFormats

/// The key of the object that a write is about, as its row in a file has it.
struct FileRowKey {
    private struct Part {
        /// The names of the members that lead to the value, or the column.
        let path: [String]
        let value: String
        let type: ValueType
        /// The usual form of a UUID; nil for other values.
        let uuid: String?
        /// The instant of a date or time; nil for other values.
        let instant: Int64?
        /// Whether a file may write the value in another way.
        var hasOtherForms: Bool { type != .text || uuid != nil || instant != nil }

        init(path: [String], value: String, type: ValueType) {
            self.path = path
            self.value = value
            self.type = type
            uuid = type == .text ? UUIDText.canonical(value) : nil
            instant = type == .text ? ISODate(value)?.microseconds : nil
        }
    }

    private enum ValueType {
        case text, number, boolean
    }

    private let parts: [Part]

    /// - Throws: ``BridgeError`` if the key cannot tell which row it is.
    init(_ request: WriteRequest, _ section: RowSection) throws {
        let captures = section.listing.patterns.captureNames
        parts = try request.key.names.compactMap { name in
            let known = request.keyPaths.isEmpty ? [name] : request.keyPaths[name]
            guard let path = section.columns[name].map({ [$0] }) ?? known else {
                throw BridgeError(
                    .unsupported, "the key \(name) of \(request.entity) is not read from one column",
                    remedy: "make a key of the rows' own columns, or name its column: columns: {\(name): COLUMN}")
            }
            if path == ["@row"] {
                throw BridgeError(
                    .unsupported,
                    "the key of \(request.entity) has @row, a position, which changes with the rows above: bmo cannot "
                        + "tell which row it is", remedy: "make a key of the rows' own columns")
            }
            // These select the file.
            if path.first?.hasPrefix("@") == true || path.count == 1 && captures.contains(path[0]) { return nil }
            guard let (value, type) = Self.value(of: name, in: request.key) else {
                throw BridgeError(
                    .unsupported, "the key \(name) of \(request.entity) is not a text or a number",
                    remedy: "make a key of other columns")
            }
            return Part(path: path, value: value, type: type)
        }
        guard !parts.isEmpty else {
            throw BridgeError(
                .configuration,
                request.key.names.isEmpty
                    ? "the entity \(request.entity) has no key: bmo cannot tell which row it is"
                    : "the key of \(request.entity) names only the file: bmo cannot tell which row it is")
        }
    }

    private static func value(of name: String, in key: BridgeOptions) -> (String, ValueType)? {
        key.withValue(name) { value in
            switch value?.tag {
            case .bool: return key.string(name).map { ($0, .boolean) }
            case .int64, .decimal, .double: return key.string(name).map { ($0, .number) }
            default: return key.string(name).map { ($0, .text) }
            }
        }
    }

    /// The key in words.
    var words: String { parts.map { "\(RowText.column($0.path)) = \($0.value)" }.joined(separator: ", ") }

    /// Whether the absence of such a row in a file says that the remote does not have it.
    ///
    /// A file may write times and booleans in more ways than bmo knows, and a transform may have changed the key's case
    /// or white space.
    func isConclusive(in text: RowText) throws -> Bool {
        if parts.contains(where: { $0.type == .boolean || $0.type == .text && ISODate($0.value) != nil }) {
            return false
        }
        return try !text.rows.contains { row in
            zip(try text.values(of: row, at: parts.map(\.path)), parts).allSatisfy { value, part in
                value.map { Self.folded($0) == Self.folded(part.value) } ?? false
            }
        }
    }

    private static func folded(_ text: String) -> String {
        String(text.lowercased().filter { !$0.isWhitespace })
    }

    /// Returns the rows with the key: those that have it as it is, else those that write it in another way.
    ///
    /// - Throws: ``FileFault`` for a row that cannot be read.
    func rows(of text: RowText) throws -> [Range<Int>] {
        let same = try rows(of: text) { value, part in value.isSame(as: part.value) }
        guard same.isEmpty, parts.contains(where: \.hasOtherForms) else { return same }
        return try rows(of: text, where: Self.isSame)
    }

    private func rows(of text: RowText, where isSame: (String, Part) -> Bool) throws -> [Range<Int>] {
        let paths = parts.map(\.path)
        return try text.rows.filter { row in
            let values = try text.values(of: row, at: paths)
            return zip(values, parts).allSatisfy { value, part in value.map { isSame($0, part) } ?? false }
        }
    }

    /// Returns a member of the key that no row has; nil if each occurs.
    func missing(in text: RowText) throws -> String? {
        let paths = parts.map(\.path)
        if !text.columns.isEmpty { return paths.map(RowText.column).first { !text.columns.contains($0) } }
        var found = Array(repeating: text.rows.isEmpty, count: paths.count)
        for row in text.rows where found.contains(false) {
            for (index, value) in try text.values(of: row, at: paths).enumerated() where value != nil {
                found[index] = true
            }
        }
        return found.firstIndex(of: false).map { RowText.column(paths[$0]) }
    }

    /// Whether a file's text is the value: a file may write the number 7 as 007, and a UUID in upper case.
    private static func isSame(_ text: String, _ part: Part) -> Bool {
        if text.isSame(as: part.value) { return true }
        switch part.type {
        case .boolean: return SameNotation.isSame(text, part.value)
        case .number:
            // The usual case, in which the comparison of numbers would take most of the time.
            if isShortest(text), isShortest(part.value) { return false }
            return text.utf8.contains(where: digits.contains) && SameNotation.isSame(text, part.value)
        case .text:
            if let uuid = part.uuid { return UUIDText.canonical(text) == uuid }
            if let instant = part.instant { return ISODate(text)?.microseconds == instant }
            return false
        }
    }

    /// Whether a text is a natural number without leading zeros, which has one such text only.
    private static func isShortest(_ text: String) -> Bool {
        guard let first = text.utf8.first, first != UInt8(ascii: "0") else { return false }
        return text.utf8.allSatisfy(digits.contains)
    }

    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
}
