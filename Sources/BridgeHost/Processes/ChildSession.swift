#if PLUGINS
internal import RecordBatch
internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A session with a bridge instance in a child process.
final class ChildSession: BridgeSession {
    private struct State {
        var pending: [UInt32: Promise<BridgeReply>] = [:]
        var lastCall: UInt32 = 0
        /// The number of requests that the child delegated and that are still unanswered.
        var delegated = 0
        /// The reason why no more answers will come.
        var end: BridgeFailure?
        var isKilled = false
        var isClosing = false
    }

    private let process: ChildProcess
    private let socket: FrameSocket
    private let log: BridgeLog
    private let limits: BridgeLimits
    /// The processes that do the work this process delegates.
    private let helpers: HelperPool?
    private let texts: SharedTextService?
    private let writer = Worker()
    private let state: Mutex<State>
    /// How long a process may take to exit after its connection ended.
    private static let patience: Duration = .milliseconds(500)
    /// The sessions whose processes still exist.
    private static let living = Mutex<[ObjectIdentifier: ChildSession]>([:])
    /// Fulfilled when the process has ended and been cleaned up.
    let ended = Promise<Void>()
    /// The child's first reply: the plugin's identity and description, or its refusal.
    let hello = Promise<BridgeReply>()

    /// Starts a child process for a plugin.
    ///
    /// Does not wait for its hello.
    static func start(
        executable: String, pluginPath: String, digest: String?, limits: BridgeLimits, log: BridgeLog,
        helpers: HelperPool? = nil, texts: SharedTextService? = nil
    ) async throws(BridgeFailure) -> ChildSession {
        let process: ChildProcess
        do {
            process = try await ChildProcess.spawn(
                executable: executable, pluginPath: pluginPath, digest: digest, memory: limits.memory
            ).get()
        } catch {
            throw BridgeFailure(.internal, error.reason, bridge: log.bridge)
        }
        let session = ChildSession(process: process, limits: limits, log: log, helpers: helpers, texts: texts)
        living.withLock { $0[ObjectIdentifier(session)] = session }
        // The thread retains the session until the process ends.
        guard NativeThread.detach({ session.readUntilEnd() }) else {
            session.finish(errors: ChildOutput(process.standardError, log: log, limit: 0), broken: nil)
            throw BridgeFailure(.limit, "cannot start a thread for the bridge's process", bridge: log.bridge)
        }
        return session
    }

    /// Ends the processes of all sessions and waits until they have been cleaned up.
    static func endAll() async {
        await withTaskGroup { group in
            for session in living.withLock({ Array($0.values) }) {
                group.addTask { await session.close(grace: .zero) }
            }
        }
    }

    private init(
        process: ChildProcess, limits: BridgeLimits, log: BridgeLog, helpers: HelperPool?, texts: SharedTextService?
    ) {
        self.process = process
        self.helpers = helpers
        self.texts = texts
        self.log = log
        self.limits = limits
        socket = FrameSocket(descriptor: process.socket, limits: (limits.batchSize, limits.pageSize))
        state = Mutex(State(pending: [0: hello]))
    }

    var isKillable: Bool { true }

    var isUsable: Bool { state.withLock { $0.end == nil && !$0.isKilled && !$0.isClosing } }

    func open(_ options: RecordBatch, isConcurrent: Bool) -> Promise<BridgeReply> {
        let flags = (isConcurrent ? Frame.flag : 0) | (texts == nil ? 0 : Frame.sharing)
        return ask { Frame(kind: .open, flags: flags, call: $0, first: ForeignBytes(options)) }
    }

    func submit(_ call: BridgeCall) -> Promise<BridgeReply> { ask(call.frame(call:)) }

    func cancel(fetch: UInt32) { send(Frame(kind: .cancel, fetch: fetch)) }

    func kill() {
        state.withLock { $0.isKilled = true }
        process.kill()
    }

