internal import BridgeKit
internal import Glibc
internal import SystemCalls

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
        let started = Result { () throws(Spawn.Failure) in try spawn(output[1], words[1]).start() }
        for descriptor in [output[1], words[1]] { close(descriptor) }
        switch started {
        case .success(let pid): return Started(pid: pid, output: output[0], words: words[0])
        case .failure(let refusal):
            for descriptor in [output[0], words[0]] { close(descriptor) }
            throw failure(name, refusal.number)
        }
    }

    private func failure(_ name: String, _ error: CInt) -> BridgeError {
        BridgeError(
            .configuration, "\(name) cannot be started: \(program): \(String(cString: strerror(error)))",
            remedy: "run it by hand with --help to see whether it works")
    }

    /// The tap stays in the bridge's process group, so that it ends when the host ends that group.
    private func spawn(_ output: CInt, _ words: CInt) -> Spawn {
        let isLeashed = access(Self.leash, X_OK) == 0
        let line = isLeashed ? [Self.leash, "--pdeathsig", "KILL", program] + arguments.dropFirst() : arguments
        var spawn = Spawn(
            isLeashed ? Self.leash : program, line, environment: environment(), input: .empty,
            output: .descriptor(output), errors: .descriptor(words))
        spawn.inherited = inherited
        return spawn
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
