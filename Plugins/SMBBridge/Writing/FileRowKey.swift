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
    }

    private enum ValueType {
        case text, number, notation
    }

    private let parts: [Part]

    /// - Throws: ``BridgeError`` if the key cannot tell which row it is.
    init(_ request: WriteRequest, _ section: RowSection) throws {
        let captures = section.listing.patterns.captureNames
        parts = try request.key.names.compactMap { name in
            let path = section.columns[name].map { [$0] } ?? request.keyPaths[name] ?? [name]
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
                    .unsupported, "the key \(name) of \(request.entity) is not a text, a number or a time",
                    remedy: "make a key of other columns")
            }
            return Part(path: path, value: value, type: type)
        }
        guard !parts.isEmpty else {
            throw BridgeError(
                .configuration, "the entity \(request.entity) has no key: bmo cannot tell which row it is")
        }
    }

    private static func value(of name: String, in key: BridgeOptions) -> (String, ValueType)? {
        key.withValue(name) { value in
            switch value?.tag {
            case .timestamp: return value.map { (Timestamp.text(microseconds: $0.int64), .notation) }
            case .bool: return key.string(name).map { ($0, .notation) }
            case .int64, .decimal, .double: return key.string(name).map { ($0, .number) }
            default: return key.string(name).map { ($0, .text) }
            }
        }
    }

    /// The key in words.
    var words: String { parts.map { "\(RowText.column($0.path)) = \($0.value)" }.joined(separator: ", ") }

    /// Whether the absence of such a row in a file says that the remote does not have it.
    ///
    /// A file may write times and booleans in more ways than bmo knows.
    var isConclusive: Bool { parts.allSatisfy { $0.type != .notation } }

    /// Returns the rows with the key: those that have it as it is, else those that write it in another way.
    ///
    /// - Throws: ``FileFault`` for a row that cannot be read.
    func rows(of text: RowText) throws -> [Range<Int>] {
        let values = try text.rows.map { try text.values(of: $0, at: parts.map(\.path)) }
        let same = zip(text.rows, values).filter { _, values in values == parts.map(\.value) }.map(\.0)
        guard same.isEmpty else { return same }
        return zip(text.rows, values).filter { _, values in
            zip(values, parts).allSatisfy { value, part in value.map { Self.isSame($0, part) } ?? false }
        }.map(\.0)
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
        switch part.type {
        case .text: text == part.value || isUUID(part.value) && text.lowercased() == part.value.lowercased()
        case .number, .notation: SameNotation.isSame(text, part.value)
        }
    }

    /// Whether a text has the form of RFC 9562, section 4.
    private static func isUUID(_ text: String) -> Bool {
        let groups = text.split(separator: "-", omittingEmptySubsequences: false)
        return groups.map(\.utf8.count) == [8, 4, 4, 4, 12]
            && groups.allSatisfy { $0.allSatisfy { $0.isASCII && $0.isHexDigit } }
    }
}
