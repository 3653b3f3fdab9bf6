internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
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

    /// Returns the absolute path of the folder where the relative paths in a configuration start: that of the file, or
    /// the process's own for a pipe or a device, such as `/dev/stdin`, whose folder is not the user's.
    static func base(of configuration: String) -> String {
        isStream(configuration) ? currentDirectory : directory(of: configuration)
    }

    /// Returns whether a path is that of a pipe or a device, or of an open file of the process.
    static func isStream(_ path: String) -> Bool {
        let absolute = absolute(path, relativeTo: currentDirectory)
        var folders = ["/dev/fd/", "/dev/std"]
        #if os(Linux)
        folders.append("/proc/")
        #endif
        if folders.contains(where: { absolute.hasPrefix($0) }) { return true }
        return status(path).map { ![S_IFREG, S_IFDIR].contains($0.st_mode & S_IFMT) } ?? false
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

    /// Reads a file of at most `limit` bytes.
    ///
    /// Also reads a pipe, and waits for its writer up to a time limit.
    static func read(_ path: String, limit: Int) throws(FileError) -> [UInt8] {
        do throws(BoundedFile.Failure) {
            return try BoundedFile.read(path, limit: limit)
        } catch {
            throw FileError(error, limit: limit)
        }
    }
}

extension FileError {
    /// Describes why a file of at most `limit` bytes cannot be read.
    fileprivate init(_ failure: BoundedFile.Failure, limit: Int) {
        switch failure {
        case .invalidPath:
            self.init(code: .other, reason: "is not a path: it contains a NUL", remedy: "check the path")
        case .unopenable(ENOENT), .unopenable(ENOTDIR):
            self.init(code: .missing, reason: "does not exist", remedy: "check the path")
        case .unreadable(EISDIR):
            self.init(code: .directory, reason: "is a folder", remedy: "name a file in it")
        case .unopenable(EACCES), .unopenable(EPERM), .unreadable(EACCES), .unreadable(EPERM):
            self.init(code: .denied, reason: "may not be read by this user", remedy: "change its permissions")
        case .silent:
            self.init(
                code: .other,
                reason: "is a pipe or a device, and sent nothing within \(BoundedFile.patience / 1000) s",
                remedy: "make its program write at once, or name a file")
        case .tooLarge:
            self.init(
                code: .tooLarge, reason: "is larger than \(limit / 1024) KiB",
                remedy: "check that it is the right file")
        case .unopenable, .unreadable, .irregular:
            self.init(code: .other, reason: "cannot be read: \(failure.words)", remedy: "check the path")
        }
    }
}