    func close() -> Promise<Void> {
        let isFirst = state.withLock { state in
            defer { state.isClosing = true }
            return !state.isClosing && state.end == nil
        }
        if isFirst { send(Frame(kind: .close)) }
        return ended
    }

    private func ask(_ frame: (UInt32) -> Frame) -> Promise<BridgeReply> {
        let promise = Promise<BridgeReply>()
        let call = state.withLock { state -> UInt32? in
            if state.end != nil { return nil }
            state.lastCall &+= 1
            state.pending[state.lastCall] = promise
            return state.lastCall
        }
        if let call {
            send(frame(call))
        } else {
            promise.fulfil(.lost(state.withLock { $0.end } ?? .cancelled(log.bridge)))
        }
        return promise
    }

    private func send(_ frame: Frame) {
        // Frames are sent on a separate thread, because a child that does not read must not block the host. That thread
        // also closes the socket, after `end` is set, so no frame is sent to a closed descriptor.
        writer.run { [self] in
            let isOpen = state.withLock { state in
                // Decrement before sending: once the child has the answer, it may delegate again.
                if frame.kind == .worked { state.delegated -= 1 }
                return state.end == nil
            }
            guard isOpen else { return }
            // The reading thread notices the end of the connection, and waits for the process.
            if !socket.send(frame) { socket.shutDown() }
        }
    }

    // MARK: Reading thread

    private func readUntilEnd() {
        var output = ChildOutput(process.standardOutput, log: log, limit: limits.standardError)
        var errors = ChildOutput(process.standardError, log: log, limit: limits.standardError)
        var broken: BridgeFailure?
        reading: while true {
            var descriptors = [
                pollfd(fd: socket.descriptor, events: Int16(POLLIN), revents: 0), output.poll, errors.poll,
            ]
            if poll(&descriptors, nfds_t(descriptors.count), -1) < 0, errno != EINTR { break }
            errors.read()
            // Read the output first, so that it is logged before the answer to the call that printed it.
            output.read()
            if output.isUsed, !limits.allowsPrinting {
                broken = printed(&output)
                break reading
            }
            guard descriptors[0].revents != 0 else { continue }
            do {
                guard let frame = try socket.receive() else { break reading }
                try take(frame)
            } catch {
                broken = .malformed("the bridge's process answered with \(error.reason)", log)
                break reading
            }
        }
        finish(errors: errors, broken: broken)
    }

    /// Returns the failure for a bridge that printed to standard output.
    ///
    /// A host that runs the bridge in process would mix that text with its own results.
    private func printed(_ output: inout ChildOutput) -> BridgeFailure {
        output.finish()
        let words = output.lastLine.map { ": `\($0.cut(to: 200))`" } ?? ""
        return BridgeFailure(
            .malformed, "the bridge, or a program that it started, printed to standard output\(words)",
            bridge: log.bridge,
            remedy: "report it to the bridge's author: a bridge logs through its context, or prints to standard error")
    }

    private func take(_ frame: Frame) throws(FrameError) {
        switch frame.kind {
        case .log:
            guard let first = frame.first else { return }
            log.message(UInt32(frame.flags), String(decoding: first.bytes.prefix(8192), as: UTF8.self))
        case .reply:
            let promise = state.withLock { $0.pending.removeValue(forKey: frame.call) }
            let isFailed = frame.flags & Frame.flag != 0
            promise?.fulfil(isFailed ? .failed(frame.first) : .done(frame.first, frame.second))
        case .work, .share: try delegate(frame)
        default: break
        }
    }

