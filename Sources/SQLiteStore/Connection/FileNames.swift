internal import StoreContract

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The names of a database file.
enum FileNames {
    /// Refuses a file that has several names, before it is opened for writing.
    ///
    /// SQLite finds the log of a file by the file's name, and bmo its lock: two processes that write it under two names do
    /// not see each other's changes, and destroy it.
    ///
    /// - Throws: ``StoreError`` of the code `open`.
    static func refuseSeveral(of path: String) throws {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_nlink > 1 else { return }
        throw StoreError(
            .open, "the file has \(status.st_nlink) names (hard links), and writes under two of them would destroy it",
            remedy: "put symbolic links or copies in the place of the others, which "
                + "`find \(quoted(fileSystem(of: path, status.st_dev))) -xdev -samefile \(quoted(path))` lists")
    }

    /// Returns the folder that has all files of a file's file system, where its other names are.
    private static func fileSystem(of path: String, _ device: dev_t) -> String {
        guard var folder = FileLock.resolve(path) else { return "/" }
        while folder != "/", let slash = folder.lastIndex(of: "/") {
            let parent = slash == folder.startIndex ? "/" : String(folder[..<slash])
            var status = stat()
            guard stat(parent, &status) == 0, status.st_dev == device else { break }
            folder = parent
        }
        return folder
    }

    /// Quotes a text for a shell.
    private static func quoted(_ text: String) -> String {
        guard text != "/" else { return text }
        return "'" + text.replacing("'", with: #"'\''"#) + "'"
    }
}
