import BridgeKit
import RecordBatch

/// An entity's section of the config: what to read from the share.
enum EntitySection {
    case files(FileSection)
    case csv(CSVSection)

    init(_ options: BridgeOptions) throws {
        switch (options.has("files"), options.has("csv")) {
        case (true, false):
            try Self.refuse(
                ["delimiter", "quote", "header", "empty_as_null"] + (options.has("content") ? [] : ["encoding"]),
                with: "files", in: options)
            self = .files(try FileSection(options))
        case (false, true):
            try Self.refuse(["directories", "content", "max_content_bytes"], with: "csv", in: options)
            self = .csv(try CSVSection(options))
        default:
            throw BridgeError(
                .configuration, "the section smb needs exactly one of files and csv",
                remedy: "write files: PATTERN for a record per file, csv: PATH for a record per row")
        }
    }

    private static func refuse(_ names: [String], with kind: String, in options: BridgeOptions) throws {
        for name in names where options.has(name) {
            throw BridgeError(.configuration, "the section smb has \(name), which has no effect with \(kind)")
        }
    }
}

/// What both kinds of sections say about the files to find.
struct ListingOptions {
    let pattern: PathPattern
    let includesDirectories: Bool
    let maximumFiles: Int

    init(_ options: BridgeOptions, pattern name: String, reserved: Set<String>) throws {
        pattern = try PathPattern(
            options.string(name) ?? "", isCaseSensitive: options.bool("case_sensitive") ?? false)
        includesDirectories = options.bool("directories") ?? false
        maximumFiles = options.integer("max_files") ?? 10_000_000
        for name in pattern.captureNames where reserved.contains(name) {
            throw BridgeError(
                .configuration, "the pattern captures {\(name)}, but each record has a field \(name) of its own",
                remedy: "give the capture another name")
        }
    }
}

/// The section of an entity whose records are files.
struct FileSection {
    enum Content: String, CaseIterable {
        case none, text, bytes
    }

    static let fields = [
        "path", "name", "folder", "extension", "size", "modified", "created", "accessed", "changed", "is_directory",
        "hidden", "readonly", "system", "archive", "inode", "content",
    ]

    let listing: ListingOptions
    let content: Content
    let maximumContentBytes: Int
    let encoding: String

    init(_ options: BridgeOptions) throws {
        listing = try ListingOptions(options, pattern: "files", reserved: Set(Self.fields))
        let choice = try ShareOptions.choice(
            options, "content", of: Content.allCases.map(\.rawValue), otherwise: "none")
        content = Content(rawValue: choice) ?? .none
        maximumContentBytes = max(0, options.integer("max_content_bytes") ?? 1 << 20)
        encoding = options.string("encoding") ?? "utf-8"
        _ = try TextDecoder(encoding: encoding)
    }
}

/// The section of an entity whose records are rows of CSV files.
struct CSVSection {
    enum Header {
        case firstRow
        case names([String])
    }

    let listing: ListingOptions
    let delimiter: UInt8
    let quote: UInt8
    let encoding: String
    let header: Header
    let emptyIsNull: Bool

    init(_ options: BridgeOptions) throws {
        listing = try ListingOptions(options, pattern: "csv", reserved: [])
        delimiter = try Self.character(options, "delimiter", otherwise: UInt8(ascii: ","))
        quote = try Self.character(options, "quote", otherwise: UInt8(ascii: "\""))
        guard delimiter != quote else { throw BridgeError(.configuration, "delimiter and quote are the same") }
        encoding = options.string("encoding") ?? "utf-8"
        _ = try TextDecoder(encoding: encoding)
        emptyIsNull = options.bool("empty_as_null") ?? false
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
        if let names, let fault = Self.fault(inHeader: names, captures: listing.pattern.captureNames) {
            throw BridgeError(.configuration, "header: \(fault)")
        }
    }

    /// Why these names cannot be the fields of records; nil when they can.
    static func fault(inHeader names: [String], captures: [String]) -> String? {
        guard !names.isEmpty else { return "there are no names" }
        var seen = Set(["@path", "@row"] + captures)
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

    private static func character(_ options: BridgeOptions, _ name: String, otherwise: UInt8) throws -> UInt8 {
        guard let text = options.string(name) else { return otherwise }
        if name == "delimiter", text == "tab" || text == "\\t" { return UInt8(ascii: "\t") }
        guard text.utf8.count == 1, let byte = text.utf8.first, byte != 0, byte < 0x80, byte != 0x0A, byte != 0x0D
        else {
            throw BridgeError(.configuration, "\(name): \"\(text)\" is not one ASCII character")
        }
        return byte
    }
}