    /// Passes a request that the child delegated to a helper process, or answers a call about a shared text.
    private func delegate(_ frame: Frame) throws(FrameError) {
        // Each request takes memory. The child's side waits at the same limit, so exceeding it is a protocol error.
        let isAllowed = state.withLock { state in
            state.delegated += 1
            return state.delegated <= Frame.maxWork
        }
        guard isAllowed else {
            throw FrameError(reason: "more than \(Frame.maxWork) requests to other processes at a time")
        }
        let call = frame.call
        let answer: @Sendable (BridgeReply) -> Void = { [weak self] reply in
            guard let self else { return }
            switch reply {
            case .done(let first, let second):
                send(Frame(kind: .worked, call: call, first: first, second: second))
            case .failed(let error): send(Frame(kind: .worked, flags: Frame.flag, call: call, first: error))
            case .lost: send(Frame(kind: .worked, flags: Frame.flag, call: call))
            }
        }
        guard let request = try? frame.first?.batch() else { return answer(.failed(nil)) }
        if frame.kind == .share {
            // A thread of its own, as the call may wait for a lock.
            guard let texts, NativeThread.detach({ answer(texts.answer(request)) }) else { return answer(.failed(nil)) }
            return
        }
        guard let helpers else { return answer(.failed(nil)) }
        Task { answer(await helpers.work(request)) }
    }

    private func finish(errors: ChildOutput, broken: BridgeFailure?) {
        var errors = errors
        // Its exit may take a moment, and no other call should come to it meanwhile.
        state.withLock { $0.isClosing = true }
        let exit = process.reap(grace: broken == nil ? Self.patience : .zero)
        // Of a process that has ended, and so cannot save any more.
        texts?.close()
        errors.read()
        errors.finish()
        let isLoading = !hello.isFulfilled
        let pending = state.withLock { state in
            state.end = broken ?? failure(exit, errors, isLoading: isLoading, isKilled: state.isKilled)
            defer { state.pending = [:] }
            return state.pending.values.map { ($0, state.end) }
        }
        for (promise, failure) in pending { promise.fulfil(.lost(failure ?? .cancelled(log.bridge))) }
        // This is the writer's last job; nothing uses the socket after it.
        let identifier = ObjectIdentifier(self)
        writer.run { [process, ended] in
            process.cleanUp()
            Self.living.withLock { $0[identifier] = nil }
            ended.fulfil(())
        }
        writer.stop()
    }

    private func failure(
        _ exit: ChildProcess.Exit?, _ errors: ChildOutput, isLoading: Bool, isKilled: Bool
    ) -> BridgeFailure {
        if isKilled {
            return BridgeFailure(
                .crashed, "the bridge's process was killed because a call did not return", bridge: log.bridge,
                isRetryable: true)
        }
        let how =
            switch exit {
            case .signal(SIGKILL) where process.isKilled:
                "it closed its connection to the host without exiting, and was killed"
            case .some(let exit): exit.description
            case .none: "its process is gone"
            }
        let lastMessage = errors.lastLine.map { "; its last output: \($0)" } ?? ""
        if let limit = limits.memory,
            let reason = MemoryShortage.reason(limit, errors)
        {
            return BridgeFailure(
                .limit,
                "the process of the bridge ended by \(how) at its limit of \(limit >> 20) MiB (`memory:`): \(reason)",
                bridge: log.bridge,
                remedy: "raise `memory:` of the bridge \(log.bridge), or request smaller pages if it supports them")
        }
        var remedy = "report it to the bridge's author"
        if let limit = limits.memory, !isLoading {
            remedy = "its memory is limited to \(limit >> 20) MiB: raise `memory:` of the bridge, or \(remedy)"
        } else if exit == .signal(SIGKILL), !process.isKilled {
            remedy = "the system may have run out of memory: bound it by `memory:` of the bridge, or \(remedy)"
        }
        if isLoading, case .code = exit {
            // The plugin is usually not at fault: the program ran its own main to completion.
            return BridgeFailure(
                .crashed, "the process that should load it ended by \(how)\(lastMessage); \(BridgeServer.advice)",
                bridge: log.bridge)
        }
        let what = isLoading ? "crashed while loading" : "the bridge crashed"
        return BridgeFailure(.crashed, "\(what): \(how)\(lastMessage)", bridge: log.bridge, remedy: remedy)
    }
}
#endif
