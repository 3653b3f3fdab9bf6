internal import SystemCalls

/// Follows a network for a manager, and lets its requests wait for it.
final class NetworkFollower: Sendable {
    private enum Signal: Sendable {
        case state(NetworkState), time
    }

    private struct Content {
        var isMissing = false
        /// When it last came back.
        var lastReturn: Duration?
        var isClosed = false
        var lastNumber = 0
        var waits: [Int: AsyncStream<Signal>.Continuation] = [:]
    }

    let retry: NetworkRetry
    let stopwatch: Stopwatch
    private let content = Mutex(Content())
    private let following: Mutex<FollowingTask?>

    init(_ retry: NetworkRetry, _ stopwatch: Stopwatch) {
        self.retry = retry
        self.stopwatch = stopwatch
        following = Mutex(nil)
        let states = retry.watcher.states()
        let task = Task { [weak self] in
            for await state in states { self?.note(state) }
        }
        following.withLock { $0 = FollowingTask(task) }
    }

    private func note(_ state: NetworkState) {
        content.withLock { content in
            if content.isMissing, state == .available { content.lastReturn = stopwatch.elapsed }
            content.isMissing = state == .unavailable
        }
    }

    /// Ends all waits.
    func close() {
        following.withLock { $0 = nil }
        let waits = content.withLock { content in
            content.isClosed = true
            defer { content.waits = [:] }
            return Array(content.waits.values)
        }
        for wait in waits { wait.finish() }
    }

    /// Returns whether the network is missing, or was at some time since `start`.
    func wasMissing(since start: Duration) async -> Bool {
        var states = retry.watcher.states().makeAsyncIterator()
        if await states.next() == .unavailable { return true }
        return content.withLock { content in
            content.isMissing || content.lastReturn.map { $0 >= start } ?? false
        }
    }

    /// Waits until the network has been back for a while.
    ///
    /// - Parameter end: When to give up.
    /// - Returns: Whether it is back; false at the time limit, and when the manager is closed or the watcher ends.
    /// - Throws: `CancellationError`.
    func untilBack(atMostUntil end: Duration) async throws -> Bool {
        let (signals, signal) = AsyncStream.makeStream(of: Signal.self)
        guard let number = add(signal) else { return false }
        let following = Task { [watcher = retry.watcher] in
            for await state in watcher.states() { signal.yield(.state(state)) }
            signal.finish()
        }
        var timer: Task<Void, Never>?
        defer {
            timer?.cancel()
            following.cancel()
            content.withLock { _ = $0.waits.removeValue(forKey: number) }
        }
        var pause = NetworkPause(end: end, settling: retry.settling + retry.jitter * Double.random(in: 0...1))
        for await next in signals {
            let now = stopwatch.elapsed
            if case .state(let state) = next { pause.note(state, at: now) }
            timer?.cancel()
            switch pause.step(at: now) {
            case .goOn: return true
            case .giveUp: return false
            case .wait(let time):
                timer = Task { [stopwatch] in
                    do { try await stopwatch.sleep(for: time - now) } catch { return }
                    signal.yield(.time)
                }
            }
        }
        try Task.checkCancellation()
        return false
    }

    private func add(_ signal: AsyncStream<Signal>.Continuation) -> Int? {
        content.withLock { content in
            guard !content.isClosed else { return nil }
            content.lastNumber += 1
            content.waits[content.lastNumber] = signal
            return content.lastNumber
        }
    }
}

/// The tries of one request or push, as far as the network is concerned: they end together.
struct NetworkTries: Sendable {
    private let network: NetworkFollower?
    private let workspace: Workspace
    private var tryBegan: Duration
    private var end: Duration?

    init(_ network: NetworkFollower?, _ workspace: Workspace) {
        self.network = network
        self.workspace = workspace
        tryBegan = network?.stopwatch.elapsed ?? .zero
    }

    /// Waits for the network after a failed try.
    ///
    /// - Parameters:
    ///   - bridge: The bridge whose remote could not be reached.
    ///   - waiting: Called before it waits, with the longest time.
    /// - Returns: Whether to try again; false where the network was not missing, or did not come back in time.
    /// - Throws: `CancellationError`.
    mutating func goesOn(afterUnreachable bridge: String, _ waiting: (Duration) -> Void = { _ in }) async throws -> Bool
    {
        guard let network, !workspace.isLocal(bridge), await network.wasMissing(since: tryBegan) else { return false }
        let now = network.stopwatch.elapsed
        let end = self.end ?? now + network.retry.limit
        self.end = end
        guard end > now else { return false }
        waiting(end - now)
        guard try await network.untilBack(atMostUntil: end) else { return false }
        tryBegan = network.stopwatch.elapsed
        return true
    }
}
