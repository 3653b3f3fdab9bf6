internal import Glibc
internal import SystemCalls

/// A running command whose outputs go to files.
///
/// Foundation's `Process` needs a network socket to notice the end, which a replay must do without.
struct StepProcess: Sendable {
    private let pid: pid_t

    /// Starts a command.
    ///
    /// - Throws: ``FixtureCase/Fault``.
    init(_ executable: String, _ arguments: [String], directory: String?, output: String, errors: String) throws {
        // POSIX has no function for setting the directory of a spawned process, so use env.
        let command = (directory.map { ["/usr/bin/env", "-C", $0] } ?? []) + [executable] + arguments
        do throws(Spawn.Failure) {
            pid = try Spawn(
                command[0], command, environment: nil, input: .empty, output: .file(output), errors: .file(errors)
            ).start()
        } catch {
            throw FixtureCase.Fault("\(executable) cannot be started: \(error.words)")
        }
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
