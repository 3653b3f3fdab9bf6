internal import BridgeHost
internal import StoreContract
internal import SystemCalls

/// The texts that a bridge shares with all processes of the workspace's database, such as its logins.
struct SharedLogins: SharedTexts {
    let stores: any StoreProvider
    let location: String
    let bridge: String

    func lock(_ name: String) throws -> any LockedText {
        try failing(bridge) {
            guard let lock = try stores.lockText(location, name: name) else {
                throw BridgeFailure(.unsupported, "the database keeps no shared logins", bridge: bridge)
            }
            return Lock(lock: lock, bridge: bridge)
        }
    }

    private final class Lock: LockedText {
        private let lock: any StoredTextLock
        private let bridge: String
        /// Held while a text is saved: the end of a bridge gives the lock back only behind a save that has begun, or the
        /// next process would log in with the text before it.
        private let isReleased = Mutex(false)

        init(lock: any StoredTextLock, bridge: String) { (self.lock, self.bridge) = (lock, bridge) }

        var value: String? { lock.value }

        func save(_ text: String) throws {
            try isReleased.withLock { isReleased in
                guard !isReleased else { throw BridgeFailure(.cancelled, "cancelled", bridge: bridge) }
                try failing(bridge) { try lock.save(text) }
            }
        }

        func release() {
            isReleased.withLock { $0 = true }
            lock.release()
        }
    }
}

/// Runs `body`, whose errors of the store become the bridge's.
private func failing<Result>(_ bridge: String, _ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch let error as StoreError {
        throw BridgeFailure(
            error.code == .busy ? .timeout : .internal, error.message, bridge: bridge, remedy: error.remedy,
            isRetryable: error.code == .busy)
    }
}
