internal import Glibc
internal import Synchronization

/// A process of the host's own executable that serves one plugin.
///
/// It starts with a socket as standard input, a pipe for each of its outputs, a private home folder, no secrets in its
/// environment, and in a process group of its own (Ctrl-C is the host's to handle). It dies with the host.
final class ChildProcess: Sendable {
    /// How a process ended.
    enum Exit: Equatable {
        case code(CInt)
        case signal(CInt)

        var description: String {
            switch self {
            case .code(let code): "exit code \(code)"
            case .signal(let signal):
                "\(Self.names[signal] ?? "signal \(signal)") (\(String(cString: strsignal(signal)).lowercased()))"
            }
        }

        private static let names: [CInt: String] = [
            SIGABRT: "SIGABRT", SIGBUS: "SIGBUS", SIGFPE: "SIGFPE", SIGILL: "SIGILL", SIGKILL: "SIGKILL",
            SIGPIPE: "SIGPIPE", SIGSEGV: "SIGSEGV", SIGSYS: "SIGSYS", SIGTERM: "SIGTERM", SIGTRAP: "SIGTRAP",
            SIGXCPU: "SIGXCPU", SIGALRM: "SIGALRM", SIGHUP: "SIGHUP", SIGINT: "SIGINT",
        ]
    }

    /// The host's ends of the socket and of the pipes; closed by ``cleanUp()``.
    let socket: CInt
    let standardOutput: CInt
    let standardError: CInt
    private let pid: pid_t
    private let home: String?
    private let isReaped = Mutex(false)

    /// The kernel ties PR_SET_PDEATHSIG to the thread that spawned: this one lives as long as the host.
    private static let spawner = Worker()

    private init(pid: pid_t, socket: CInt, standardOutput: CInt, standardError: CInt, home: String?) {
        self.pid = pid
        self.socket = socket
        self.standardOutput = standardOutput
        self.standardError = standardError
        self.home = home
    }

    /// Starts `executable __bridge-serve pluginPath`, with at most `memory` bytes for its data.
    ///
    /// The error is the reason in words.
    static func spawn(
        executable: String, pluginPath: String, memory: Int?
    ) async -> Result<ChildProcess, PluginRefusal> {
        let promise = Promise<Result<ChildProcess, PluginRefusal>>()
        spawner.run { promise.fulfil(start(executable, pluginPath, memory)) }
        return await promise.value
    }

    private static func start(
        _ executable: String, _ pluginPath: String, _ memory: Int?
    ) -> Result<ChildProcess, PluginRefusal> {
        guard getenv(BridgeServer.mark) == nil else {
            return .failure(PluginRefusal(reason: "a bridge's process starts no bridges: call BridgeHost.serve first"))
        }
        var sockets: [CInt] = [-1, -1]
        var outputs: [CInt] = [-1, -1]
        var errors: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &sockets) == 0 else {
            return .failure(refusal("cannot make a socket", errno))
        }
        guard pipe(&outputs) == 0, pipe(&errors) == 0 else {
            let reason = refusal("cannot make a pipe", errno)
            for descriptor in sockets + outputs where descriptor >= 0 { close(descriptor) }
            return .failure(reason)
        }
        for descriptor in outputs + errors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        for descriptor in [outputs[0], errors[0]] { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
        // The child's ends above 2, so that the actions below overwrite none of them.
        let ends = [sockets[1], outputs[1], errors[1]].map { fcntl($0, F_DUPFD_CLOEXEC, 3) }
        for descriptor in [sockets[1], outputs[1], errors[1]] { close(descriptor) }
        let home = makeHome()
        var pid: pid_t = 0
        let failed = run(
            executable, [executable, BridgeServer.command, pluginPath], environment(home: home, memory), ends,
            &pid)
        for descriptor in ends { close(descriptor) }
        guard failed == 0 else {
            for descriptor in [sockets[0], outputs[0], errors[0]] { close(descriptor) }
            if let home { rmdir(home) }
            return .failure(refusal("cannot start \(executable)", failed))
        }
        return .success(
            ChildProcess(
                pid: pid, socket: sockets[0], standardOutput: outputs[0], standardError: errors[0], home: home))
    }

    private static func refusal(_ what: String, _ error: CInt) -> PluginRefusal {
        PluginRefusal(reason: "\(what): \(String(cString: strerror(error)))")
    }

    private static func run(
        _ executable: String, _ arguments: [String], _ environment: [String], _ ends: [CInt], _ pid: inout pid_t
    ) -> CInt {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (target, end) in ends.enumerated() { posix_spawn_file_actions_adddup2(&actions, end, CInt(target)) }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        var all = sigset_t()
        sigemptyset(&none)
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        var argv = arguments.map { strdup($0) } + [nil]
        var envp = environment.map { strdup($0) } + [nil]
        defer { for text in argv + envp { free(text) } }
        return posix_spawn(&pid, executable, &actions, &attributes, &argv, &envp)
    }

    private static func environment(home: String?, _ memory: Int?) -> [String] {
        var environment = ["\(BridgeServer.mark)=1", "SWIFT_BACKTRACE=enable=no"]
        if let memory { environment.append("\(BridgeServer.memory)=\(memory)") }
        if let home { environment += ["HOME=\(home)", "TMPDIR=\(home)"] }
        for name in ["PATH", "LANG", "TZ", "LD_LIBRARY_PATH"] {
            if let value = getenv(name) { environment.append("\(name)=\(String(cString: value))") }
        }
        return environment
    }

    private static func makeHome() -> String? {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/bmo-bridge-XXXXXX".utf8CString)
        return mkdtemp(&template).map { String(cString: $0) }
    }

    /// Ends the process and what it started, at once.
    ///
    /// Safe at any time.
    func kill() {
        isReaped.withLock { isReaped in
            guard !isReaped else { return }
            _ = Glibc.kill(-pid, SIGKILL)
            // A plugin may have left the group.
            _ = Glibc.kill(pid, SIGKILL)
        }
    }

    /// Waits for the process, which is dying or is killed here, and returns how it ended.
    ///
    /// Once, from one thread.
    func reap() -> Exit? {
        // Its socket is closed. If that is because it is dying, the kernel keeps the first reason and ignores this.
        kill()
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        var status: CInt = 0
        let reaped = isReaped.withLock { isReaped in
            isReaped = true
            return waitpid(pid, &status, 0)
        }
        guard reaped == pid else { return nil }
        let signal = status & 0x7F
        return signal == 0 ? .code(status >> 8 & 0xFF) : .signal(signal)
    }

    /// Closes the host's ends and removes the home folder; after ``reap()``.
    func cleanUp() {
        for descriptor in [socket, standardOutput, standardError] { close(descriptor) }
        if let home { FolderRemoval.remove(home) }
    }
}

/// Removes a folder and what is in it, without following links.
enum FolderRemoval {
    static func remove(_ path: String) {
        for name in FolderListing.names(in: path) ?? [] {
            let child = "\(path)/\(name)"
            var status = stat()
            let isFolder = lstat(child, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
            if isFolder { remove(child) } else { unlink(child) }
        }
        rmdir(path)
    }
}
