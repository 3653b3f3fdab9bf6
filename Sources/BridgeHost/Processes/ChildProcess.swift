#if PLUGINS
internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A process of the host's own executable that serves one plugin.
///
/// It starts in its own process group (the host handles Ctrl-C) with a socket as standard input, a pipe for each
/// output, a private home folder and no secrets in its environment. It consists of a guard (`bridge_guard.h`) and the
/// serving process. Both end with the host, as do all processes that the bridge started.
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

    /// The host's end of the socket; ``cleanUp()`` closes it and the pipes.
    let socket: CInt
    let standardOutput: CInt
    let standardError: CInt
    private let pid: pid_t
    private let home: BridgeHome?
    private let state = Mutex(State())

    private struct State {
        var isReaped = false
        var isKilled = false
    }

    /// Whether ``kill()`` was called before the process had ended.
    var isKilled: Bool { state.withLock(\.isKilled) }

    /// How long the guard has to end the other processes before the host kills them all.
    ///
    /// A guard that is killed cannot say how the serving process ended, and on a busy machine it may be slow.
    private static let patience: Duration = .seconds(2)

    /// The kernel ties PR_SET_PDEATHSIG to the spawning thread, so that thread must live as long as the host.
    private static let spawner = Worker()

    private init(pid: pid_t, socket: CInt, standardOutput: CInt, standardError: CInt, home: BridgeHome?) {
        self.pid = pid
        self.socket = socket
        self.standardOutput = standardOutput
        self.standardError = standardError
        self.home = home
    }

    /// Starts `executable __bridge-serve pluginPath` with at most `memory` bytes for its data.
    ///
    /// If `digest` is given, the process loads the file only if its SHA-256 matches. The error holds the reason as
    /// text.
    static func spawn(
        executable: String, pluginPath: String, digest: String?, memory: Int?
    ) async -> Result<ChildProcess, PluginRefusal> {
        let promise = Promise<Result<ChildProcess, PluginRefusal>>()
        spawner.run { promise.fulfil(start(executable, pluginPath, digest, memory)) }
        return await promise.value
    }

    private static func start(
        _ executable: String, _ pluginPath: String, _ digest: String?, _ memory: Int?
    ) -> Result<ChildProcess, PluginRefusal> {
        guard getenv(BridgeServer.mark) == nil else {
            return .failure(
                PluginRefusal(reason: "a bridge's process cannot start bridges: call BridgeHost.serve first"))
        }
        var sockets: [CInt] = [-1, -1]
        var outputs: [CInt] = [-1, -1]
        var errors: [CInt] = [-1, -1]
        guard socketpair(AF_UNIX, CInt(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &sockets) == 0 else {
            return .failure(refusal("cannot create a socket", errno))
        }
        guard pipe(&outputs) == 0, pipe(&errors) == 0 else {
            let reason = refusal("cannot create a pipe", errno)
            for descriptor in sockets + outputs where descriptor >= 0 { close(descriptor) }
            return .failure(reason)
        }
        for descriptor in outputs + errors { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        for descriptor in [outputs[0], errors[0]] { _ = fcntl(descriptor, F_SETFL, O_NONBLOCK) }
        // Move the child's ends above 2, so that the file actions overwrite none of them.
        let ends = [sockets[1], outputs[1], errors[1]].map { fcntl($0, F_DUPFD_CLOEXEC, 3) }
        for descriptor in [sockets[1], outputs[1], errors[1]] { close(descriptor) }
        let home = BridgeHome.make()
        // The plugin's process gets the three ends and a chosen environment, and nothing else of the host.
        var spawn = Spawn(
            executable, [executable, BridgeServer.command, pluginPath],
            environment: environment(home: home?.path, digest, memory), input: .descriptor(ends[0]),
            output: .descriptor(ends[1]), errors: .descriptor(ends[2]))
        spawn.leadsGroup = true
        let started = Result { () throws(Spawn.Failure) in try spawn.start() }
        for descriptor in ends { close(descriptor) }
        let pid: pid_t
        switch started {
        case .success(let started): pid = started
        case .failure(let failure):
            for descriptor in [sockets[0], outputs[0], errors[0]] { close(descriptor) }
            home?.remove()
            return .failure(refusal("cannot start \(executable)", failure.number))
        }
        return .success(
            ChildProcess(
                pid: pid, socket: sockets[0], standardOutput: outputs[0], standardError: errors[0], home: home))
    }

    private static func refusal(_ what: String, _ error: CInt) -> PluginRefusal {
        PluginRefusal(reason: "\(what): \(String(cString: strerror(error)))")
    }

    private static func environment(home: String?, _ digest: String?, _ memory: Int?) -> [String] {
        var environment = ["\(BridgeServer.mark)=1", "SWIFT_BACKTRACE=enable=no"]
        if let memory { environment.append("\(BridgeServer.memory)=\(memory)") }
        if let digest { environment.append("\(BridgeServer.digest)=\(digest)") }
        if let home { environment += ["HOME=\(home)", "TMPDIR=\(home)"] }
        // Those of Kerberos name files, and hold no secret.
        let names = [
            "PATH", "LANG", "TZ", "LD_LIBRARY_PATH", "BMO_TRACEABLE", "KRB5_CONFIG", "KRB5CCNAME", "KRB5_CLIENT_KTNAME",
        ]
        for name in names {
            if let value = getenv(name) { environment.append("\(name)=\(String(cString: value))") }
        }
        return environment
    }

    /// Ends the process and its descendants; does not wait for their end.
    ///
    /// Safe to call at any time.
    func kill() {
        let isFirst = state.withLock { state in
            guard !state.isReaped, !state.isKilled else { return false }
            state.isKilled = true
            // The guard kills the other processes and exits. SIGCONT wakes a guard that is stopped.
            systemKill(pid, SIGTERM)
            systemKill(pid, SIGCONT)
            return true
        }
        if isFirst { _ = Alarm(after: Self.patience) { [self] in killAll() } }
    }

    /// Kills a process that has no guard, or whose guard does not work.
    private func killAll() {
        state.withLock { state in
            guard !state.isReaped else { return }
            systemKill(-pid, SIGKILL)
            systemKill(pid, SIGKILL)
        }
    }

    /// Waits for the process, kills it if it still runs after `grace`, and returns how it ended.
    ///
    /// Call it once, from one thread. A process whose connection ended is usually about to exit by itself; killed
    /// meanwhile, it would hide its own reason and could not save its last state.
    func reap(grace: Duration) -> Exit? {
        var alarm: Alarm?
        if grace > .zero { alarm = Alarm(after: grace) { [self] in kill() } } else { kill() }
        defer { alarm?.cancel() }
        var information = siginfo_t()
        while waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) < 0, errno == EINTR {}
        var status: CInt = 0
        let reaped = state.withLock { state in
            state.isReaped = true
            return waitpid(pid, &status, 0)
        }
        guard reaped == pid else { return nil }
        let signal = status & 0x7F
        return signal == 0 ? .code(status >> 8 & 0xFF) : .signal(signal)
    }

    /// Closes the host's ends and removes the home folder; call it after ``reap(grace:)``.
    func cleanUp() {
        for descriptor in [socket, standardOutput, standardError] { close(descriptor) }
        home?.remove()
    }
}
#endif
