internal import Glibc

/// Whether the owner of a plugin's file alone decides what is in it.
///
/// Loading a library runs it: who can write it, or put another in its place, runs code as the user.
enum FileTrust {
    /// Why the file at `path` is not to be trusted, or nil when it is.
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
        // Many systems give each user a group of their own and files that it may write.
        let isForeignGroup = status.st_gid != getegid() && status.st_mode & S_IWGRP != 0
        guard status.st_mode & S_IWOTH == 0, !isForeignGroup else {
            return "\(what) \(path) can be written by others: chmod go-w \(path)"
        }
        return nil
    }
}
