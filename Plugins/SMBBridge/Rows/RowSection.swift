import BridgeJSON
import BridgeKit
import RecordBatch

/// The section of an entity whose records are rows of files.
struct RowSection {
    enum Format {
        case csv(CSVDialect)
        case ndjson
        case json(JSONPath?)
        /// The local names of the record elements and of the elements around them; empty for the root's children.
        case xml([String])
    }

    /// The permitted changes to rows.
    enum Writing: String {
        case none, append, rewrite
    }

    let listing: ListingOptions
    let format: Format
    /// The encoding; nil if the format, or a byte order mark, determines it.
    let encoding: String?
    /// The members of a zip archive to read.
    let members: PatternSet
    let writing: Writing
    /// The columns of key attributes whose names differ.
    let columns: [String: String]

    init(_ options: BridgeOptions, kind: String) throws {
        listing = try ListingOptions(options, patterns: kind, kinds: .files, reserved: ["@path", "@row", "@member"])
        encoding = options.string("encoding")
        _ = try TextDecoder(encoding: encoding)
        members = try PatternSet(options.has("members") ? options.strings("members") : ["**"])
        writing =
            Writing(
                rawValue: try ShareOptions.choice(
                    options, "write", of: ["none", "append", "rewrite"], otherwise: "none")) ?? .none
        let renamed = options.object("columns") ?? .empty
        columns = Dictionary(
            renamed.names.map { ($0, renamed.string($0) ?? $0) }, uniquingKeysWith: { first, _ in first })
        switch kind {
        case "csv": format = .csv(try CSVDialect(options, captures: listing.patterns.captureNames))
        case "ndjson": format = .ndjson
        case "json":
            format = .json(try options.string("records").map { try JSONPath($0, option: "records") })
        default:
            format = .xml((options.string("records") ?? "").split(separator: "/").map(String.init))
        }
    }

    /// The options that determine the rows of a file.
    var question: String {
        let own =
            switch format {
            case .csv(let dialect): "csv \(dialect)"
            case .ndjson: "ndjson"
            case .json(let path): "json \(path?.description ?? "")"
            case .xml(let names): "xml \(names.joined(separator: "/"))"
            }
        return "\(own) \(encoding ?? "") \(members.question)"
    }
}

/// The dialect of a CSV file.
struct CSVDialect {
    enum Header {
        case firstRow
        case names([String])
    }

    var delimiter: UInt8
    /// The quote character; zero for none.
    var quote: UInt8
    var header: Header
    var emptyIsNull = false
    /// Fields that mean null.
    var nullValues: [String] = []
    /// The number of rows above the header, or above the first row.
    var skippedRows = 0
    /// The byte that begins a comment row, which is skipped.
    var comment: UInt8?
    /// Whether quotes inside unquoted fields are kept literally.
    var isLenient = false
    /// Whether rows may be too short, or too long by empty fields.
    var padsRows = false

    init(delimiter: UInt8 = UInt8(ascii: ","), quote: UInt8 = UInt8(ascii: "\""), header: Header = .firstRow) {
        self.delimiter = delimiter
        self.quote = quote
        self.header = header
    }

    init(_ options: BridgeOptions, captures: [String]) throws {
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

    /// Returns the reason why these names cannot be the fields of records; nil if they can.
    static func fault(inHeader names: [String], captures: [String]) -> String? {
        guard !names.isEmpty else { return "there are no names" }
        var seen = Set(["@path", "@row", "@member"] + captures)
        for (index, name) in names.enumerated() {
            guard !name.isEmpty else { return "the name of column \(index + 1) is empty" }
            if captures.contains(name) {
                return "column \(index + 1) is named \"\(name)\", as a capture of the pattern is"
            }
            guard seen.insert(name).inserted else {
                return "the name \"\(name)\" of column \(index + 1) is there twice"
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
