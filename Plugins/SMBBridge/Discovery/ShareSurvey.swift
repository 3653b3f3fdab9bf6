import BridgeKit

/// A look at a share's first folders and files: enough to propose entities.
struct ShareSurvey {
    static let maximumFolders = 200
    static let maximumFiles = 5_000
    static let maximumDepth = 8

    /// A file that was found, below the url's folder.
    struct File {
        let path: [String]
        let size: UInt64

        var text: String { path.joined(separator: "/") }
        var folder: [String] { Array(path.dropLast()) }
        var name: String { path.last ?? "" }

        /// The extension that tells the format: in `a.csv.gz` that is `csv`.
        var kind: String {
            let name = name.lowercased()
            let inner = name.hasSuffix(".gz") ? String(name.dropLast(3)) : name
            return inner.fileExtension
        }
    }

    var files: [File] = []
    var folders: [[String]] = []
    /// Whether there was more than the limits let see.
    var isPartial = false

    /// Lists folder after folder, the upper ones first; what may not be listed is left out.
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
            } catch  where !folder.isEmpty && (error.isAccess || error.isAbsence) {
                continue
            } catch {
                throw share.explain(error)
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
