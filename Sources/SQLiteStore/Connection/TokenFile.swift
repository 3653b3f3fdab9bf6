internal import StoreContract
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A text that the processes of a database file share, with its lock: a file in the folder `DATABASE-tokens`, which only its
/// user can read.
///
/// The lock is a flock(2) on a file of its own: the kernel releases it when the process ends for any reason. The text is
/// not in the database, because people copy and publish databases.
final class TokenFile: StoredTextLock {
    private let path: String
    private let database: String
    private let descriptor: Descriptor
    private let text: Mutex<String?>
    /// Held while a text is saved, so that the lock is released only behind a save that has begun.
    ///
    /// True once the lock is released.
    private let saving = Mutex(false)

    private static let mode: mode_t = 0o600
    private static let folderMode: mode_t = 0o700
    private static let largest = 64 << 10

    /// Waits for the lock of a text, and takes it.
    ///
    /// - Parameter database: The path of the database, which need not exist yet.
    init(_ database: String, name: String) throws {
        self.database = database
        let folder = Self.folder(of: database)
        guard mkdir(folder, Self.folderMode) == 0 || errno == EEXIST else {
            throw Self.failure(database, folder, errno)
        }
        path = "\(folder)/\(name)"
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW
        guard let descriptor = Descriptor(path: path + ".lock", flags: flags, mode: Self.mode) else {
            throw Self.failure(database, path, errno)
        }
        self.descriptor = descriptor
        let end = ContinuousClock.now + SharedTextLimits.wait
        while !descriptor.lock(LOCK_EX) {
            guard errno == EWOULDBLOCK else { throw Self.failure(database, path, errno) }
            guard ContinuousClock.now < end else { throw SharedTextLimits.busy(database) }
            // A thread that waits in flock(2) could not give up.
            usleep(20_000)
        }
        text = Mutex(try Self.content(of: path, database))
    }

    var value: String? { text.withLock { $0 } }

    /// Writes a new file, waits until it is on the disk, and renames it.
    func save(_ new: String) throws {
        try saving.withLock { isReleased in
            guard !isReleased else { throw SharedTextLimits.lost(database) }
            try replace(with: new)
        }
    }

    private func replace(with new: String) throws {
        let temporary = path + ".new"
        let file = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, Self.mode)
        guard file >= 0 else { throw Self.failure(database, path, errno) }
        var number: Int32 = 0
        if fchmod(file, Self.mode) != 0 || !Self.fill(file, with: new) || fsync(file) != 0 { number = errno }
        if close(file) != 0, number == 0 { number = errno }
        if number == 0, rename(temporary, path) != 0 { number = errno }
        guard number == 0 else {
            unlink(temporary)
            throw Self.failure(database, path, number)
        }
        // The rename itself outlives a crash of the machine only once the folder is on the disk.
        let folder = open(Self.folder(of: database), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
        text.withLock { $0 = new }
    }

    func release() {
        saving.withLock { $0 = true }
        descriptor.close {}
    }

    /// Returns the folder, which is the same for all paths of one database.
    private static func folder(of database: String) -> String {
        (FileLock.resolve(database) ?? database) + "-tokens"
    }

    private static func content(of path: String, _ database: String) throws -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
        guard file >= 0 else {
            if errno == ENOENT { return nil }
            throw failure(database, path, errno)
        }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: largest + 1)
        var count = 0
        while count < bytes.count {
            let got = bytes.withUnsafeMutableBytes { bytes in
                read(file, bytes.baseAddress.map { $0 + count }, bytes.count - count)
            }
            if got < 0, errno == EINTR { continue }
            guard got >= 0 else { throw failure(database, path, errno) }
            if got == 0 { break }
            count += got
        }
        guard count <= largest else { throw failure(database, path, EFBIG) }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    private static func fill(_ file: Int32, with text: String) -> Bool {
        let bytes = Array(text.utf8)
        var done = 0
        while done < bytes.count {
            let count = bytes.withUnsafeBytes { write(file, $0.baseAddress.map { $0 + done }, $0.count - done) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            done += count
        }
        return true
    }

    private static func failure(_ database: String, _ path: String, _ number: Int32) -> StoreError {
        StoreError(
            .io, "\(database): the file of a shared login \(path) cannot be used: \(String(cString: strerror(number)))",
            remedy: "check the folder and its permissions: a login that is not saved would be lost")
    }
}
