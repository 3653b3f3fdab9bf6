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

    /// The options that determine the records of a file.
    var question: String { "files \(content) \(maximumContentBytes) \(encoding ?? "") \(readsOwners)" }
}
