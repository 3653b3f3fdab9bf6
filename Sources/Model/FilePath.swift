#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// A file that could not be read.
struct FileError: Error {
    enum Code { case missing, directory, denied, tooLarge, other }

    var code: Code
    /// Follows the file's name in a sentence.
    var reason: String
    var remedy: String
}

/// Paths and bounded reading, without Foundation: a command that only reads its configuration starts faster.
enum FilePath {
    /// `path` itself when absolute, else below `directory`.
    ///
    /// Dot components and doubled slashes go; `..` stays, because behind a symbolic link it does not undo the
    /// component before it.
    static func absolute(_ path: String, relativeTo directory: String) -> String {
        let joined = path.utf8.first == UInt8(ascii: "/") ? path : directory + "/" + path
        let components = joined.split(separator: "/").filter { $0 != "." }
        return "/" + components.joined(separator: "/")
    }

    /// The absolute path of the folder that holds `path`.
    static func directory(of path: String) -> String {
        let absolute = absolute(path, relativeTo: currentDirectory)
        guard let slash = absolute.lastIndex(of: "/"), slash != absolute.startIndex else { return "/" }
        return String(absolute[..<slash])
    }

    static var currentDirectory: String {
        guard let buffer = getcwd(nil, 0) else { return "/" }
        defer { free(buffer) }
        return String(cString: buffer)
    }

    static func isDirectory(_ path: String) -> Bool {
        status(path).map { $0.st_mode & S_IFMT == S_IFDIR } ?? false
    }

    /// Whether two paths lead to one file that is there.
    static func isSame(_ left: String, _ right: String) -> Bool {
        guard let left = status(left), let right = status(right) else { return left == right }
        return left.st_dev == right.st_dev && left.st_ino == right.st_ino
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    /// The bytes of a file that has at most `limit` of them.
    static func read(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
        guard !path.utf8.contains(0) else {
            throw FileError(code: .other, reason: "is no path: it holds a NUL", remedy: "check the path")
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            #if canImport(Glibc)
                let count = Glibc.read(descriptor, &chunk, chunk.count)
            #else
                let count = Darwin.read(descriptor, &chunk, chunk.count)
            #endif
            if count < 0 {
                if errno == EINTR { continue }
                throw failure(errno)
            }
            if count == 0 { return bytes }
            bytes.append(contentsOf: chunk[..<count])
            guard bytes.count <= limit else {
                throw FileError(
                    code: .tooLarge, reason: "is larger than \(limit / 1024) KiB",
                    remedy: "check that it is the right file")
            }
        }
    }

    private static func failure(_ code: Int32) -> FileError {
        switch code {
        case ENOENT, ENOTDIR:
            FileError(code: .missing, reason: "does not exist", remedy: "check the path")
        case EISDIR:
            FileError(code: .directory, reason: "is a folder", remedy: "name a file in it")
        case EACCES, EPERM:
            FileError(code: .denied, reason: "may not be read by this user", remedy: "change its permissions")
        default:
            FileError(code: .other, reason: "cannot be read: \(words(code))", remedy: "check the path")
        }
    }

    private static func words(_ code: Int32) -> String {
        // strerror_r of glibc's GNU flavour is not imported; strerror's text is copied at once.
        guard let text = strerror(code) else { return "error \(code)" }
        return String(cString: text)
    }
}
