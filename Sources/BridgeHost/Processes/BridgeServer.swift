#if PLUGINS
internal import CBridge
internal import CBridgeGuard
internal import CBridgeProcess
internal import RecordBatch
internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The child's side: loads one plugin and answers frames until the host disconnects.
enum BridgeServer {
    /// The hidden subcommand.
    static let command = "__bridge-serve"
    /// The environment variable that marks a serving process, so that it never starts another.
    static let mark = "BMO_BRIDGE_SERVE"
    /// The environment variable with the limit on a serving process's data, in bytes.
    static let memory = "BMO_BRIDGE_MEMORY"

    /// The environment variable with the SHA-256 that the plugin's file must have.
    static let digest = "BMO_BRIDGE_SHA256"

    /// Advice for the author of a program that has plugins but does not serve them.
    static let advice =
        "a program with plugins calls `BridgeHost.serveIfAsked()` first thing in its `main`, or links its bridges: "
        + "`bridges: [BridgeExport(RESTBridge.self)]`"

    /// Ends a process that was started to serve a plugin but continued into the program's own `main`.
    ///
    /// It is too late to serve: a running concurrency runtime has descriptors that ``serve(_:)`` would close.
    static func endUnlessServing() {
        let arguments = CommandLine.arguments
        guard getenv(mark) != nil, arguments.count == 3, arguments[1] == command else { return }
        let reason = "the program ran its own `main` in the bridge's process: \(advice)"
        let socket = FrameSocket(descriptor: 0, limits: (Int(UInt32.max), Int(UInt32.max)))
        let refusal = (try? PluginHello.batch(refusal: reason)).map { ForeignBytes($0) }
        FrameSender(socket).send(Frame(kind: .reply, flags: Frame.flag, first: refusal))
        _exit(1)
    }

    static func serve(_ path: String) -> Never {
        let socket = isolate()
        let sender = FrameSender(socket)
        let plugin: LoadedPlugin
        do {
            func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
            plugin = try LoadedPlugin.load(path, digest: variable(digest), links: variable("HOME"))
            guard case .done(let description, _) = plugin.describe() else {
                throw PluginRefusal(reason: "its description is invalid: describe failed")
            }
            let identity = try PluginHello.batch(plugin.identity)
            sender.send(Frame(kind: .reply, first: ForeignBytes(identity), second: description))
        } catch {
            let reason = (error as? PluginRefusal)?.reason ?? "\(error)"
            let refusal = (try? PluginHello.batch(refusal: reason)).map { ForeignBytes($0) }
            sender.send(Frame(kind: .reply, flags: Frame.flag, first: refusal))
            _exit(1)
        }
        answer(plugin, socket, sender)
        // The host closed the socket or sent an invalid frame.
        _exit(0)
    }

    /// Moves the host's socket away from standard input and denies the plugin the host's resources.
    private static func isolate() -> FrameSocket {
        setParentDeathSignal()
        bmo_keep_others_out()
        bmo_leave_a_guard()
        // No core file, because it would contain the secrets.
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &limit)
        // RLIMIT_DATA counts the heap and private mappings (setrlimit(2), since Linux 4.7), but not mapped libraries.
        if let bytes = getenv(memory).flatMap({ rlim_t(String(cString: $0)) }) {
            limit = rlimit(rlim_cur: bytes, rlim_max: bytes)
            setrlimit(__rlimit_resource_t(RLIMIT_DATA.rawValue), &limit)
        }
        bmo_note_memory_on_crash()
        signal(SIGPIPE, SIG_IGN)
        closefrom(3)
        let descriptor = fcntl(0, F_DUPFD_CLOEXEC, 3)
        let null = open("/dev/null", O_RDWR | O_CLOEXEC)
        dup2(null, 0)
        close(null)
        bmo_print_at_once()
        bmo_confine()
        return FrameSocket(descriptor: descriptor, limits: (Int(UInt32.max), Int(UInt32.max)))
    }

    /// Calls `prctl(PR_SET_PDEATHSIG, SIGKILL)` through dlsym: Swift does not import C functions with variable
    /// arguments.
    private static func setParentDeathSignal() {
        typealias Prctl = @convention(c) (CInt, CUnsignedLong, CUnsignedLong, CUnsignedLong, CUnsignedLong) -> CInt
        guard let symbol = dlsym(nil, "prctl") else { return }
        _ = unsafeBitCast(symbol, to: Prctl.self)(1, CUnsignedLong(SIGKILL), 0, 0, 0)
    }

    private static func answer(_ plugin: LoadedPlugin, _ socket: FrameSocket, _ sender: FrameSender) {
        var instance: BridgeInstance?
        let delegation = Delegation(sender)
        while let frame = try? socket.receive() {
            let reply: BridgeInstance.Completion = { sender.reply(to: frame.call, $0) }
            switch frame.kind {
            case .open:
                guard let options = try? frame.first?.batch() else { return }
                let isConcurrent = frame.flags & Frame.flag != 0
                let work: @Sendable (RecordBatch) -> BridgeReply = { delegation.ask(.work, $0) }
                let share: @Sendable (RecordBatch) -> BridgeReply = { delegation.ask(.share, $0) }
                let opened = BridgeInstance(
                    plugin: plugin, isConcurrent: isConcurrent, work: isConcurrent ? nil : work,
                    share: frame.flags & Frame.sharing != 0 ? share : nil
                ) { sender.log($0, $1) }
                instance = opened
                opened.open(options, completion: reply)
            case .cancel:
                instance?.cancel(fetch: frame.fetch)
            case .worked: delegation.take(frame)
            case .close:
                guard let instance else { return }
                instance.close {
                    // Flush the plugin's output that stdio still buffers.
                    fflush(nil)
                    _exit(0)
                }
            default:
                guard let call = BridgeCall(frame) else { return }
                guard let instance else { return }
                instance.submit(call, completion: reply)
            }
        }
    }
}

