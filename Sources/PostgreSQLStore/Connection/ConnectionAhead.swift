internal import SystemCalls

/// A connection for reading that a thread of its own opens, while its owner uses another one.
///
/// To open one takes several round trips, which are long if the server is far away.
final class ConnectionAhead: Sendable {
    /// The connection; nil inside if the server refused it.
    private let connection = Monitor<Connection??>(.none)

    /// Starts to connect to a server that has answered before.
    init(_ location: DatabaseLocation, engine: EngineProfile) {
        let isStarted = NativeThread.detach(blocking: .all) { [self] in
            let new = try? Connection.forReading(location, engine: engine)
            connection.change { $0 = .some(new) }
        }
        if !isStarted { connection.withLock { $0 = .some(nil) } }
    }

    /// Waits for the connection; nil if the server refused it.
    func wait() -> Connection? { connection.wait { $0 } }
}
