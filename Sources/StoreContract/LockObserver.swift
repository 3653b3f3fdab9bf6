/// A store that says who has a lock of its database, over a connection that it already has.
///
/// A store of a database whose locks cost no connection need not be one.
///
/// ```swift
/// let holder = try (store as? any LockObserver)?.lockHolder(for: .writing)
/// ```
///
/// The call blocks, and comes from the thread that reads the store. Errors are ``StoreError``.
public protocol LockObserver {
    /// Returns the holder of a lock; nil if the lock is free.
    ///
    /// - Throws: ``StoreError`` if the database cannot be asked, which ``StoreProvider/lockHolder(of:for:)`` does not
    ///   tell from a free lock.
    func lockHolder(for purpose: LockPurpose) throws -> LockHolder?
}
