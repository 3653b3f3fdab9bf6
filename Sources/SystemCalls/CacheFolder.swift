#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The folder of a user's caches: what is in it can be deleted at any time.
package enum CacheFolder {
    /// The folder `$XDG_CACHE_HOME/bmo/NAME`, or one below `~/.cache` (XDG Base Directory Specification 0.8); nil if
    /// neither variable is set.
    package static func path(_ name: String) -> String? {
        func absolute(_ variable: String) -> String? {
            getenv(variable).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        return (absolute("XDG_CACHE_HOME") ?? absolute("HOME").map { $0 + "/.cache" }).map { "\($0)/bmo/\(name)" }
    }

    /// Creates a folder, and those above it, for its user alone; returns whether it exists then.
    package static func make(_ folder: String) -> Bool {
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/" + part
            if mkdir(path, 0o700) != 0, errno != EEXIST { return false }
        }
        return true
    }

    /// Removes the oldest files of a folder, until at most `count` are left.
    package static func trim(_ folder: String, to count: Int) {
        guard let listing = opendir(folder) else { return }
        defer { closedir(listing) }
        var files: [(path: String, changed: Duration)] = []
        while let entry = readdir(listing) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { name in
                String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
            }
            guard !name.hasPrefix("."), let stamp = FileStamp("\(folder)/\(name)") else { continue }
            files.append(("\(folder)/\(name)", stamp.changed))
        }
        guard files.count > count else { return }
        for file in files.sorted(by: { $0.changed < $1.changed }).prefix(files.count - count) { unlink(file.path) }
    }
}
