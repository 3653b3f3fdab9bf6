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

    /// The user's folder of descriptions; nil if the environment names none.
    static var standardFolder: String? { CacheFolder.path("plugins") }

    /// Returns the identity of the file at `path`; nil if it cannot be determined reliably.
    func stamp(of path: String) -> String? {
        guard let plugin = identity(of: path), let host = identity(of: executable) else { return nil }
        return "\(path) \(plugin)\n\(executable) \(host)"
    }

    private func identity(of path: String) -> String? {
        guard let stamp = FileStamp(path), let age = stamp.age, age > settling else { return nil }
        return stamp.text
    }

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
        guard let batch = try? writer.finish(), CacheFolder.make(folder) else { return }
        batch.withBytes { try? AtomicFile.write($0, to: file(of: path), mode: 0o600) }
    }

    /// Removes the cached entry of a file.
    func forget(_ path: String) { unlink(file(of: path)) }

    /// Returns the path of the entry for a plugin's path and the inspecting executable.
    private func file(of path: String) -> String {
        // A collision is harmless because the entry contains the stamp.
        var fingerprint = Fingerprint()
        fingerprint.add(path + "\n" + executable)
        return "\(folder)/\(String(fingerprint.value, radix: 16))"
    }
}