/// What the bridge asks of the host: work for other processes, and texts that processes share.
private final class Delegation: Sendable {
    private let sender: FrameSender
    private let state = Mutex(State())
    private let places = Semaphore(Frame.maxWork)

    private struct State {
        var pending: [UInt32: Waiting] = [:]
        var last: UInt32 = 0
    }

    /// A waiting thread's reply; set by one thread before it wakes the other.
    private final class Waiting: @unchecked Sendable {
        let semaphore = Semaphore(0)
        var reply = BridgeReply.failed(nil)
    }

    /// A POSIX semaphore, on which a thread of the bridge waits.
    private final class Semaphore: @unchecked Sendable {
        // The pointer never changes, and sem_wait and sem_post may be called from any thread.
        private let semaphore = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)

        init(_ count: Int) { sem_init(semaphore, 0, UInt32(count)) }

        deinit {
            sem_destroy(semaphore)
            semaphore.deallocate()
        }

        func wait() { while sem_wait(semaphore) != 0, errno == EINTR {} }

        func signal() { sem_post(semaphore) }
    }

    init(_ sender: FrameSender) { self.sender = sender }

    /// Waits for the answer; the host limits how long that takes.
    func ask(_ kind: Frame.Kind, _ request: RecordBatch) -> BridgeReply {
        places.wait()
        defer { places.signal() }
        let waiting = Waiting()
        let call = state.withLock { state in
            state.last &+= 1
            state.pending[state.last] = waiting
            return state.last
        }
        sender.send(Frame(kind: kind, call: call, first: ForeignBytes(request)))
        waiting.semaphore.wait()
        return waiting.reply
    }

    func take(_ frame: Frame) {
        guard let waiting = state.withLock({ $0.pending.removeValue(forKey: frame.call) }) else { return }
        waiting.reply = frame.flags & Frame.flag == 0 ? .done(frame.first, frame.second) : .failed(frame.first)
        waiting.semaphore.signal()
    }
}

/// Sends frames from any thread, one at a time.
private final class FrameSender: Sendable {
    private let socket: Mutex<FrameSocket>

    init(_ socket: FrameSocket) { self.socket = Mutex(socket) }

    func send(_ frame: Frame) {
        // Either the host has exited or the plugin closed the host's descriptor; the reading thread would not notice
        // the latter.
        if !socket.withLock({ $0.send(frame) }) { _exit(1) }
    }

    func reply(to call: UInt32, _ reply: BridgeReply) {
        switch reply {
        case .done(let first, let second): send(Frame(kind: .reply, call: call, first: first, second: second))
        case .failed(let error): send(Frame(kind: .reply, flags: Frame.flag, call: call, first: error))
        case .lost: send(Frame(kind: .reply, flags: Frame.flag, call: call))
        }
    }

    func log(_ level: bmo_log_level, _ message: String) {
        let level = UInt16(truncatingIfNeeded: level.rawValue)
        send(Frame(kind: .log, flags: level, first: ForeignBytes(copying: message)))
    }
}

extension BridgeCall {
    /// Creates the call that a frame requests; nil for other kinds and for a request that is not a batch.
    init?(_ frame: Frame) {
        switch frame.kind {
        case .check: self = .check
        case .discover: self = .discover
        case .fetchNext: self = .fetchNext(frame.fetch)
        case .fetchClose: self = .fetchClose(frame.fetch)
        case .write:
            guard let request = try? frame.first?.batch() else { return nil }
            self = .write(request)
        case .fetchOpen:
            guard let request = try? frame.first?.batch() else { return nil }
            self = .fetchOpen(frame.fetch, request)
        default: return nil
        }
    }

    /// Returns the frame that requests this call.
    func frame(call: UInt32) -> Frame {
        switch self {
        case .check: Frame(kind: .check, call: call)
        case .discover: Frame(kind: .discover, call: call)
        case .write(let request): Frame(kind: .write, call: call, first: ForeignBytes(request))
        case .fetchOpen(let fetch, let request):
            Frame(kind: .fetchOpen, call: call, fetch: fetch, first: ForeignBytes(request))
        case .fetchNext(let fetch): Frame(kind: .fetchNext, call: call, fetch: fetch)
        case .fetchClose(let fetch): Frame(kind: .fetchClose, call: call, fetch: fetch)
        }
    }
}
#endif
