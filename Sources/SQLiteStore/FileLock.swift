internal import Glibc
internal import Importer

/// The right to write a database file, held by one process at a time: a lock on `FILE-lock` beside it.
///
/// It is a flock(2): the kernel takes it back when the process ends, however that ends, and processes that were started
/// meanwhile do not inherit it. Reading needs none. While it is held, the file says who holds it, in words; afterwards it
/// is gone.
public final class FileLock: Sendable {
    /// Who holds a lock.
    public struct Holder: Sendable, Equatable, CustomStringConvertible {
        /// The process.
        public var pid: Int32
        /// The name of its machine: the file may lie on a share.
        public var host: String
        /// What it was started as, such as `bmo sync`.
        public var command: String
        /// Since when it has the lock, as ISO 8601, UTC.
        public var since: String

        /// The holder as an error shows it.
        public var description: String { "\(command) (process \(pid) on \(host)), since \(since)" }
    }

    /// How long to wait for a lock that somebody else holds.
    public enum Patience: Sendable, Equatable {
        /// Not at all: fail at once.
        case none
        /// At most so long.
        case atMost(Duration)
        /// Until it is free.
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

    /// Gives the lock back; later calls do nothing.
    public func release() {
        descriptor.close { unlink(path) }
    }

    /// Takes the lock of a database, which need not be there yet.
    ///
    /// - Parameters:
    ///   - database: The path of the database file.
    ///   - command: What others are told about this process, such as `bmo sync`; no secrets.
    /// - Throws: ``StoreError``: `busy` with the holder's words when another holds it, `open` when there can be no file
    ///   beside the database.
    public static func take(of database: String, command: String) throws -> FileLock {
        switch try attempt(database, command) {
        case .taken(let lock): return lock
        case .held(let holder): throw busy(database, holder)
        }
    }

    /// Takes the lock of a database, waiting for it if need be; see ``take(of:command:)``.
    ///
    /// - Parameters:
    ///   - database: The path of the database file.
    ///   - command: What others are told about this process; no secrets.
    ///   - patience: How long to wait.
    ///   - onWait: Called once, with the holder if that is known, before the wait begins.
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
            // Polled: a thread that blocks in flock could not be cancelled.
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Who holds the lock of a database at this moment; nil when nobody does, or nobody can tell.
    public static func holder(of database: String) -> Holder? {
        guard let descriptor = Descriptor(path: path(of: database), flags: O_RDONLY) else { return nil }
        // A shared lock for a moment: a file that a killed process left behind says nothing.
        if descriptor.lock(LOCK_SH) { return nil }
        return read(descriptor)
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
                // Whoever asks for the holder has the lock for an instant.
                guard isSecondTry else {
                    isSecondTry = true
                    usleep(5000)
                    continue
                }
                return .held(read(descriptor))
            }
            // The one before may have removed the file between our open and our lock.
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

    /// One database has one lock, by whatever path it is called.
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

    /// Waits a moment for a holder that has the lock and has not yet written who it is.
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
