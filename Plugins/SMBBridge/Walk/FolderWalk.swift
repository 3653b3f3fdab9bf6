import Glibc

/// The position of a scan: the last returned entry, or the last finished folder.
struct ScanPoint: Sendable, Equatable {
    /// Components below the URL's folder.
    var folder: [String]
    /// The last entry's name; nil if all entries of the folder itself were returned (but not those of its subfolders).
    var name: String?
    /// Whether a scan that resumes here returns that entry again.
    var repeatsEntry = false

    static func == (left: ScanPoint, right: ScanPoint) -> Bool {
        guard left.repeatsEntry == right.repeatsEntry, left.folder.isSame(as: right.folder) else { return false }
        guard let name = left.name, let other = right.name else { return left.name == nil && right.name == nil }
        return name.isSame(as: other)
    }
}

/// A depth-first traversal of the folders that can match a pattern; it selects the next folder to list, without I/O.
///
/// A folder's entries come first, sorted by the bytes of their names, then its subfolders in the same order. This lets
/// a scan resume at a ``ScanPoint``, whatever changed in the meantime.
struct FolderWalk {
    /// A folder to list.
    struct Folder: Equatable {
        /// Components below the URL's folder.
        let path: [String]
        let positions: [PatternSet.Position]
        /// The file ids from the first folder to this one, for detecting a link back to an ancestor.
        let inodes: [UInt64]
        let depth: Int
        /// For a server without file ids: the marks of this folder's ancestors.
        var marks: [UInt64] = []
        /// Whether the folder is a reparse point, such as a DFS link: its content may be on another server.
        var isLink = false
    }

    /// A file or folder that matches the pattern.
    struct Match: Equatable {
        let folder: [String]
        let entry: SMBEntry
        /// The index of the matching pattern.
        let pattern: Int
        /// The captures in the order of ``PatternSet/captureNames``.
        let captures: [String?]
        /// Whether this is the folder where the scan began.
        var isRoot = false

        var path: [String] { isRoot ? folder : folder + [entry.name] }
    }

    enum Step: Equatable {
        /// List this folder, and call ``listed(_:)`` or ``skipped()``.
        case list(Folder)
        case match(Match)
        case end
    }

    /// The kinds of entries to return.
    enum Kinds: String, Sendable {
        case files, folders
        case both = "files and folders"

        func include(directory: Bool) -> Bool { self == .both || directory == (self == .folders) }
    }

    static let maximumDepth = 64

    /// The position at which a later scan can resume; nil before the first folder was listed.
    private(set) var point: ScanPoint?
    /// Warnings about skipped folders, since they were last taken.
    var warnings: [String] = []
    /// Skipped folders with unknown content, since they were last taken.
    var leftOut: [[String]] = []

    private let patterns: PatternSet
    private let kinds: Kinds
    private let resumePoint: ScanPoint?
    private var stack: [Folder]
    private var current: Folder?
    private var matches: [Match] = []
    private var nextMatch = 0

    init(patterns: PatternSet, kinds: Kinds, from point: ScanPoint? = nil) {
        self.patterns = patterns
        self.kinds = kinds
        self.point = point
        resumePoint = point
        stack = [Folder(path: patterns.root, positions: patterns.start, inodes: [], depth: 0)]
    }

    /// Returns at most `count` folders that it will list next, if no other folders are added.
    func upcoming(_ count: Int) -> [[String]] { stack.suffix(count).reversed().map(\.path) }

    mutating func next() -> Step {
        if nextMatch < matches.count {
            let match = matches[nextMatch]
            nextMatch += 1
            if !match.isRoot { point = ScanPoint(folder: match.folder, name: match.entry.name) }
            return .match(match)
        }
        finishFolder()
        guard let folder = stack.popLast() else { return .end }
        current = folder
        return .list(folder)
    }

