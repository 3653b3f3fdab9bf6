internal import StoreContract
internal import SystemCalls

/// Attempts to take a lock, over one connection for as long as it lasts.
///
/// The connection ends with the attempts, unless the lock was taken and keeps it.
final class LockAttempts: Sendable {
    private let connection = Mutex<Connection?>(nil)

    /// Tries to take a lock without waiting.
    ///
    /// - Parameter isShared: Whether others can hold it at the same time, if they share it too.
    func next(
        _ location: DatabaseLocation, for purpose: LockPurpose, isShared: Bool, command: String
    ) throws -> LockAttempt {
        let known = connection.withLock { known in
            defer { known = nil }
            return known?.isAlive == true ? known : nil
        }
        if let known {
            do {
                return try attempt(over: known, purpose, isShared, command)
            } catch {
                // The server may have ended the connection since the last attempt.
                if known.isAlive { throw error }
            }
        }
        return try attempt(over: SessionLock.connect(location, command: command), purpose, isShared, command)
    }

    private func attempt(
        over connection: Connection, _ purpose: LockPurpose, _ isShared: Bool, _ command: String
    ) throws -> LockAttempt {
        let attempt = try SessionLock.attempt(over: connection, for: purpose, isShared: isShared, command: command)
        if case .held = attempt { self.connection.withLock { $0 = connection } }
        return attempt
    }
}
