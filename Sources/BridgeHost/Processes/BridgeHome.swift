#if PLUGINS
internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The private folder of a bridge process, used as its HOME and TMPDIR.
///
/// The host holds a lock (flock(2)) on it while it lives. An unlocked folder is left over from a killed host and is
/// removed when the next host starts a bridge.
struct BridgeHome: Sendable {
    static let prefix = "bmo-home-"

    let path: String
    private let lock: CInt

    /// Creates a folder below `TMPDIR`; returns nil if that fails.
    static func make() -> BridgeHome? {
        _ = firstSweep
        var template = Array("\(parent)/\(prefix)XXXXXX".utf8CString)
        guard let path = mkdtemp(&template).map({ String(cString: $0) }) else { return nil }
        let lock = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if lock >= 0 { flock(lock, LOCK_EX | LOCK_NB) }
        return BridgeHome(path: path, lock: lock)
    }

    /// Removes the folder and its contents.
    func remove() {
        FolderRemoval.remove(path)
        if lock >= 0 { close(lock) }
    }

    /// Removes folders in `parent` that this user's dead hosts left behind.
    ///
    /// - Parameter age: The minimum age of the folder's last change, in seconds: a folder just created is not locked
    ///   yet.
    static func sweep(_ parent: String, age: Int = 60) {
        for name in FolderListing.names(in: parent) ?? [] where name.hasPrefix(prefix) {
            let path = "\(parent)/\(name)"
            let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW)
            guard folder >= 0 else { continue }
            defer { close(folder) }
            var status = stat()
            guard fstat(folder, &status) == 0, status.st_uid == geteuid(), status.st_ctim.tv_sec <= time(nil) - age,
                flock(folder, LOCK_EX | LOCK_NB) == 0
            else { continue }
            FolderRemoval.remove(path)
        }
    }

    private static var parent: String { getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp" }

    /// Runs once, on its own thread, because the folder may be large.
    private static let firstSweep: Bool = {
        let folder = parent
        return NativeThread.detach { sweep(folder) }
    }()
}

/// Removes a folder and its contents without following links.
enum FolderRemoval {
    static func remove(_ path: String) {
        for name in FolderListing.names(in: path) ?? [] {
            let child = "\(path)/\(name)"
            var status = stat()
            let isFolder = lstat(child, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            if isFolder { remove(child) } else { unlink(child) }
        }
        rmdir(path)
    }
}
#endif
