#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Checks that only the owner of a plugin's file can change it.
///
/// Loading a library runs its code. Anyone who can write or replace the file can therefore run code as the user.
enum FileTrust {
    /// Returns the reason why the file at `path` is not trusted, or nil if it is.
    static func refusal(of path: String) -> String? {
        let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        return refusal(of: path, "the file") ?? refusal(of: folder, "its folder")
    }

    private static func refusal(of path: String, _ what: String) -> String? {
        var status = stat()
        guard stat(path, &status) == 0 else { return "cannot be read: \(String(cString: strerror(errno)))" }
        guard status.st_uid == 0 || status.st_uid == geteuid() else {
            return "\(what) \(path) belongs to another user (\(status.st_uid)): change its owner, or copy it"
        }
        // Many systems give each user a private group and create group-writable files.
        let isForeignGroup = status.st_gid != getegid() && status.st_mode & S_IWGRP != 0
        guard status.st_mode & S_IWOTH == 0, !isForeignGroup else {
            return "\(what) \(path) can be written by others: chmod go-w \(path)"
        }
        return nil
    }
}
