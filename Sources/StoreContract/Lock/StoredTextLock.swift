/// A text that all processes of a database share, while one of them has its lock.
///
/// The lock ends when it is released, when nothing refers to it any more, or when the process ends for any reason. One thread
/// at a time uses it; errors are ``StoreError``.
///
/// ```swift
/// if let lock = try provider.lockText(location, name: "rest-1") {
///     try lock.save(renewed(lock.value))
///     lock.release()
/// }
/// ```
public protocol StoredTextLock: AnyObject, Sendable {
    /// The text when the lock was taken, or as saved since; nil if there is none.
    var value: String? { get }

    /// Replaces the text; once this returns, the new one outlives a crash of the process and of the machine.
    ///
    /// Others never see a part of a text. If the lock was lost meanwhile, with its connection or by a suspension of the
    /// process, the text is replaced only if no other process has replaced it.
    ///
    /// - Throws: ``StoreError``; `busy` if another process has replaced it.
    func save(_ text: String) throws

    /// Gives the lock back; later calls do nothing.
    func release()
}

/// The time limits of texts that processes share.
public enum SharedTextLimits {
    /// How long a process waits for a lock.
    public static let wait = Duration.seconds(120)
    /// How long a suspended process can keep a lock.
    public static let hold = Duration.seconds(110)

    /// Returns the error of a lock that is not free in time.
    package static func busy(_ location: String) -> StoreError {
        StoreError(
            .busy,
            "\(location): another process has had the lock of a shared login for more than \(wait.components.seconds) s",
            remedy: "see whether a process of bmo is suspended, and try again")
    }

    /// Returns the error of a text that another process has replaced, although this process had its lock.
    package static func lost(_ location: String) -> StoreError {
        StoreError(
            .busy, "\(location): the lock of a shared login was lost, and another process has logged in meanwhile",
            remedy: "run the command again")
    }
}
