import Foundation

/// A folder of one test's own, removed with its last reference.
package final class TemporaryFolder: Sendable {
    /// Its absolute path.
    package let path: String

    private let staysUntilExit: Bool
    private let parent: TemporaryFolder?

    /// Those that stay are in here.
    private static let lasting: URL = {
        let folder = FileManager.default.temporaryDirectory.appending(path: "bmo-\(UUID().uuidString)")
        atexit { try? FileManager.default.removeItem(at: TemporaryFolder.lasting) }
        return folder
    }()

    /// libsmbclient, in this process for the tests of its bridge, sets the umask to 0 for moments; without a mode of its own,
    /// a folder of another test would be writable by all then, and no plugin loaded from it.
    private static var mode: [FileAttributeKey: Any] { [.posixPermissions: 0o755] }

    /// Makes an empty folder.
    ///
    /// - Parameter staysUntilExit: Whether it is removed at the end of the process instead.
    package init(staysUntilExit: Bool = false) throws {
        self.staysUntilExit = staysUntilExit
        self.parent = nil
        let parent = staysUntilExit ? Self.lasting : FileManager.default.temporaryDirectory
        let folder = parent.appending(path: "bmo-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: folder, withIntermediateDirectories: true, attributes: Self.mode)
        path = folder.path
    }

    /// Makes a folder inside another one, with which it is removed.
    package init(_ name: String, in parent: TemporaryFolder) throws {
        staysUntilExit = parent.staysUntilExit
        path = parent.appending(name)
        self.parent = parent
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: false, attributes: Self.mode)
    }

    deinit {
        if !staysUntilExit, parent == nil { try? FileManager.default.removeItem(atPath: path) }
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

extension TemporaryFolder {
    /// Whether a test can have a file system of its own.
    package static let canMount: Bool = {
        guard let folder = try? TemporaryFolder() else { return false }
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", folder.path]
        process.standardError = nil
        guard (try? process.run()) != nil else { return false }
        process.waitUntilExit()
        return process.terminationStatus == 0
    }()
}
