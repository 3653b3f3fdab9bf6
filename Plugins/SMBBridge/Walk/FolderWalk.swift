import Glibc

/// Where a walk has got: the last entry that it gave, or the last folder that it finished.
struct WalkPoint: Sendable, Equatable {
    /// Components below the URL's folder.
    var folder: [String]
    /// The last entry's name; nil when all entries of the folder itself were given (its subfolders were not).
    var name: String?
    /// Whether a walk that goes on here gives that entry again.
    var repeatsEntry = false
}

/// A depth-first walk over the folders that can match a pattern; says what to list next, and does no I/O.
///
/// A folder's entries come first, sorted by the bytes of their names, then its subfolders in the same order: so that a
/// walk can go on from a ``WalkPoint``, whatever changed in the meantime.
struct FolderWalk {
    /// A folder to list.
    struct Folder: Equatable {
        /// Components below the URL's folder.
        let path: [String]
        let positions: [PatternSet.Position]
        /// File ids from the first folder to this one, to notice a link that leads back up.
        let inodes: [UInt64]
        let depth: Int
        /// Whether it is a reparse point, such as a DFS link: what lies below may be another server's.
        var isLink = false
    }

    /// A file or folder that matches the pattern.
    struct Match: Equatable {
        let folder: [String]
        let entry: SMBEntry
        /// The number of the pattern that it matches.
        let pattern: Int
        /// In the order of ``PatternSet/captureNames``.
        let captures: [String?]
        /// Whether it is the folder where the walk began.
        var isRoot = false

        var path: [String] { isRoot ? folder : folder + [entry.name] }
    }

    enum Step: Equatable {
        /// List this folder, and call ``listed(_:)`` or ``skipped()``.
        case list(Folder)
        case match(Match)
        case end
    }

    /// Which entries are wanted.
    enum Kinds: String, Sendable {
        case files, folders
        case both = "files and folders"

        func include(directory: Bool) -> Bool { self == .both || directory == (self == .folders) }
    }

    static let maximumDepth = 64
    /// Names of bmo's own unfinished files, which nobody wants as records.
    static let temporaryPrefix = ".bmo-tmp-"

    /// Where a later walk can go on; nil before the first folder was listed.
    private(set) var point: WalkPoint?
    /// Sentences on folders that were left out, since the last look.
    var warnings: [String] = []
    /// Folders that were left out, since the last look: nobody knows what they hold.
    var leftOut: [[String]] = []

    private let patterns: PatternSet
    private let kinds: Kinds
    private let resumePoint: WalkPoint?
    private var stack: [Folder]
    private var current: Folder?
    private var matches: [Match] = []
    private var nextMatch = 0

    init(patterns: PatternSet, kinds: Kinds, from point: WalkPoint? = nil) {
        self.patterns = patterns
        self.kinds = kinds
        self.point = point
        resumePoint = point
        stack = [Folder(path: patterns.root, positions: patterns.start, inodes: [], depth: 0)]
    }

    /// The folders that it will list next, at most so many, if nothing else comes in between.
    func upcoming(_ count: Int) -> [[String]] { stack.suffix(count).reversed().map(\.path) }

    mutating func next() -> Step {
        if nextMatch < matches.count {
            let match = matches[nextMatch]
            nextMatch += 1
            if !match.isRoot { point = WalkPoint(folder: match.folder, name: match.entry.name) }
            return .match(match)
        }
        finishFolder()
        guard let folder = stack.popLast() else { return .end }
        current = folder
        return .list(folder)
    }

    /// The current folder's listing.
    mutating func listed(_ listing: SMBListing) {
        guard let folder = current else { return }
        let entries = listing.entries.sorted { Self.precedes($0.name, $1.name) }
        matches.removeAll(keepingCapacity: true)
        nextMatch = 0
        var inodes = folder.inodes
        if inodes.isEmpty { inodes.append(listing.inode) }
        var subfolders: [Folder] = []
        appendRoot(listing, folder)
        for entry in entries where !entry.name.hasPrefix(Self.temporaryPrefix) {
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
                            isLink: entry.has(FileRecord.reparsePoint)))
                }
            }
        }
        stack.append(contentsOf: subfolders.reversed())
    }

    /// The folder where the walk begins is a parent, too, of an entity of all folders.
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

    /// The current folder could not be listed; its subtree stays unknown.
    mutating func skipped(because reason: String) {
        if let path = current?.path { leaveOut(path, reason) }
        matches.removeAll()
        nextMatch = 0
    }

    private mutating func leaveOut(_ path: [String], _ reason: String) {
        leftOut.append(path)
        warnings.append("the folder \(Self.text(path)) \(reason): what it holds is unknown")
    }

    private mutating func finishFolder() {
        guard let folder = current else { return }
        current = nil
        // Folders above the resume point were passed through only.
        if let resumePoint, Self.isProperPrefix(folder.path, of: resumePoint.folder) { return }
        point = WalkPoint(folder: folder.path, name: nil)
    }

    /// Whether an entry comes after the resume point.
    private func isWanted(_ name: String, in folder: [String]) -> Bool {
        guard let resumePoint else { return true }
        if folder == resumePoint.folder {
            guard let last = resumePoint.name else { return false }
            return Self.precedes(last, name) || (resumePoint.repeatsEntry && Self.isSame(last, name))
        }
        return !Self.isProperPrefix(folder, of: resumePoint.folder)
    }

    /// Whether a folder, or one below it, comes after the resume point.
    private func isWanted(subfolder name: String, of folder: [String]) -> Bool {
        guard let resumePoint, Self.isProperPrefix(folder, of: resumePoint.folder) else { return true }
        return !Self.precedes(name, resumePoint.folder[folder.count])
    }

    private static func isProperPrefix(_ path: [String], of other: [String]) -> Bool {
        path.count < other.count && zip(path, other).allSatisfy(isSame)
    }

    /// Order of bytes: names that Unicode holds for equal stay two names, as on the server.
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

    private static func isSame(_ first: String, _ second: String) -> Bool { first.utf8.elementsEqual(second.utf8) }

    static func text(_ path: [String]) -> String { path.isEmpty ? "/" : path.joined(separator: "/") }
}
