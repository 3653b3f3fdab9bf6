import BridgeKit
import RowFormats

/// The section of an entity whose records are rows of files.
struct RowSection {
    /// The permitted changes to rows.
    enum Writing: String {
        case none, append, rewrite
    }

    let listing: ListingOptions
    let format: RowFormat
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
        format = try RowFormat(kind, options, captures: listing.patterns.captureNames)
    }

    /// Whether a file consists of lines that end with the byte of a line feed, unless its first bytes say otherwise.
    var hasLines: Bool {
        switch format {
        case .csv, .ndjson: encoding?.contains("16") != true && encoding?.contains("32") != true
        case .json, .xml: false
        }
    }

    /// Returns the faults of the attributes that ``columns`` names.
    func columnFaults(_ names: EntityNames) -> [SectionFault] {
        columns.keys.sorted().compactMap { name in
            if let fault = EntityNames.fault(name, among: names.fields, option: "columns.\(name)") { return fault }
            guard !names.key.contains(name) else { return nil }
            return SectionFault(
                key: "columns.\(name)", message: "columns.\(name) has no effect: \(name) is not part of the key",
                remedy: "remove it; the attribute's from names its column", isWarning: true)
        }
    }

    /// The options that determine the rows of a file.
    var question: String {
        return "\(format) \(encoding ?? "") \(members.question)"
    }
}
