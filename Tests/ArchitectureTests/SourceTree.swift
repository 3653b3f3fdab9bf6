import Foundation
import TestSupport

/// The source files of this package.
enum SourceTree {
    struct File {
        /// The path below the package's folder.
        let path: String
        let text: String

        /// The folder below Sources or Plugins, which is named as its target.
        var target: String {
            let parts = path.split(separator: "/")
            return parts.count > 1 ? String(parts[1]) : ""
        }
    }

    private static let kinds: Set<String> = ["swift", "c", "cpp", "h", "hpp", "modulemap", "md"]

    /// All source files of these folders, in the order of their paths.
    static func files(in folders: String...) throws -> [File] {
        var files: [File] = []
        for folder in folders {
            let root = PackageFolder.path + "/" + folder
            for entry in try FileManager.default.subpathsOfDirectory(atPath: root).sorted() {
                // Resources are texts that the program carries.
                if entry.contains("/Resources/") { continue }
                guard let kind = entry.split(separator: ".").last, kinds.contains(String(kind)) else { continue }
                let text = try String(contentsOfFile: root + "/" + entry, encoding: .utf8)
                files.append(File(path: folder + "/" + entry, text: text))
            }
        }
        return files
    }

    /// The text of a file of the package's folder.
    static func text(of path: String) throws -> String {
        try String(contentsOfFile: PackageFolder.path + "/" + path, encoding: .utf8)
    }
}
