internal import Glibc
internal import RecordBatch

/// What the plugins on the standard paths said of themselves, kept between runs: so that a start need not ask each in a process.
///
/// An entry counts for the very file that it came from, asked by the very executable: path, device, inode, size, and the times of
/// the last change of content and of inode (which nobody can set back). It holds what the inspecting process put out, and is
/// checked like that. Only the user's own files are read; a cache that cannot be read or written is none. Refusals are not kept.
struct DescriptionCache: Sendable {
    /// The folder; made when first needed.
    private let folder: String
    /// The file that inspects.
    private let executable: String

    /// An entry is some kilobytes of JSON Schema.
    private static let limit = 1 << 20
    /// A file that changed so lately could change again within a tick of the clock of its file system; nanoseconds.
    private let settling: Int64

    /// A cache in `folder`; nil for nil.
    init?(_ folder: String?, executable: String, settling: Int64 = 2_000_000_000) {
        guard let folder else { return nil }
        self.folder = folder
        self.executable = executable
        self.settling = settling
    }

    /// `$XDG_CACHE_HOME/bmo/plugins`, or below `~/.cache` (XDG Base Directory Specification 0.8); nil where neither is set.
    static var standardFolder: String? {
        func absolute(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        return (absolute("XDG_CACHE_HOME") ?? absolute("HOME").map { $0 + "/.cache" }).map { $0 + "/bmo/plugins" }
    }

    /// Which file at `path` it is now; nil where that cannot be told for sure.
    func stamp(of path: String) -> String? {
        guard let plugin = identity(of: path), let host = identity(of: executable) else { return nil }
        return "\(path) \(plugin)\n\(executable) \(host)"
    }

    private func identity(of path: String) -> String? {
        var status = stat()
        var now = timespec()
        guard stat(path, &status) == 0, clock_gettime(CLOCK_REALTIME, &now) == 0 else { return nil }
        let changed = Self.nanoseconds(status.st_ctim)
        guard changed + settling < Self.nanoseconds(now) else { return nil }
        return "\(status.st_dev):\(status.st_ino):\(status.st_size):\(Self.nanoseconds(status.st_mtim)):\(changed)"
    }

    private static func nanoseconds(_ time: timespec) -> Int64 {
        Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// What was kept of the file with this stamp, as a reply of the process that inspects.
    func reply(for stamp: String, of path: String) -> BridgeReply? {
        let file = file(of: path)
        guard access(file, R_OK) == 0, FileTrust.refusal(of: file) == nil,
            let bytes = FileContent.read(file, limit: Self.limit),
            let batch = try? bytes.withUnsafeBytes({ try RecordBatch(copying: $0) }), let record = OwnedRecord(batch)
        else { return nil }
        return withExtendedLifetime(batch) {
            guard record["stamp"]?.text == stamp, let identity = record["identity"], identity.tag == .bytes,
                let description = record["description"], description.tag == .bytes
            else { return nil }
            return .done(ForeignBytes(copying: identity.rawBytes), ForeignBytes(copying: description.rawBytes))
        }
    }

    /// Keeps a reply; one that refuses the file, or that was lost, is not kept.
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
        // Nobody ever reads half of an entry.
        let temporary = "\(folder)/new-\(getpid())-\(UInt64.random(in: 0 ... .max))"
        let descriptor = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        let isWhole = batch.withBytes { write(descriptor, $0.baseAddress, $0.count) == $0.count }
        close(descriptor)
        if !isWhole || rename(temporary, file(of: path)) != 0 { unlink(temporary) }
    }

    /// Drops what was kept of a file.
    func forget(_ path: String) { unlink(file(of: path)) }

    private func makeFolder() -> Bool {
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/" + part
            if mkdir(path, 0o700) != 0, errno != EEXIST { return false }
        }
        return true
    }

    /// One file for each path, and for each executable that asks.
    private func file(of path: String) -> String {
        // FNV-1a: the stamp inside tells which file it is about.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in (path + "\n" + executable).utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        return "\(folder)/\(String(hash, radix: 16))"
    }
}
