import BridgeKit

/// The first folders and files of a share: enough to propose entities.
struct ShareSurvey {
    static let maximumFolders = 200
    static let maximumFiles = 5_000
    static let maximumDepth = 8

    /// A file, with its path below the URL's folder.
    struct File {
        let path: [String]
        let size: UInt64

        var text: String { path.joined(separator: "/") }
        var folder: [String] { Array(path.dropLast()) }
        var name: String { path.last ?? "" }

        /// The extension that names the format, such as `csv` for `a.csv.gz`.
        var kind: String {
            let name = name.lowercased()
            let inner = name.hasSuffix(".gz") ? String(name.dropLast(3)) : name
            return inner.fileExtension
        }
    }

    var files: [File] = []
    var folders: [[String]] = []
    /// Whether the limits cut the survey short.
    var isPartial = false

    /// Lists folders breadth-first; skips those that cannot be listed.
    init(_ share: any Share) throws {
        var queue: [[String]] = [[]]
        var listed = 0
        while !queue.isEmpty {
            guard listed < Self.maximumFolders, files.count < Self.maximumFiles else {
                isPartial = true
                return
            }
            let folder = queue.removeFirst()
            let listing: SMBListing
            do {
                listing = try share.list(share.url.folder + folder)
            } catch {
                let failure = share.confirmed(error)
                guard !folder.isEmpty, failure.action != .openShare, failure.isAccess || failure.isAbsence else {
                    throw share.explain(failure)
                }
                continue
            }
            listed += 1
            let entries = listing.entries.sorted { FolderWalk.precedes($0.name, $1.name) }
            for entry in entries where !entry.name.hasPrefix(".") {
                let path = folder + [entry.name]
                if !entry.isDirectory {
                    files.append(File(path: path, size: entry.size))
                } else if path.count <= Self.maximumDepth {
                    folders.append(path)
                    queue.append(path)
                } else {
                    isPartial = true
                }
            }
        }
    }
}
