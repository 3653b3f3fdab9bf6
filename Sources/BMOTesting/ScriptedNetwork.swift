public import BMO
internal import SystemCalls

/// A network for the tests of an app, which goes away and comes back as the test says, and takes its remotes along.
///
/// ```swift
/// let network = ScriptedNetwork(of: remote)
/// var options = RequestManager.Options()
/// options.network = network.retry
/// network.isAvailable = false
/// let fetch = try await manager.fetch(request)
/// await network.untilAwaited()         // it waits
/// network.isAvailable = true           // it goes on
/// ```
public final class ScriptedNetwork: NetworkWatcher {
    private struct Awaited {
        var isAwaited = false
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let network = NetworkSwitch()
    private let remotes: [ScriptedRemote]
    private let awaited = Mutex(Awaited())

    /// Creates a network that is available.
    ///
    /// - Parameter remotes: The remotes that are reached over it.
    public init(of remotes: ScriptedRemote...) { self.remotes = remotes }

    /// Whether there is a network; its remotes are unreachable without it.
    public var isAvailable: Bool {
        get { network.state == .available }
        set {
            // A request that fails meanwhile finds the network missing.
            if !newValue { network.state = .unavailable }
            awaited.withLock { $0.isAwaited = false }
            for remote in remotes { remote.isReachable = newValue }
            if newValue { network.state = .available }
        }
    }

    /// The settings for a manager, without pauses when the network is back, so that the test does not wait.
    public var retry: NetworkRetry {
        var retry = NetworkRetry(self)
        retry.settling = .zero
        retry.jitter = .zero
        return retry
    }

    /// Waits until a request has found that there is no network, so that the test can bring it back.
    public func untilAwaited() async {
        await withCheckedContinuation { continuation in
            let isAwaited = awaited.withLock { awaited in
                if !awaited.isAwaited { awaited.waiting.append(continuation) }
                return awaited.isAwaited
            }
            if isAwaited { continuation.resume() }
        }
    }

    /// Returns the present state, and then each other one as the test sets it.
    public func states() -> AsyncStream<NetworkState> {
        let states = network.states()
        guard !isAvailable else { return states }
        let waiting = awaited.withLock { awaited in
            awaited.isAwaited = true
            defer { awaited.waiting = [] }
            return awaited.waiting
        }
        for continuation in waiting { continuation.resume() }
        return states
    }
}
