#if os(Linux)
#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The start of a program (posix_spawn(3)), with no signal blocked and none ignored.
///
/// The program inherits the descriptors named here, and those that this process has not marked close-on-exec.
package struct Spawn {
    /// What one of the program's standard streams is connected to.
    package enum Stream: Sendable {
        /// `/dev/null`, to read from.
        case empty
        /// A descriptor of this process.
        case descriptor(CInt)
        /// A file that is created or emptied, to write to.
        case file(String)
    }

    /// The path of the program's file.
    package var program: String
    /// The program's arguments; the first is its name.
    package var arguments: [String]
    /// The program's environment, as `NAME=VALUE`; nil for that of this process.
    package var environment: [String]?
    /// What descriptors 0, 1 and 2 of the program are.
    package var streams: (input: Stream, output: Stream, errors: Stream)
    /// Descriptors that the program inherits under the same number, although they are marked close-on-exec.
    package var inherited: [CInt] = []
    /// Whether the program leads a process group of its own.
    package var leadsGroup = false

    /// Takes all that has no default.
    package init(
        _ program: String, _ arguments: [String], environment: [String]?, input: Stream, output: Stream, errors: Stream
    ) {
        self.program = program
        self.arguments = arguments
        self.environment = environment
        streams = (input, output, errors)
    }

    /// The reason why a program cannot be started.
    package struct Failure: Error, Equatable, Sendable {
        /// The system's error number.
        package let number: CInt

        /// The system's words for it.
        package var words: String { String(cString: strerror(number)) }
    }

    /// Starts the program and returns its process id; the caller waits for its end.
    package func start() throws(Failure) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        connect(streams.input, to: 0, &actions)
        connect(streams.output, to: 1, &actions)
        connect(streams.errors, to: 2, &actions)
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
        posix_spawnattr_setpgroup(&attributes, 0)
        let group = leadsGroup ? POSIX_SPAWN_SETPGROUP : 0
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | group))
        var argv = arguments.map { strdup($0) } + [nil]
        var envp = (environment ?? []).map { strdup($0) } + [nil]
        defer { for text in argv + envp { free(text) } }
        var pid = pid_t()
        let code =
            environment == nil
            ? posix_spawn(&pid, program, &actions, &attributes, &argv, environ)
            : posix_spawn(&pid, program, &actions, &attributes, &argv, &envp)
        guard code == 0 else { throw Failure(number: code) }
        return pid
    }

    private func connect(_ stream: Stream, to target: CInt, _ actions: inout posix_spawn_file_actions_t) {
        switch stream {
        case .empty: posix_spawn_file_actions_addopen(&actions, target, "/dev/null", O_RDONLY, 0)
        case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, target)
        case .file(let path):
            posix_spawn_file_actions_addopen(&actions, target, path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        }
    }
}
#endif
