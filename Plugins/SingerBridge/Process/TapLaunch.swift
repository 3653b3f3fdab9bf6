internal import BridgeKit
internal import Glibc

/// The start of a tap's program.
///
/// The program's standard input is empty, its output and error streams are pipes, and it inherits only its files.
struct TapLaunch {
    let program: String
    let arguments: [String]
    let options: TapOptions
    /// Descriptors that the tap inherits besides the standard ones.
    let inherited: [CInt]

    /// The running program with the non-blocking ends of its pipes.
    struct Started {
        let pid: pid_t
        let output: CInt
        let words: CInt
    }

    /// Kills a program when the process that started it ends: a tap that hangs would otherwise survive a killed host.
    private static let leash = "/usr/bin/setpriv"

    /// - Throws: ``BridgeError``.
    func start(_ name: String) throws -> Started {
        var output: [CInt] = [-1, -1]
        var words: [CInt] = [-1, -1]
        // This process belongs to the bridge alone, so its working directory can be the tap's.
        if let folder = options.folder, chdir(folder) != 0 {
            throw BridgeError(
                .configuration, "\(name) cannot run in \(folder): \(String(cString: strerror(errno)))",
                remedy: "give another \"folder\"")
        }
        guard pipe(&output) == 0 else { throw failure(name, errno) }
        guard pipe(&words) == 0 else {
            let reason = errno
            for descriptor in output { close(descriptor) }
            throw failure(name, reason)
        }
        for descriptor in output + words { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        for descriptor in [output[0], words[0]] { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
        var pid: pid_t = 0
        let failed = spawn(output[1], words[1], &pid)
        for descriptor in [output[1], words[1]] { close(descriptor) }
        guard failed == 0 else {
            for descriptor in [output[0], words[0]] { close(descriptor) }
            throw failure(name, failed)
        }
        return Started(pid: pid, output: output[0], words: words[0])
    }

    private func failure(_ name: String, _ error: CInt) -> BridgeError {
        BridgeError(
            .configuration, "\(name) cannot be started: \(program): \(String(cString: strerror(error)))",
            remedy: "run it by hand with --help to see whether it works")
    }

    private func spawn(_ output: CInt, _ words: CInt, _ pid: inout pid_t) -> CInt {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)
        posix_spawn_file_actions_adddup2(&actions, words, 2)
        // Duplicated to itself to stay open (posix_spawn_file_actions_adddup2, glibc 2.29).
        for descriptor in inherited { posix_spawn_file_actions_adddup2(&actions, descriptor, descriptor) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        // The tap stays in the bridge's process group, so that it ends when the host ends that group.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        let leashed = access(Self.leash, X_OK) == 0
        let line = leashed ? [Self.leash, "--pdeathsig", "KILL", program] + arguments.dropFirst() : arguments
        var argv = line.map { strdup($0) } + [nil]
        var envp = environment().map { strdup($0) } + [nil]
        defer { for text in argv + envp { free(text) } }
        return posix_spawn(&pid, leashed ? Self.leash : program, &actions, &attributes, &argv, &envp)
    }

    private func environment() -> [String] {
        let own = Set(options.environment.map(\.name))
        // Python's own switches: text is UTF-8, and output is not buffered.
        var variables = [("PYTHONUTF8", "1"), ("PYTHONUNBUFFERED", "1")]
        for name in ["PATH", "LANG", "TZ", "LD_LIBRARY_PATH", "HOME", "TMPDIR"] {
            if let value = getenv(name) { variables.append((name, String(cString: value))) }
        }
        return (variables.filter { !own.contains($0.0) } + options.environment.map { ($0.name, $0.value) })
            .map { "\($0.0)=\($0.1)" }
    }
}
