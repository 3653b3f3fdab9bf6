import Foundation

#if canImport(Glibc)
import Glibc
#endif

/// A program that a test has started: in a process group of its own, its output going to files.
///
/// Files rather than pipes: nothing has to be drained while it runs, and the output so far can be read at any time.
package final class RunningProcess: Sendable {
    /// The process id, which is the group's as well.
    package let pid: Int32
    private let began = ContinuousClock.now
    private let command: String
    private let folder: TemporaryFolder
    /// The end of a pipe that nothing is written to, or -1.
    private let input: Int32

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - executable: a path, or a name to look for in PATH.
    ///   - arguments: without the program's name.
    ///   - environment: added to this process's own; an empty value removes the name.
    ///   - directory: the working directory; default: this process's.
    ///   - holdsInput: whether its standard input is open until this process ends, so that a server can end then as well;
    ///     otherwise it is empty.
    /// - Throws: `POSIXError` when it cannot be started.
    package init(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:],
        directory: String? = nil, holdsInput: Bool = false
    ) throws {
        folder = try TemporaryFolder()
        command = ([executable] + arguments).joined(separator: " ")

        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        var ends: [Int32] = [-1, -1]
        if holdsInput {
            guard pipe(&ends) == 0, fcntl(ends[1], F_SETFD, FD_CLOEXEC) == 0 else {
                throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EMFILE)
            }
            posix_spawn_file_actions_adddup2(&actions, ends[0], 0)
        } else {
            posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        }
        input = ends[1]
        defer { if holdsInput { close(ends[0]) } }
        posix_spawn_file_actions_addopen(&actions, 1, folder.appending("out"), O_WRONLY | O_CREAT, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, folder.appending("err"), O_WRONLY | O_CREAT, 0o600)
        // A server that inherited the pipe of another program would keep it open.
        for descriptor in 3...RunningProcess.lastDescriptor + 32 {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // The test runner may ignore or block signals; a program started from a shell does not.
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigaddset(&signals, SIGINT)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))

        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.filter { !$0.value.isEmpty }
        // Swift's Glibc does not show posix_spawn_file_actions_addchdir_np, so a shell changes the folder.
        let changing = directory.map { ["sh", "-c", #"cd "$0" && exec "$@""#, $0] } ?? []
        let words = changing + [executable] + arguments
        let argv = CStrings(words)
        let envp = CStrings(variables.map { "\($0.key)=\($0.value)" })
        var pid: pid_t = 0
        let code = posix_spawnp(&pid, words[0], &actions, &attributes, argv.pointers, envp.pointers)
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .ENOENT) }
        self.pid = pid
    }

    deinit { if input >= 0 { close(input) } }

    /// The highest descriptor that is open in this process.
    private static var lastDescriptor: Int32 {
        let open = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
        return open.compactMap { Int32($0) }.max() ?? 255
    }

    /// What it has written to its standard output until now.
    package var output: String { text(of: "out") }

    /// What it has written to its standard error until now.
    package var errorOutput: String { text(of: "err") }

    /// Signals the whole group, as a terminal does.
    package func signal(_ number: Int32) {
        kill(-pid, number)
    }

    /// Waits for its end; kills the group at the deadline.
    ///
    /// - Throws: ``DeadlineError`` with what it had written.
    package func finish(within deadline: Duration = .seconds(60)) async throws -> ProcessRun {
        do {
            let status = try await eventually("\(command) ends", within: deadline) { () -> Int32? in
                var status: Int32 = 0
                return waitpid(pid, &status, WNOHANG) == pid ? status : nil
            }
            return result(status)
        } catch {
            signal(SIGKILL)
            var status: Int32 = 0
            waitpid(pid, &status, 0)
            throw DeadlineError(description: "\(error); it was killed, having written:\n\(output)\n\(errorOutput)")
        }
    }

    /// Waits for its end, blocking the thread: for a `deinit`.
    package func finishBlocking() {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) == -1 && errno == EINTR {}
    }

    private func result(_ status: Int32) -> ProcessRun {
        // wait(2): the low seven bits are the signal, the next eight the exit code.
        let signal = status & 0x7f
        return ProcessRun(
            command: command, exitCode: signal == 0 ? (status >> 8) & 0xff : 128 + signal, signal: signal,
            output: output, errorOutput: errorOutput, duration: ContinuousClock.now - began)
    }

    private func text(of name: String) -> String {
        FileManager.default.contents(atPath: folder.appending(name)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }
}

/// A null-terminated array of C strings, as exec wants it.
private final class CStrings {
    let pointers: [UnsafeMutablePointer<CChar>?]

    init(_ strings: [String]) {
        pointers = strings.map { strdup($0) } + [nil]
    }

    deinit {
        for pointer in pointers { free(pointer) }
    }
}
