import BridgeKit
import TextFormats

/// The opaque text with which a later fetch resumes.
///
/// Its lines are a version, the question, the folder, the entry, for a partly read file the number of returned rows and
/// the file's state, and then the objects that the scan skipped so far. Names are percent-encoded.
struct ShareCursor: Equatable {
    private static let format = "smb2"
    /// The maximum number of skipped objects that a cursor carries.
    static let maxSkipped = 500

    /// Paths that a scan skipped.
    enum Skipped: Equatable {
        case path([String])
        case below([String])

        static func == (left: Skipped, right: Skipped) -> Bool {
            switch (left, right) {
            case (.path(let left), .path(let right)), (.below(let left), .below(let right)): left.isSame(as: right)
            default: false
            }
        }
    }

    var point: ScanPoint
    /// The number of rows returned from the entry's file.
    var rows = 0
    /// The state of that file.
    var version: FileVersion?
    /// The objects that the scan skipped so far; nil if there are too many to carry.
    var skipped: [Skipped]? = []

    init(point: ScanPoint, rows: Int = 0, version: FileVersion? = nil, skipped: [Skipped]? = []) {
        self.point = point
        self.rows = rows
        self.version = version
        self.skipped = skipped
    }

    /// - Parameter question: The scan's selection; a cursor is valid only for the same question.
    func encoded(question: String) -> String {
        let name = point.name.map(ShareURL.percentEncoded) ?? ""
        var state = ""
        if let version, point.repeatsEntry {
            state = "\(rows) \(version.size) \(version.modified.map(String.init) ?? "-") \(version.inode)"
        }
        let lines = [Self.format, ShareURL.percentEncoded(question), Self.text(point.folder), name, state]
        guard let skipped, skipped.count <= Self.maxSkipped else { return (lines + ["*"]).joined(separator: "\n") }
        let others = skipped.map { skipped in
            switch skipped {
            case .path(let path): "=" + Self.text(path)
            case .below(let path): "/" + Self.text(path)
            }
        }
        return (lines + others).joined(separator: "\n")
    }

    /// Decodes a cursor; nil for a text that is not a cursor of this question.
    init?(_ text: String, question: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count >= 5, lines[0] == Self.format, lines[1] == ShareURL.percentEncoded(question),
            let folder = Self.path(lines[2]), let name = PercentEncoding.strictlyDecoded(lines[3])
        else { return nil }
        point = ScanPoint(folder: folder, name: name.isEmpty ? nil : name)
        for line in lines[5...] {
            if line == "*" {
                skipped = nil
                continue
            }
            guard let kind = line.first, "=/".contains(kind), let path = Self.path(line.dropFirst()) else { return nil }
            skipped?.append(kind == "=" ? .path(path) : .below(path))
        }
        guard !lines[4].isEmpty else { return }
        let state = lines[4].split(separator: " ")
        guard state.count == 4, point.name != nil, let rows = Int(state[0]), let size = Int64(state[1]),
            let inode = UInt64(state[3])
        else { return nil }
        let modified = Int64(state[2])
        guard modified != nil || state[2] == "-" else { return nil }
        point.repeatsEntry = true
        self.rows = rows
        version = FileVersion(size: size, modified: modified, inode: inode)
    }

    private static func text(_ path: [String]) -> String {
        path.map(ShareURL.percentEncoded).joined(separator: "/")
    }

    private static func path(_ text: Substring) -> [String]? {
        var names: [String] = []
        for part in text.split(separator: "/") {
            guard let name = PercentEncoding.strictlyDecoded(part) else { return nil }
            names.append(name)
        }
        return names
    }
}
