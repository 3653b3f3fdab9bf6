/// An open instance of a bridge, in any process.
///
/// Replies arrive on any thread. A session that was lost or killed answers every call with the reason.
protocol BridgeSession: AnyObject, Sendable {
    /// Whether the session accepts calls; once it is false, the next call opens a new session.
    var isUsable: Bool { get }

    /// Whether ``kill()`` ends the bridge's process; a hung call in the host's process cannot be stopped.
    var isKillable: Bool { get }

    /// Starts a call without blocking.
    ///
    /// Calls of one fetch run in order.
    func submit(_ call: BridgeCall) -> Promise<BridgeReply>

    /// Asks a fetch to stop, without blocking.
    func cancel(fetch: UInt32)

    /// Ends the session without waiting for a hung call.
    ///
    /// If that call still returns, its result is discarded.
    func kill()

    /// Closes the instance after the submitted calls.
    func close() -> Promise<Void>
}

extension BridgeSession {
    /// Closes the instance, kills it after `grace`, and waits for the cleanup.
    func close(grace: Duration) async {
        let closed = close()
        let timer = Task {
            try await Task.sleep(for: grace)
            kill()
            // Not even SIGKILL ends a process in an uninterruptible wait, so do not wait forever.
            if isKillable { try await Task.sleep(for: .seconds(3)) }
            closed.fulfil(())
        }
        await closed.value
        timer.cancel()
    }
}
