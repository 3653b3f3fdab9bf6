/// The opaque text with which a later fetch goes on.
///
/// Five lines: a version, what was asked for, the folder, the entry, and for a file that was read in part the rows given
/// and the file's state. Names are percent-encoded.
struct WalkCursor: Equatable {
    private static let format = "smb1"

    var point: WalkPoint
    /// Rows that the point's file has given.
    var rows = 0
    /// The state of the file that gave them.
    var version: FileVersion?

    /// - Parameter question: What the walk was asked for; a cursor counts for the same question only.
    func encoded(question: String) -> String {
        let folder = point.folder.map(ShareURL.percentEncoded).joined(separator: "/")
        let name = point.name.map(ShareURL.percentEncoded) ?? ""
        var state = ""
        if let version, point.repeatsEntry {
            state = "\(rows) \(version.size) \(version.modified.map(String.init) ?? "-") \(version.inode)"
        }
        return [Self.format, ShareURL.percentEncoded(question), folder, name, state].joined(separator: "\n")
    }

    init(point: WalkPoint, rows: Int = 0, version: FileVersion? = nil) {
        self.point = point
        self.rows = rows
        self.version = version
    }

    /// nil for a text that is not a cursor of this question.
    init?(_ text: String, question: String) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        guard lines.count == 5, lines[0] == Self.format, lines[1] == ShareURL.percentEncoded(question) else {
            return nil
        }
        var folder: [String] = []
        for part in lines[2].split(separator: "/") {
            guard let name = ShareURL.percentDecoded(part) else { return nil }
            folder.append(name)
        }
        guard let name = ShareURL.percentDecoded(lines[3]) else { return nil }
        point = WalkPoint(folder: folder, name: name.isEmpty ? nil : name)
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
}
