#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// An error for a file that cannot be read.
struct FileError: Error {
    enum Code { case missing, directory, denied, tooLarge, other }

    var code: Code
    /// A predicate that follows the file's name in a sentence.
    var reason: String
    var remedy: String
}

/// Paths and bounded reading without Foundation, so that a command that only reads its configuration starts faster.
enum FilePath {
    /// Returns `path` itself if absolute, otherwise below `directory`.
    ///
    /// Removes dot components and repeated slashes. Keeps `..`, because after a symbolic link it does not cancel the
    /// previous component.
    static func absolute(_ path: String, relativeTo directory: String) -> String {
        let joined = path.utf8.first == UInt8(ascii: "/") ? path : directory + "/" + path
        let components = joined.split(separator: "/").filter { $0 != "." }
        return "/" + components.joined(separator: "/")
    }

    /// Returns the absolute path of the folder that contains `path`.
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

    /// Returns whether two paths lead to the same existing file, or are equal if one does not exist.
    static func isSame(_ left: String, _ right: String) -> Bool {
        guard let left = status(left), let right = status(right) else { return left == right }
        return left.st_dev == right.st_dev && left.st_ino == right.st_ino
    }

    private static func status(_ path: String) -> stat? {
        var status = stat()
        return stat(path, &status) == 0 ? status : nil
    }

    /// The time limit for data from a pipe or a device, in milliseconds.
    private static let patience: Int32 = 5000

    /// Reads a file of at most `limit` bytes.
    ///
    /// Also reads a pipe, and waits for its writer up to the time limit.
    static func read(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
        guard !path.utf8.contains(0) else {
            throw FileError(code: .other, reason: "is no path: it holds a NUL", remedy: "check the path")
        }
        // Without O_NONBLOCK, opening a pipe without a writer would block too.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw failure(errno) }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 * 1024)
        while true {
            try wait(for: descriptor)
            #if canImport(Glibc)
                let count = Glibc.read(descriptor, &chunk, chunk.count)
            #else
                let count = Darwin.read(descriptor, &chunk, chunk.count)
            #endif
            if count < 0 {
                if errno == EINTR || errno == EAGAIN { continue }
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

    /// Waits until a read does not block; returns at once for regular files.
    private static func wait(for descriptor: Int32) throws(FileError) {
        var status = stat()
        guard fstat(descriptor, &status) == 0, ![S_IFREG, S_IFDIR].contains(status.st_mode & S_IFMT) else { return }
        var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        var ready: Int32
        repeat { ready = poll(&waiting, 1, patience) } while ready < 0 && errno == EINTR
        guard ready == 0 else { return }
        throw FileError(
            code: .other, reason: "is a pipe or a device, and gave nothing within \(patience / 1000) s",
            remedy: "let its program write at once, or name a file")
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
        // glibc's GNU variant of strerror_r is not imported; strerror's text is copied at once.
        guard let text = strerror(code) else { return "error \(code)" }
        return String(cString: text)
    }
}
