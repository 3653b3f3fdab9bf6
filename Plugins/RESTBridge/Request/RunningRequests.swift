internal import BridgePaging
internal import BridgeHTTP
internal import BridgeKit
internal import SystemCalls

/// The requests of a scan in flight.
///
/// Another thread may cancel them.
final class RunningRequests: Sendable {
    private struct State {
        var current: HTTPExchange?
        var ahead: [(position: PagePosition, exchange: HTTPExchange)] = []
        var isCancelled = false
    }

    private let state = Monitor(State())

    func has(_ position: PagePosition) -> Bool { state.withLock { $0.ahead.contains { $0.position == position } } }

    /// Removes and returns the request sent ahead for a position, or nil if there is none.
    func take(_ position: PagePosition) -> HTTPExchange? {
        state.withLock { state in
            guard let index = state.ahead.firstIndex(where: { $0.position == position }) else { return nil }
            return state.ahead.remove(at: index).exchange
        }
    }

    func add(_ exchange: HTTPExchange, at position: PagePosition) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled { state.ahead.append((position, exchange)) }
            return state.isCancelled
        }
        if isCancelled { exchange.cancel() }
    }

    /// Makes this the exchange that the scan waits for.
    func attach(_ exchange: HTTPExchange) throws {
        let isCancelled = state.withLock { state in
            state.current = exchange
            return state.isCancelled
        }
        if isCancelled {
            exchange.cancel()
            throw BridgeError(.cancelled, "the scan was cancelled")
        }
    }

    /// Waits, unless the scan is cancelled.
    ///
    /// - Throws: ``BridgeError`` once the scan is cancelled.
    func pause(seconds: Double) throws {
        let isCancelled = state.wait(seconds: seconds) { $0.isCancelled ? true : nil }
        if isCancelled == true { throw BridgeError(.cancelled, "the scan was cancelled") }
    }

    func detach() { state.withLock { $0.current = nil } }

    /// Cancels the requests that the scan does not need any more.
    func drop() {
        // Remove them first: dropping an exchange cancels it, which takes the lock.
        let dropped = state.withLock { state in
            defer {
                state.ahead = []
                state.current = nil
            }
            return state.ahead.map(\.exchange)
        }
        for exchange in dropped { exchange.cancel() }
    }

    /// Cancels all current and later requests.
    func cancel() {
        let all = state.change { state in
            state.isCancelled = true
            defer { state.ahead = [] }
            return state.ahead.map(\.exchange) + [state.current].compactMap(\.self)
        }
        for exchange in all { exchange.cancel() }
    }
}
