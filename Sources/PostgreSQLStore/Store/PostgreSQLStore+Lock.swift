internal import StoreContract

extension PostgreSQLStore: LockObserver {
    /// Returns the holder of a lock, over a connection for reading.
    func lockHolder(for purpose: LockPurpose) throws -> LockHolder? {
        try read { try SessionLock.holder(of: purpose, over: $0.connection) }
    }
}
