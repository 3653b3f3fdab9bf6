internal import RecordBatch

/// One opened instance of a bridge, wherever it runs.
///
/// Replies come on any thread. A session that is lost or was killed answers every call with the reason.
protocol BridgeSession: AnyObject, Sendable {
    /// False once the bridge crashed or was killed: then a new session is opened for the next call.
    var isUsable: Bool { get }

    /// Whether ``kill()`` ends it, with its process: a call that hangs in this process goes on.
    var isKillable: Bool { get }

    /// Starts a call; never blocks. Calls of one fetch run in order.
    func submit(_ call: BridgeCall) -> Promise<BridgeReply>

    /// Asks a fetch to stop; never blocks.
    func cancel(fetch: UInt32)

    /// Ends the session without waiting for a call that hangs. Its result, if one still comes, is released unseen.
    func kill()

    /// Closes the instance after the calls that were submitted.
    func close() -> Promise<Void>
}

extension BridgeSession {
    /// Closes the instance: politely, then by force, and then waits for its end, so that nothing is left of it.
    func close(grace: Duration) async {
        let closed = close()
        let timer = Task {
            try await Task.sleep(for: grace)
            kill()
            // A process may be where even SIGKILL does not reach it: then it is left alone.
            if isKillable { try await Task.sleep(for: .seconds(1)) }
            closed.fulfil(())
        }
        await closed.value
        timer.cancel()
    }
}

/// What the host asks of an instance.
///
/// A fetch has a number that the host chose.
enum BridgeCall: Sendable {
    case check
    case discover
    case write(RecordBatch)
    case fetchOpen(UInt32, RecordBatch)
    case fetchNext(UInt32)
    case fetchClose(UInt32)
}

/// How a call ended.
enum BridgeReply: Sendable {
    /// What the bridge put out: the output, or records and page. Unchecked.
    case done(ForeignBytes?, ForeignBytes?)
    /// The bridge reports a failure; the bytes should be an error batch. Unchecked.
    case failed(ForeignBytes?)
    /// No answer of the bridge: it crashed, took too long, was cancelled.
    case lost(BridgeFailure)
}
