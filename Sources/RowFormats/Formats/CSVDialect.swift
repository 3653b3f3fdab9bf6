package import BridgeKit
import RecordBatch

/// The dialect of a CSV file.
package struct CSVDialect: Sendable {
    package enum Header: Sendable {
        case firstRow
        case names([String])
    }

    package var delimiter: UInt8
    /// The quote character; zero for none.
    package var quote: UInt8
    package var header: Header
    package var emptyIsNull = false
    /// Fields that mean null.
    package var nullValues: [String] = []
    /// The number of rows above the header, or above the first row.
    package var skippedRows = 0
    /// The byte that begins a comment, a line that is skipped.
    package var comment: UInt8?
    /// Whether quotes inside unquoted fields are kept literally.
    package var isLenient = false
    /// Whether rows may be too short, or too long by empty fields.
    package var padsRows = false

    package init(delimiter: UInt8 = UInt8(ascii: ","), quote: UInt8 = UInt8(ascii: "\""), header: Header = .firstRow) {
        self.delimiter = delimiter
        self.quote = quote
        self.header = header
    }

    package init(_ options: BridgeOptions, captures: [String]) throws {
        delimiter = try Self.character(options, "delimiter") ?? UInt8(ascii: ",")
        quote = options.string("quote") == "none" ? 0 : try Self.character(options, "quote") ?? UInt8(ascii: "\"")
        guard delimiter != quote else { throw BridgeError(.configuration, "delimiter and quote are the same") }
        emptyIsNull = options.bool("empty_as_null") ?? false
        nullValues = options.strings("null_values")
        skippedRows = max(0, options.integer("skip_rows") ?? 0)
        comment = try Self.character(options, "comment")
        isLenient = options.bool("lenient_quotes") ?? false
        padsRows = options.bool("pad_rows") ?? false
        let names: [String]? = try options.withValue("header") { value in
            switch value?.tag {
            case nil, .null: return nil
            case .bool where value?.bool == true: return nil
            case .array: return value?.elements.compactMap(\.text) ?? []
            default:
                throw BridgeError(
                    .configuration, "header: neither true nor a list of names",
                    remedy: "give the names of a file without header as a list")
            }
        }
        header = names.map(Header.names) ?? .firstRow
        if let names, let fault = Self.fault(inHeader: names, captures: captures) {
            throw BridgeError(.configuration, "header: \(fault)")
        }
    }

    /// Returns the delimiter that a text's first line states, as Excel writes it: `sep=;`.
    static func delimiter(statedIn text: ArraySlice<UInt8>) -> UInt8? {
        let line = Array(text.prefix(6))
        guard line.starts(with: "sep=".utf8), line.count >= 5 else { return nil }
        return line.count == 5 || line[5] == 0x0A || line[5] == 0x0D ? line[4] : nil
    }

    /// The text of a field for null.
    var nullText: String { isNull("") ? "" : nullValues.first ?? "" }

    /// Whether a field with this text is read as null.
    func isNull(_ text: String) -> Bool { nullValues.contains(text) || text.isEmpty && emptyIsNull }

    /// Returns the reason why these names cannot be the fields of records; nil if they can.
    package static func fault(inHeader names: [String], captures: [String]) -> String? {
        guard !names.isEmpty else { return "there are no names" }
        var seen = Set(["@path", "@row", "@member"] + captures)
        for (index, name) in names.enumerated() {
            guard !name.isEmpty else { return "the name of column \(index + 1) is empty" }
            if captures.contains(name) {
                return "column \(index + 1) is named \"\(name)\", as a capture of the pattern is"
            }
            guard seen.insert(name).inserted else {
                return "the name \"\(name)\" of column \(index + 1) occurs twice"
            }
        }
        return nil
    }

    private static func character(_ options: BridgeOptions, _ name: String) throws -> UInt8? {
        guard let text = options.string(name) else { return nil }
        if name == "delimiter", text == "tab" || text == "\\t" { return UInt8(ascii: "\t") }
        guard text.utf8.count == 1, let byte = text.utf8.first, byte != 0, byte < 0x80, byte != 0x0A, byte != 0x0D
        else {
            throw BridgeError(.configuration, "\(name): \"\(text)\" is not one ASCII character")
        }
        return byte
    }
}

extension CSVDialect: CustomStringConvertible {
    /// All that determines a file's rows.
    ///
    /// Databases keep it in the cursors of scans: another text would make the next sync read each file again. So it has
    /// the form that Swift printed when the type was part of SMBBridge, whatever its members are called now.
    package var description: String {
        let header =
            switch header {
            case .firstRow: "firstRow"
            case .names(let names): "names(\(names))"
            }
        let comment = comment.map { "Optional(\($0))" } ?? "nil"
        return "CSVDialect(delimiter: \(delimiter), quote: \(quote), header: SMBBridge.CSVDialect.Header.\(header), "
            + "emptyIsNull: \(emptyIsNull), nullValues: \(nullValues), skippedRows: \(skippedRows), comment: \(comment), "
            + "isLenient: \(isLenient), padsRows: \(padsRows))"
    }
}
