internal import Glibc
internal import Importer

/// The exclusive right to write a database file, as a lock on `FILE-lock` beside it.
///
/// It is a flock(2): the kernel releases it when the process ends for any reason, and child processes do not inherit
/// it. Reading does not require it. While the lock is held, the file describes the holder; releasing the lock deletes
/// the file.
public final class FileLock: Sendable {
    /// The holder of a lock.
    public struct Holder: Sendable, Equatable, CustomStringConvertible {
        /// The process ID.
        public var pid: Int32
        /// The host name, as the file may be on a network share.
        public var host: String
        /// The command that it runs, such as `bmo sync`.
        public var command: String
        /// When it took the lock, as ISO 8601, UTC.
        public var since: String

        /// The holder as shown in errors.
        public var description: String { "\(command) (process \(pid) on \(host)), since \(since)" }
    }

    /// How long to wait for a lock that another process holds.
    public enum Patience: Sendable, Equatable {
        /// No wait: fails at once.
        case none
        /// A wait of at most this long.
        case atMost(Duration)
        /// A wait until the lock is free.
        case unlimited
    }

    /// The file that is locked.
    public let path: String
    private let descriptor: Descriptor

    private init(path: String, descriptor: Descriptor) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { release() }

    /// Releases the lock; later calls do nothing.
    public func release() {
        descriptor.close { unlink(path) }
    }

    /// Takes the lock of a database, which need not exist yet.
    ///
    /// - Parameters:
    ///   - database: The path of the database file.
    ///   - command: How this process describes itself to others, such as `bmo sync`; must not contain secrets.
    /// - Throws: ``StoreError``: `busy` with the holder's description if another process holds the lock, `open` if no
    ///   file can be created beside the database.
    public static func take(of database: String, command: String) throws -> FileLock {
        switch try attempt(database, command) {
        case .taken(let lock): return lock
        case .held(let holder): throw busy(database, holder)
        }
    }

    /// Takes the lock of a database, waiting if necessary; see ``take(of:command:)``.
    ///
    /// - Parameters:
    ///   - database: The path of the database file.
    ///   - command: How this process describes itself to others; must not contain secrets.
    ///   - patience: How long to wait.
    ///   - onWait: Called once before the wait begins, with the holder if known.
    /// - Throws: ``StoreError`` as ``take(of:command:)``; `CancellationError` when the task is cancelled.
    public static func take(
        of database: String, command: String, patience: Patience, onWait: (Holder?) -> Void = { _ in }
    ) async throws -> FileLock {
        let start = ContinuousClock.now
        var hasTold = false
        while true {
            let holder: Holder?
            switch try attempt(database, command) {
            case .taken(let lock): return lock
            case .held(let current): holder = current
            }
            switch patience {
            case .none: throw busy(database, holder)
            case .atMost(let limit) where ContinuousClock.now - start >= limit: throw busy(database, holder)
            case .atMost, .unlimited: break
            }
            if !hasTold { onWait(holder) }
            hasTold = true
            // Polls, because a thread blocked in flock could not be cancelled.
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Returns the current holder of a database's lock; nil if the lock is free or the holder cannot be determined.
    public static func holder(of database: String) -> Holder? {
        guard let descriptor = Descriptor(path: path(of: database), flags: O_RDONLY) else { return nil }
        // Takes a shared lock for a moment: the file of a killed process does not mean that the lock is held.
        if descriptor.lock(LOCK_SH) { return nil }
        return read(descriptor)
    }

    /// Returns whether the lock of a database is free; false if that cannot be determined.
    ///
    /// - Parameter suffix: The suffix of the lock's name after the database's.
    static func isFree(of database: String, suffix: String = "") -> Bool {
        let path = path(of: (resolve(database) ?? database) + suffix)
        guard let descriptor = Descriptor(path: path, flags: O_RDONLY) else { return errno == ENOENT }
        return descriptor.lock(LOCK_SH)
    }

    private enum Attempt {
        case taken(FileLock)
        case held(Holder?)
    }

    private static func attempt(_ database: String, _ command: String) throws -> Attempt {
        let path = path(of: database)
        var isSecondTry = false
        while true {
            guard let descriptor = Descriptor(path: path, flags: O_RDWR | O_CREAT) else {
                throw StoreError(
                    .open, "\(database): its lock \(path) cannot be made: \(words(errno))",
                    remedy: "check the folder and its permissions")
            }
            guard descriptor.lock(LOCK_EX) else {
                guard errno == EWOULDBLOCK else {
                    throw StoreError(
                        .open, "\(database): its lock \(path) cannot be taken: \(words(errno))",
                        remedy: "put the database on a file system that has locks")
                }
                // A process that asks for the holder has the lock for an instant.
                guard isSecondTry else {
                    isSecondTry = true
                    usleep(5000)
                    continue
                }
                return .held(read(descriptor))
            }
            // The previous holder may have removed the file between open and lock.
            guard descriptor.isStill(at: path) else { continue }
            descriptor.replaceContents(text(command))
            return .taken(FileLock(path: path, descriptor: descriptor))
        }
    }

    private static func busy(_ database: String, _ holder: Holder?) -> StoreError {
        StoreError(
            .busy, "\(database) is being written by \(holder?.description ?? "another process")",
            remedy: "wait for its end, or let --wait do that")
    }

    /// Returns the path of the lock, which is the same for all paths of one database.
    private static func path(of database: String) -> String {
        if let resolved = resolve(database) { return resolved + "-lock" }
        let name = database.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? database
        let folder = database.count > name.count ? String(database.dropLast(name.count)) : "."
        return (resolve(folder).map { $0 + "/" + name } ?? database) + "-lock"
    }

    private static func resolve(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    private static func words(_ code: Int32) -> String { String(cString: strerror(code)) }

    // MARK: the file's text

    private static func text(_ command: String) -> String {
        var name = utsname()
        uname(&name)
        let host = withUnsafeBytes(of: &name.nodename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let line = command.split(whereSeparator: \.isNewline).joined(separator: " ")
        return "pid \(getpid())\nhost \(host)\nsince \(Clock.now())\ncommand \(line)\n"
    }

    /// Reads the holder; waits a moment for one that has the lock but has not yet written its description.
    private static func read(_ descriptor: Descriptor) -> Holder? {
        for _ in 0..<20 {
            var values: [Substring: String] = [:]
            let text = descriptor.contents
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: " ", maxSplits: 1)
                if parts.count == 2 { values[parts[0]] = String(parts[1]) }
            }
            if text.hasSuffix("\n"), let pid = values["pid"].flatMap({ Int32($0) }), let command = values["command"] {
                return Holder(
                    pid: pid, host: values["host"] ?? "?", command: command, since: values["since"] ?? "?")
            }
            usleep(1000)
        }
        return nil
    }
}
