import BridgeKit
import CSMBClient
import RecordBatch

/// The record of a file or folder.
struct FileRecord {
    enum Content {
        case text([UInt8])
        case bytes([UInt8])
        case hash(String)
    }

    /// The path as one text.
    let path: String
    /// The folder as one text; nil for the root, which has no folder.
    let folder: String?
    var entry: SMBEntry
    var captures: [(name: String, value: String?)] = []
    var owners: Owners?
    var content: Content?

    /// - Parameter folder: The match's folder as one text, which many matches share.
    init(_ match: FolderWalk.Match, in folder: String, captureNames: [String]) {
        if match.isRoot {
            path = folder
            self.folder = match.folder.isEmpty ? nil : match.folder.dropLast().joined(separator: "/")
        } else {
            path = folder.isEmpty ? match.entry.name : folder + "/" + match.entry.name
            self.folder = folder
        }
        entry = match.entry
        if !captureNames.isEmpty { captures = zip(captureNames, match.captures).map { (name: $0, value: $1) } }
    }

    init(path: [String], entry: SMBEntry) {
        self.path = path.joined(separator: "/")
        self.entry = entry
        folder = path.dropLast().joined(separator: "/")
    }

    /// Writes the record with the requested fields.
    func write(to writer: RecordBatchWriter, content section: FileSection.Content, fields: FileFields = .all) {
        writer.object {
            writer.member("path", path)
            if fields.contains(.pathKey) { writer.member("path_key", Self.key(path)) }
            if fields.contains(.name) { writer.member("name", entry.name) }
            if fields.contains(.folder) { writer.member("folder", folder) }
            if fields.contains(.fileExtension) {
                writer.member("extension", entry.isDirectory ? "" : entry.name.fileExtension)
            }
            if fields.contains(.size) { writer.member("size", entry.size) }
            func write(_ name: String, _ field: FileFields, microseconds: Int64?) {
                if fields.contains(field) { writer.member(name, microseconds: microseconds) }
            }
            write("modified", .modified, microseconds: entry.modified)
            write("created", .created, microseconds: entry.created)
            write("accessed", .accessed, microseconds: entry.accessed)
            write("changed", .changed, microseconds: entry.changed)
            func write(_ name: String, _ field: FileFields, _ attribute: Int32) {
                if fields.contains(field) { writer.member(name, entry.has(attribute)) }
            }
            write("is_directory", .isDirectory, SMBC_DOS_MODE_DIRECTORY)
            write("hidden", .hidden, SMBC_DOS_MODE_HIDDEN)
            write("readonly", .readonly, SMBC_DOS_MODE_READONLY)
            write("system", .system, SMBC_DOS_MODE_SYSTEM)
            write("archive", .archive, SMBC_DOS_MODE_ARCHIVE)
            write("reparse_point", .reparsePoint, SMBEntry.reparsePoint)
            if fields.contains(.attributes) { writer.member("attributes", Int(entry.attributes)) }
            if fields.contains(.inode) { writer.member("inode", entry.inode) }
            if let owners {
                writer.member("owner", owners.owner)
                writer.member("group", owners.group)
            }
            for (name, value) in captures { writer.member(name, value) }
            writeContent(section, writer)
        }
    }

    /// Writes only the fields that a stat returns, and the captures; the others stay unchanged.
    func writePart(to writer: RecordBatchWriter) {
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        writer.object {
            writer.member("path", path)
            writer.member("path_key", Self.key(path))
            writer.member("name", name)
            writer.member("folder", folder)
            writer.member("extension", entry.isDirectory ? "" : name.fileExtension)
            writer.member("size", entry.size)
            writer.member("modified", microseconds: entry.modified)
            writer.member("accessed", microseconds: entry.accessed)
            writer.member("changed", microseconds: entry.changed)
            writer.member("is_directory", entry.isDirectory)
            for (name, value) in captures { writer.member(name, value) }
        }
    }

    private func writeContent(_ section: FileSection.Content, _ writer: RecordBatchWriter) {
        guard section != .none else { return }
        writer.key(section == .hash ? "sha256" : "content")
        switch content {
        case nil: writer.null()
        case .text(let text): text.withUnsafeBytes { writer.text(utf8: $0) }
        case .bytes(let bytes): bytes.withUnsafeBytes { writer.bytes($0) }
        case .hash(let digits): writer.text(digits)
        }
    }

    /// Returns a path as servers compare it: in lower case, and in Unicode's normal form C.
    static func key(_ path: String) -> String {
        if path.utf8.allSatisfy({ $0 < 0x80 && !(0x41...0x5A).contains($0) }) { return path }
        return path.lowercased().normalFormC
    }
}

extension String {
    /// The text after the last dot; empty without a dot, or if the name begins with it.
    var fileExtension: String {
        guard let dot = lastIndex(of: "."), dot != startIndex else { return "" }
        return String(self[index(after: dot)...])
    }
}

extension RecordBatchWriter {
    fileprivate func member(_ name: String, microseconds: Int64?) {
        key(name)
        if let microseconds { timestamp(microseconds: microseconds) } else { null() }
    }

    /// Writes an integer, or a decimal if it is too large.
    fileprivate func member(_ name: String, _ value: UInt64) {
        key(name)
        if let value = Int64(exactly: value) { int64(value) } else { decimal(String(value)) }
    }
}
