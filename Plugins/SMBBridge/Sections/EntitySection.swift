import BridgeKit
import RowFormats

/// An entity's section of the configuration: what to read from the share.
enum EntitySection {
    case files(FileSection)
    case rows(RowSection)

    /// The keys that select the kind of records; a section has exactly one.
    static let kinds = ["files", "folders", "csv", "ndjson", "json", "xml"]

    /// The keys allowed for each kind, in addition to those of every listing.
    private static let special: [String: Set<String>] = [
        "files": ["directories", "content", "max_content_bytes", "encoding", "owners"],
        "folders": ["owners"],
        "csv": [
            "encoding", "delimiter", "quote", "header", "empty_as_null", "null_values", "skip_rows", "comment",
            "lenient_quotes", "pad_rows", "members", "write", "columns",
        ],
        "ndjson": ["encoding", "members", "write", "columns"],
        "json": ["encoding", "records", "members"],
        "xml": ["records", "members"],
    ]

    /// The selection of files.
    var listing: ListingOptions {
        switch self {
        case .files(let section): section.listing
        case .rows(let section): section.listing
        }
    }

    var readsOwners: Bool {
        if case .files(let section) = self { section.readsOwners } else { false }
    }

    /// The reasons why the entity's objects cannot be written.
    var writeFaults: [SectionFault] {
        guard case .rows(let section) = self, section.writing == .none else { return [] }
        switch section.format {
        case .csv, .ndjson:
            return [
                SectionFault(
                    key: nil, message: "the entity is \"writable\", but its section smb has no \"write\"",
                    remedy: "add write: append (new rows only) or write: rewrite to the section, or remove \"writable\""
                )
            ]
        case .json, .xml:
            return [
                SectionFault(
                    key: nil, message: "the entity is \"writable\", but rows of JSON and XML files cannot be written",
                    remedy: "remove \"writable\", or keep the rows in csv or ndjson files")
            ]
        }
    }

    /// Returns the faults that the entity's names and paths show.
    func faults(in request: FetchRequest) -> [SectionFault] {
        var faults = request.isWritable ? writeFaults : []
        if request.token != nil, let paths = request.fieldPaths, let fault = deletionFault(reading: paths) {
            faults.append(fault)
        }
        // What the section has from its bridge's section or the file's defaults may be for other entities.
        let own = Set(request.section.names).subtracting(request.inheritedMembers)
        switch self {
        case .files(let section):
            if request.isWritable, let paths = request.fieldPaths, let fault = section.pathFault(reading: paths) {
                faults.append(fault)
            }
            if own.contains("max_content_bytes"), !section.hasWritableContent {
                faults.append(
                    SectionFault(
                        key: "max_content_bytes",
                        message: "max_content_bytes has no effect without content: text or data", remedy: "remove it",
                        isWarning: true))
            }
        case .rows(let section):
            if own.contains("columns"), section.writing == .none {
                faults.append(
                    SectionFault(
                        key: "columns", message: "columns has no effect without write",
                        remedy: "set write: rewrite, or remove it", isWarning: true))
            }
            if own.contains("columns"), let names = request.names { faults += section.columnFaults(names) }
        }
        return faults
    }

    /// Returns a warning if nothing that the entity reads says which file an object is from: a scan for changes then
    /// cannot tell which objects are missing.
    ///
    /// - Parameter paths: The paths in a record that the entity reads.
    private func deletionFault(reading paths: [[String]]) -> SectionFault? {
        var field = "@path"
        if case .files(let section) = self {
            guard section.readsFiles else { return nil }
            field = "path"
        }
        guard !listing.patterns.isLiteral, !paths.contains(where: { $0.first == field }) else { return nil }
        return SectionFault(
            key: nil,
            message: "with \"incremental: token\", nothing would be deleted: none of the entity's attributes reads "
                + "\(field), the file that an object is from",
            remedy: "add an attribute that reads it, such as file: {type: text, from: \"\(field)\"}", isWarning: true)
    }

    init(_ options: BridgeOptions) throws {
        let given = Self.kinds.filter(options.has)
        guard let kind = given.first, given.count == 1 else {
            throw BridgeError(
                .configuration, "the section smb needs exactly one of \(Self.kinds.joined(separator: ", "))",
                remedy: "write files: PATTERN for a record per file, csv: PATH for a record per row")
        }
        let known = Self.special[kind] ?? []
        for name in Self.special.values.reduce(Set(), { $0.union($1) }).sorted() where !known.contains(name) {
            if options.has(name) {
                throw BridgeError(.configuration, "the section smb has \(name), which has no effect with \(kind)")
            }
        }
        switch kind {
        case "files":
            if options.has("encoding"), !options.has("content") {
                throw BridgeError(
                    .configuration, "the section smb has encoding, which has no effect with files without content")
            }
            self = .files(try FileSection(options, kind: kind))
        case "folders": self = .files(try FileSection(options, kind: kind))
        default: self = .rows(try RowSection(options, kind: kind))
        }
    }
}
