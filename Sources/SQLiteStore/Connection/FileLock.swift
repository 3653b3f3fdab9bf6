internal import StoreContract

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The exclusive right to write a database file, as a lock on `FILE-lock` beside it.
///
/// It is a flock(2): the kernel releases it when the process ends for any reason, and child processes do not inherit
/// it. Reading does not require it. While the lock is held, the file describes the holder; releasing the lock deletes
/// the file.
final class FileLock: StoreLock {
    /// The file that is locked.
    let path: String
    private let descriptor: Descriptor

    private init(path: String, descriptor: Descriptor) {
        self.path = path
        self.descriptor = descriptor
    }

    deinit { release() }

    /// Releases the lock; later calls do nothing.
    func release() {
        descriptor.close { unlink(path) }
    }

    /// Returns the current holder of a database's lock; nil if the lock is free or the holder cannot be determined.
    static func holder(of database: String) -> LockHolder? {
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

    /// Takes the lock of a database, which need not exist yet, without waiting.
    ///
    /// - Parameters:
    ///   - database: The path of the database file.
    ///   - command: How this process describes itself to others, such as `bmo sync`; must not contain secrets.
    /// - Throws: ``StoreError`` of the code `open` if no file can be created beside the database.
    static func attempt(_ database: String, command: String) throws -> LockAttempt {
        let path = path(of: database)
        var isSecondTry = false
        while true {
            guard let descriptor = Descriptor(path: path, flags: O_RDWR | O_CREAT) else {
                let number = errno
                throw StoreError(
                    .open, "\(database): its lock \(path) cannot be created: \(words(number))",
                    remedy: number == EMFILE || number == ENFILE
                        ? SQLiteFailure.fileLimitRemedy : "check the folder and its permissions")
            }
            guard descriptor.lock(LOCK_EX) else {
                guard errno == EWOULDBLOCK else {
                    throw StoreError(
                        .open, "\(database): its lock \(path) cannot be acquired: \(words(errno))",
                        remedy: "put the database on a file system that supports locks")
                }
                // A process that asks for the holder has the lock for an instant.
                guard isSecondTry else {
                    isSecondTry = true
                    usleep(5000)
                    continue
                }
                return .held(by: read(descriptor))
            }
            // The previous holder may have removed the file between open and lock.
            guard descriptor.isStill(at: path) else { continue }
            descriptor.replaceContents(text(command))
            return .taken(FileLock(path: path, descriptor: descriptor))
        }
    }

    /// Returns the path of the lock, which is the same for all paths of one database.
    private static func path(of database: String) -> String {
        if let resolved = resolve(database) { return resolved + "-lock" }
        let name = database.split(separator: "/", omittingEmptySubsequences: false).last.map(String.init) ?? database
        let folder = database.count > name.count ? String(database.dropLast(name.count)) : "."
        return (resolve(folder).map { $0 + "/" + name } ?? database) + "-lock"
    }

    /// Returns what a lock for a purpose is taken of: the database, or the database with a suffix, which is the same for
    /// all paths of one database.
    static func subject(_ database: String, for purpose: LockPurpose) -> String {
        switch purpose {
        case .writing: database
        case .pushing: (resolve(database) ?? database) + "-push"
        }
    }

    /// Returns the path without links; nil if nothing is there.
    static func resolve(_ path: String) -> String? {
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
    private static func read(_ descriptor: Descriptor) -> LockHolder? {
        for _ in 0..<20 {
            var values: [Substring: String] = [:]
            let text = descriptor.contents
            for line in text.split(separator: "\n") {
                let parts = line.split(separator: " ", maxSplits: 1)
                if parts.count == 2 { values[parts[0]] = String(parts[1]) }
            }
            if text.hasSuffix("\n"), let pid = values["pid"].flatMap({ Int32($0) }), let command = values["command"] {
                return LockHolder(
                    pid: pid, host: values["host"] ?? "?", command: command, since: values["since"] ?? "?")
            }
            usleep(1000)
        }
        return nil
    }
}
