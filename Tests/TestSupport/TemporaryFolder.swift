import Foundation

/// A folder of one test's own, removed with the value's last reference.
package final class TemporaryFolder: Sendable {
    /// Its absolute path.
    package let path: String

    /// Makes an empty folder.
    package init() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "bmo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        path = folder.path
    }

    deinit {
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of an entry of that name.
    package func appending(_ name: String) -> String {
        path + "/" + name
    }

    /// Writes a file of that name and returns its path.
    @discardableResult
    package func write(_ text: String, to name: String) throws -> String {
        let file = appending(name)
        try text.write(toFile: file, atomically: true, encoding: .utf8)
        return file
    }
}
