internal import StoreContract
internal import SystemCalls

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
            throw Self.failure(database, folder)
        }
        path = "\(folder)/\(name)"
        let flags = O_RDWR | O_CREAT | O_NOFOLLOW
        guard let descriptor = Descriptor(path: path + ".lock", flags: flags, mode: Self.mode) else {
            throw Self.failure(database, path)
        }
        self.descriptor = descriptor
        let end = ContinuousClock.now + SharedTextLimits.wait
        while !descriptor.lock(LOCK_EX) {
            guard errno == EWOULDBLOCK else {
                throw Self.failure(database, path)
            }
            guard ContinuousClock.now < end else { throw SharedTextLimits.busy(database) }
            // A thread that waits in flock(2) could not give up.
            usleep(20_000)
        }
        text = Mutex(try Self.content(of: path, database))
    }

    var value: String? { text.withLock { $0 } }

    func save(_ new: String) throws {
        do throws(AtomicFile.Failure) {
            try AtomicFile.write(new.utf8, to: path, mode: UInt32(Self.mode), outlivesCrash: true)
        } catch {
            throw Self.failure(database, path, error.words)
        }
        text.withLock { $0 = new }
    }

    func release() { descriptor.close {} }

    /// Returns the folder, which is the same for all paths of one database.
    private static func folder(of database: String) -> String {
        (FileLock.resolve(database) ?? database) + "-tokens"
    }

    private static func content(of path: String, _ database: String) throws -> String? {
        do throws(BoundedFile.Failure) {
            let bytes = try BoundedFile.read(path, limit: largest, kind: .regular, followsLinks: false)
            return String(decoding: bytes, as: UTF8.self)
        } catch {
            if case .unopenable(AtomicFile.Failure.missing) = error { return nil }
            throw failure(database, path, error.words)
        }
    }

    /// - Parameter words: The system's words for what failed; by default, of the last error.
    private static func failure(
        _ database: String, _ path: String, _ words: String = AtomicFile.Failure(number: errno).words
    ) -> StoreError {
        StoreError(
            .io, "\(database): the file of a shared login \(path) cannot be used: \(words)",
            remedy: "check the folder and its permissions: a login that is not saved would be lost")
    }
}
