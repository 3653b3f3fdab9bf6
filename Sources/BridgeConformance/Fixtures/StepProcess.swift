internal import Glibc

/// A running command whose outputs go to files.
///
/// Foundation's `Process` needs a network socket to notice the end, which a replay must do without.
struct StepProcess: Sendable {
    private let pid: pid_t

    /// Starts a command.
    ///
    /// - Throws: ``FixtureCase/Fault``.
    init(_ executable: String, _ arguments: [String], directory: String?, output: String, errors: String) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        // POSIX has no function for setting the directory of a spawned process, so use env.
        let command = (directory.map { ["/usr/bin/env", "-C", $0] } ?? []) + [executable] + arguments
        var words = command.map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, command[0], &actions, &attributes, &words, environ)
        guard code == 0 else {
            throw FixtureCase.Fault("\(executable) cannot be started: \(String(cString: strerror(code)))")
        }
        self.pid = pid
    }

    /// Waits for the end and returns the exit code, or 128 plus the number of the signal that ended it.
    func wait() -> Int32 {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 {
            guard errno == EINTR else { return 127 }
        }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : 128 + (status & 0x7F)
    }

    /// Asks the process to end.
    func stop() { kill(pid, SIGTERM) }
}
