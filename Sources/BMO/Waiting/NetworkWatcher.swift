internal import SystemCalls

/// Whether other machines can be reached.
public enum NetworkState: String, Sendable, Hashable {
    /// There is a route to other machines. Whether a server answers is another question.
    case available
    /// No packet leaves this machine.
    case unavailable
}

/// Knows whether there is a network, and says when that changes.
///
/// ``NetlinkWatcher`` asks Linux. On other systems, an app gives a ``NetworkSwitch`` that it sets, or conforms a type of
/// its own:
///
/// ```swift
/// let network = NetworkSwitch()
/// let monitor = NWPathMonitor()
/// monitor.pathUpdateHandler = { network.state = $0.status == .satisfied ? .available : .unavailable }
/// monitor.start(queue: .global())
/// options.network = NetworkRetry(network)
/// ```
///
/// A manager calls ``states()`` from any task: once for itself, and once for each request that fails.
public protocol NetworkWatcher: Sendable {
    /// Returns the present state, and then each other one as it comes.
    ///
    /// Every call returns a sequence of its own, which ends with the watcher. It must not wait before the first state.
    func states() -> AsyncStream<NetworkState>
}

/// A network watcher whose state the program sets.
public final class NetworkSwitch: NetworkWatcher {
    private struct Content {
        var state: NetworkState
        var isClosed = false
        var lastNumber = 0
        var listeners: [Int: AsyncStream<NetworkState>.Continuation] = [:]
    }

    private let content: Mutex<Content>

    /// Creates a watcher with a state.
    public init(_ state: NetworkState = .available) { content = Mutex(Content(state: state)) }

    /// The present state; those who follow it hear of a new one.
    public var state: NetworkState {
        get { content.withLock { $0.state } }
        set {
            // Under the lock, so that all hear the states in one order.
            content.withLock { content in
                guard content.state != newValue, !content.isClosed else { return }
                content.state = newValue
                for listener in content.listeners.values { listener.yield(newValue) }
            }
        }
    }

    /// Returns the present state, and then each other one as it is set; only the last ones for a consumer that is late.
    public func states() -> AsyncStream<NetworkState> {
        let (states, continuation) = AsyncStream.makeStream(
            of: NetworkState.self, bufferingPolicy: .bufferingNewest(16))
        let number = content.withLock { content in
            content.lastNumber += 1
            continuation.yield(content.state)
            if content.isClosed { continuation.finish() } else { content.listeners[content.lastNumber] = continuation }
            return content.lastNumber
        }
        continuation.onTermination = { [weak self] _ in
            _ = self?.content.withLock { $0.listeners.removeValue(forKey: number) }
        }
        return states
    }

    /// Ends the sequences of all who follow it.
    public func close() {
        let listeners = content.withLock { content in
            content.isClosed = true
            defer { content.listeners = [:] }
            return Array(content.listeners.values)
        }
        for listener in listeners { listener.finish() }
    }

    deinit { close() }
}
