/// The names of C that a source uses where Darwin compiles it.
struct DarwinNames {
    /// Names that Darwin's headers declare: POSIX, and `pthread_cond_timedwait_relative_np`.
    ///
    /// Each was looked up in the headers of macOS 15 that the package ziglang 0.17.1 carries. Add a name only after the
    /// same look.
    private static let known = Set(
        """
        CLOCK_MONOTONIC CLOCK_REALTIME EACCES EAGAIN EEXIST EFBIG EINTR EINVAL EISDIR EMFILE ENFILE ENOENT ENOSPC
        ENOTDIR ENXIO EPERM ETIMEDOUT EWOULDBLOCK F_OK LOCK_EX LOCK_NB LOCK_SH MAP_FAILED MAP_SHARED O_APPEND O_CLOEXEC
        O_CREAT O_DIRECTORY O_EXCL O_NOCTTY O_NOFOLLOW O_NONBLOCK O_RDONLY O_RDWR O_TRUNC O_WRONLY POLLIN PROT_READ
        PROT_WRITE PTHREAD_CREATE_DETACHED
        PTHREAD_CREATE_JOINABLE REG_EXTENDED R_OK SIGPIPE SIG_BLOCK SIG_SETMASK S_IFDIR S_IFMT S_IFREG S_IWGRP
        S_IWOTH W_OK access clock_gettime close closedir dev_t errno fchmod fchown fcntl flock free fstat fsync ftruncate
        getcwd getegid getenv geteuid getpid gmtime_r ino_t kill malloc memcmp mkdir mkstemp mmap mode_t munmap
        off_t open opendir poll pollfd pread pthread_attr_destroy pthread_attr_init pthread_attr_setdetachstate
        pthread_attr_t pthread_cond_broadcast pthread_cond_destroy pthread_cond_init pthread_cond_t
        pthread_cond_timedwait_relative_np pthread_cond_wait pthread_condattr_destroy pthread_condattr_init
        pthread_condattr_t pthread_create pthread_join pthread_mutex_destroy pthread_mutex_init pthread_mutex_lock
        pthread_mutex_t pthread_mutex_unlock pthread_sigmask pthread_t pwrite read readdir realpath regcomp regerror
        regex_t regexec regfree regmatch_t rename sigaddset sigemptyset sigfillset sigset_t stat strdup strerror
        strftime strnlen strtod time time_t timegm timespec tm uname unlink unsetenv usleep utsname write
        """.split(whereSeparator: \.isWhitespace).map(String.init))
    /// What looks like a name of C and is Swift's, and the beginnings of the names of modules that Darwin has.
    private static let others: Set<String> = [
        "GRDB", "URL", "UTF8", "init", "max", "min", "nonisolated", "private", "throws", "unsafeBitCast", "zip",
    ]
    private static let prefixes = ["bmo_", "BMO_", "sqlite3_", "SQLITE_", "with"]

    /// Conditions of branches that Darwin does not compile.
    private static let foreign: Set<String> = ["os(Linux)", "PLUGINS", "!canImport(Darwin)"]

    /// The lines of a source that Darwin compiles; other lines are empty.
    static func compiledLines(of source: String) -> [Substring] {
        var branches: [(isLeftOut: Bool, isDarwins: Bool)] = []
        return source.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let words = line.drop { $0 == " " }
            if words.hasPrefix("#if ") {
                let condition = String(words.dropFirst(4))
                branches.append((foreign.contains(condition), condition == "canImport(Darwin)"))
            } else if words.hasPrefix("#else"), let branch = branches.popLast() {
                branches.append((branch.isDarwins, branch.isDarwins))
            } else if words.hasPrefix("#endif") {
                _ = branches.popLast()
            } else if !branches.contains(where: \.isLeftOut) {
                return line
            }
            return ""
        }
    }

    /// The lines without comments and texts; lines within a text of several lines are left out.
    private static func code(_ lines: [Substring]) -> [String] {
        var isInText = false
        return lines.compactMap { line in
            let marks = line.matches(of: /"""/).count
            defer { if !marks.isMultiple(of: 2) { isInText.toggle() } }
            return isInText ? nil : code(line)
        }
    }

    private static func code(_ line: Substring) -> String {
        let parts = line.split(separator: "\"", omittingEmptySubsequences: false)
        let outside = parts.enumerated().filter { $0.offset % 2 == 0 }.map { String($0.element) }.joined(
            separator: "\"\"")
        return outside.firstRange(of: "//").map { String(outside[..<$0.lowerBound]) } ?? outside
    }

    /// The names that a source declares, which hide those of C.
    static func declared(in source: String) -> Set<String> {
        let declaration = /\b(?:func|case|struct|class|enum|typealias|var|let)\s+\(?`?(\w+)/
        let label = /(\w+)\s*:/
        let code = code(source.split(separator: "\n"))
        return Set(
            code.flatMap { line in
                line.matches(of: declaration).map { String($0.1) } + line.matches(of: label).map { String($0.1) }
            })
    }

    /// The names of C that Darwin lacks, as far as known, among what Darwin compiles of a source.
    ///
    /// - Parameter declared: The names that other sources of the package declare.
    static func unknown(in source: String, declared: Set<String> = []) -> [String] {
        // A constant, a function that is called, or a type.
        let name = /(?:^|[^.\w`#@$])([A-Z][A-Z0-9_]{2,}\b|[a-z_]\w*(?=\()|[a-z_]\w*_t\b)/
        let lines = code(compiledLines(of: source))
        let own = Self.declared(in: source).union(declared).union(tuples(lines))
        let found = lines.flatMap { line in line.matches(of: name).map { String($0.1) } }
        return Set(found).filter { word in
            !known.contains(word) && !others.contains(word) && !own.contains(word)
                && !prefixes.contains { word.hasPrefix($0) }
        }.sorted()
    }

    /// The further names of tuples and of closures' parameters.
    private static func tuples(_ lines: [String]) -> Set<String> {
        Set(lines.flatMap { line in line.matches(of: /,\s*(\w+)(?=[,)]| in\b)/).map { String($0.1) } })
    }
}
