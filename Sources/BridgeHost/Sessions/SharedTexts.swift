/// Texts that bridges keep for all processes of a database, such as refresh tokens that are replaced with each use.
///
/// Calls block, and come from any thread but those of Swift's cooperative pool.
public protocol SharedTexts: Sendable {
    /// Waits for the lock of a text, and takes it.
    ///
    /// - Throws: ``BridgeFailure`` if the lock is not free in time, or the texts cannot be reached.
    func lock(_ name: String) throws -> any LockedText
}

/// A text whose lock this process has until the object is released, or ``release()`` is called.
public protocol LockedText: AnyObject, Sendable {
    /// The text; nil if none has been saved.
    var value: String? { get }

    /// Replaces the text; once this returns, the new one outlives a crash.
    ///
    /// - Throws: ``BridgeFailure`` if it cannot be saved, or another process has replaced it because the lock was lost.
    func save(_ text: String) throws

    /// Gives the lock back; later calls do nothing.
    func release()
}
