import BridgeKit
import RowFormats

/// The section of an entity whose records are files or folders.
struct FileSection {
    enum Content: String, CaseIterable {
        case none, text, bytes, data, hash
    }

    static let fields = [
        "path", "path_key", "name", "folder", "extension", "size", "modified", "created", "accessed", "changed",
        "is_directory", "hidden", "readonly", "system", "archive", "reparse_point", "attributes", "inode", "owner",
        "group", "content", "sha256",
    ]

    let listing: ListingOptions
    let content: Content
    let maximumContentBytes: Int
    let encoding: String?
    let readsOwners: Bool

    init(_ options: BridgeOptions, kind: String) throws {
        let kinds: FolderWalk.Kinds =
            kind == "folders" ? .folders : options.bool("directories") ?? false ? .both : .files
        listing = try ListingOptions(options, patterns: kind, kinds: kinds, reserved: Set(Self.fields))
        let choice = try ShareOptions.choice(
            options, "content", of: Content.allCases.map(\.rawValue), otherwise: "none")
        content = Content(rawValue: choice) ?? .none
        maximumContentBytes = max(0, options.integer("max_content_bytes") ?? 1 << 20)
        encoding = options.string("encoding")
        readsOwners = options.bool("owners") ?? false
        _ = try TextDecoder(encoding: encoding)
    }

    /// Whether records have the content itself, so that it can be written.
    var hasWritableContent: Bool {
        switch content {
        case .text, .bytes, .data: true
        case .none, .hash: false
        }
    }

    /// Returns the fault of an entity that is written, and reads nothing that says which file an object is.
    ///
    /// - Parameter paths: The paths in a record that the entity reads.
    func pathFault(reading paths: [[String]]) -> SectionFault? {
        let hasFolder = paths.contains(["folder"]) || listing.patterns.onlyFolder != nil
        let isKnown = paths.contains { $0.first == "path" } || hasFolder && paths.contains(["name"])
        guard !isKnown else { return nil }
        return SectionFault(
            key: nil,
            message: "the entity is \"writable\", but none of its attributes reads path: bmo cannot tell which file an "
                + "object is",
            remedy: "add the attribute path: text, or remove \"writable\"")
    }

    /// Whether a scan reads more of a file than its folder's listing, and can therefore skip unchanged ones.
    var readsFiles: Bool { content != .none || readsOwners }

    /// The options that determine the records of a file.
    var question: String { "files \(content) \(maximumContentBytes) \(encoding ?? "") \(readsOwners)" }
}