    /// Processes the current folder's listing.
    mutating func listed(_ listing: SMBListing) {
        guard let folder = current else { return }
        let entries = listing.entries.sorted { Self.precedes($0.name, $1.name) }
        matches.removeAll(keepingCapacity: true)
        nextMatch = 0
        var inodes = folder.inodes
        if inodes.isEmpty { inodes.append(listing.inode) }
        var subfolders: [Folder] = []
        let mark = listing.inode == 0 ? listing.mark : nil
        if let mark, folder.marks.count(where: { $0 == mark }) >= listing.likeness {
            leaveOut(folder.path, "looks like a folder above it, and the server gives no file ids to tell them apart")
            return
        }
        appendRoot(listing, folder)
        for entry in entries where !entry.name.hasPrefix(SMBEntry.temporaryPrefix) {
            if patterns.hasExcludes, patterns.excludes(folder.path + [entry.name]) { continue }
            if kinds.include(directory: entry.isDirectory), isWanted(entry.name, in: folder.path),
                let (pattern, captures) = patterns.match(entry.name, at: folder.positions)
            {
                matches.append(Match(folder: folder.path, entry: entry, pattern: pattern, captures: captures))
            }
            if entry.isDirectory, folder.depth < patterns.depth, isWanted(subfolder: entry.name, of: folder.path) {
                let positions = patterns.descend(from: folder.positions, into: entry.name)
                guard !positions.isEmpty else { continue }
                let path = folder.path + [entry.name]
                if entry.inode != 0, inodes.contains(entry.inode) {
                    warnings.append("the folder \(Self.text(path)) leads back to a folder above it: left out")
                } else if folder.depth + 1 > Self.maximumDepth {
                    leaveOut(path, "is deeper than \(Self.maximumDepth) folders")
                } else {
                    subfolders.append(
                        Folder(
                            path: path, positions: positions, inodes: inodes + [entry.inode], depth: folder.depth + 1,
                            marks: folder.marks + [mark].compactMap(\.self), isLink: entry.has(SMBEntry.reparsePoint))
                    )
                }
            }
        }
        stack.append(contentsOf: subfolders.reversed())
    }

    /// Appends the scan's first folder, which an entity of all folders includes as a parent.
    private mutating func appendRoot(_ listing: SMBListing, _ folder: Folder) {
        guard kinds == .folders, folder.depth == 0, resumePoint == nil, var itself = listing.itself,
            patterns.captureNames.isEmpty,
            let pattern = patterns.patterns.firstIndex(where: {
                ($0.literalFolders + ["**"]).joined(separator: "/") == $0.text
            })
        else { return }
        itself.name = folder.path.last ?? ""
        matches.append(
            Match(folder: folder.path, entry: itself, pattern: pattern, captures: [], isRoot: true))
    }

    /// Skips the current folder, which could not be listed; its subtree stays unknown.
    mutating func skipped(because reason: String) {
        if let path = current?.path { leaveOut(path, reason) }
        matches.removeAll()
        nextMatch = 0
    }

    private mutating func leaveOut(_ path: [String], _ reason: String) {
        leftOut.append(path)
        warnings.append("the folder \(Self.text(path)) \(reason): its contents are unknown")
    }

    private mutating func finishFolder() {
        guard let folder = current else { return }
        current = nil
        // Folders above the resume point are only passed through.
        if let resumePoint, Self.isProperPrefix(folder.path, of: resumePoint.folder) { return }
        point = ScanPoint(folder: folder.path, name: nil)
    }

    /// Whether an entry is after the resume point.
    private func isWanted(_ name: String, in folder: [String]) -> Bool {
        guard let resumePoint else { return true }
        if folder.isSame(as: resumePoint.folder) {
            guard let last = resumePoint.name else { return false }
            return Self.precedes(last, name) || (resumePoint.repeatsEntry && last.isSame(as: name))
        }
        return !Self.isProperPrefix(folder, of: resumePoint.folder)
    }

    /// Whether a folder, or one below it, is after the resume point.
    private func isWanted(subfolder name: String, of folder: [String]) -> Bool {
        guard let resumePoint, Self.isProperPrefix(folder, of: resumePoint.folder) else { return true }
        return !Self.precedes(name, resumePoint.folder[folder.count])
    }

    private static func isProperPrefix(_ path: [String], of other: [String]) -> Bool {
        path.count < other.count && zip(path, other).allSatisfy { $0.isSame(as: $1) }
    }

    /// Compares names by their bytes: names that Unicode considers equal stay distinct, as on the server.
    static func precedes(_ first: String, _ second: String) -> Bool {
        let order = first.utf8.withContiguousStorageIfAvailable { first in
            second.utf8.withContiguousStorageIfAvailable { second -> Bool in
                guard let one = first.baseAddress, let other = second.baseAddress else {
                    return first.isEmpty && !second.isEmpty
                }
                let difference = memcmp(one, other, min(first.count, second.count))
                return difference == 0 ? first.count < second.count : difference < 0
            }
        }
        return order.flatMap { $0 } ?? first.utf8.lexicographicallyPrecedes(second.utf8)
    }

    static func text(_ path: [String]) -> String { path.isEmpty ? "/" : path.joined(separator: "/") }
}
