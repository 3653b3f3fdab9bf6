internal import RecordBatch
internal import SystemCalls
internal import TextFormats

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A cache of the descriptions of plugins on the standard paths, so that a start need not inspect each in a process.
///
/// An entry is valid only for the same file inspected by the same executable. Both are identified by path, device,
/// inode, size, and the times of the last change of content and of inode (the latter cannot be set back). An entry
/// holds the output of the inspecting process and is validated in the same way. The cache reads only files that the
/// user owns, ignores unreadable or unwritable ones, and does not keep refusals.
struct DescriptionCache: Sendable {
    /// The cache's folder; created on first use.
    private let folder: String
    /// The executable that inspects plugins.
    private let executable: String

    /// The maximum size of an entry, which is usually a few kilobytes of JSON Schema.
    private static let limit = 1 << 20
    /// The minimum age of a file's last change: a younger file could change again within one tick of
    /// its file system's clock.
    private let settling: Duration

    /// Creates a cache in `folder`; nil if `folder` is nil.
    init?(_ folder: String?, executable: String, settling: Duration = .seconds(2)) {
        guard let folder else { return nil }
        self.folder = folder
        self.executable = executable
        self.settling = settling
    }

    /// The folder `$XDG_CACHE_HOME/bmo/plugins`, or one below `~/.cache` (XDG Base Directory Specification 0.8); nil if
    /// neither variable is set.
    static var standardFolder: String? {
        func absolute(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        return (absolute("XDG_CACHE_HOME") ?? absolute("HOME").map { $0 + "/.cache" }).map { $0 + "/bmo/plugins" }
    }

    /// Returns the identity of the file at `path`; nil if it cannot be determined reliably.
    func stamp(of path: String) -> String? {
        guard let plugin = identity(of: path), let host = identity(of: executable) else { return nil }
        return "\(path) \(plugin)\n\(executable) \(host)"
    }

    private func identity(of path: String) -> String? {
        var status = stat()
        var now = timespec()
        guard stat(path, &status) == 0, clock_gettime(CLOCK_REALTIME, &now) == 0 else { return nil }
        #if canImport(Darwin)
        let (modified, changed) = (status.st_mtimespec, status.st_ctimespec)
        #else
        let (modified, changed) = (status.st_mtim, status.st_ctim)
        #endif
        guard Self.sinceEpoch(changed) + settling < Self.sinceEpoch(now) else { return nil }
        return
            "\(status.st_dev):\(status.st_ino):\(status.st_size):\(Self.text(modified)):\(Self.text(changed))"
    }

    /// Returns the time since 1970.
    ///
    /// 64 bits of nanoseconds would overflow in the year 2262, and a file's time can be set to a later one.
    static func sinceEpoch(_ time: timespec) -> Duration {
        Duration(
            secondsComponent: Int64(time.tv_sec), attosecondsComponent: Int64(time.tv_nsec) * 1_000_000_000)
    }

    private static func text(_ time: timespec) -> String { "\(time.tv_sec).\(time.tv_nsec)" }

    /// Returns the cached reply of the inspecting process for the file with this stamp.
    func reply(for stamp: String, of path: String) -> BridgeReply? {
        let file = file(of: path)
        guard access(file, R_OK) == 0, FileTrust.refusal(of: file) == nil,
            let bytes = try? BoundedFile.read(file, limit: Self.limit),
            let batch = try? bytes.withUnsafeBytes({ try RecordBatch(copying: $0) }), let record = OwnedRecord(batch)
        else { return nil }
        return withExtendedLifetime(batch) {
            guard record["stamp"]?.text == stamp, let identity = record["identity"], identity.tag == .bytes,
                let description = record["description"], description.tag == .bytes
            else { return nil }
            return .done(ForeignBytes(copying: identity.rawBytes), ForeignBytes(copying: description.rawBytes))
        }
    }

    /// Caches a reply unless it is a refusal or was lost.
    func keep(_ reply: BridgeReply, for stamp: String, of path: String) {
        guard case .done(let identity?, let description?) = reply else { return }
        let writer = RecordBatchWriter()
        writer.object {
            writer.member("stamp", stamp)
            writer.key("identity")
            writer.bytes(identity.bytes)
            writer.key("description")
            writer.bytes(description.bytes)
        }
        guard let batch = try? writer.finish(), makeFolder() else { return }
        batch.withBytes { try? AtomicFile.write($0, to: file(of: path), mode: 0o600) }
    }

    /// Removes the cached entry of a file.
    func forget(_ path: String) { unlink(file(of: path)) }

    private func makeFolder() -> Bool {
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/" + part
            if mkdir(path, 0o700) != 0, errno != EEXIST { return false }
        }
        return true
    }

    /// Returns the path of the entry for a plugin's path and the inspecting executable.
    private func file(of path: String) -> String {
        // A collision is harmless because the entry contains the stamp.
        var fingerprint = Fingerprint()
        fingerprint.add(path + "\n" + executable)
        return "\(folder)/\(String(fingerprint.value, radix: 16))"
    }
}
