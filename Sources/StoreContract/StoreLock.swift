internal import Dispatch

/// The exclusive right to write a database, or to send its edits.
///
/// It ends when it is released, when nothing refers to it any more, or when the process ends for any reason. Any thread
/// may release it, which throws no error.
///
/// ```swift
/// let lock = try provider.lock(location, command: "bmo sync")
/// defer { lock.release() }
/// ```
public protocol StoreLock: AnyObject, Sendable {
    /// Releases the lock; later calls do nothing.
    func release()
}

/// What a lock gives the right to; both locks of a database can be held at the same time.
public enum LockPurpose: Sendable, Equatable {
    /// To import and migrate.
    case writing
    /// To send local edits.
    case pushing
}

/// The outcome of an attempt to take a lock.
public enum LockAttempt: Sendable {
    /// The lock was free, and is held now.
    case taken(any StoreLock)
    /// Another process, or another part of this one, holds it.
    case held(by: LockHolder?)
}

extension StoreProvider {
    /// Takes the lock to write a database, without waiting.
    ///
    /// - Throws: ``StoreError``: `busy` with the holder's description if the lock is held, `open` if the database
    ///   cannot have a lock.
    public func lock(_ location: String, command: String) throws -> any StoreLock {
        switch try attemptLock(location, for: .writing, command: command) {
        case .taken(let lock): return lock
        case .held(let holder): throw StoreError.busy(location, holder, .writing)
        }
    }

    /// Takes a lock of a database, waiting if necessary.
    ///
    /// - Parameters:
    ///   - location: The database, which need not exist yet.
    ///   - purpose: What the lock gives the right to.
    ///   - command: How this process describes itself to others; no secrets.
    ///   - timeout: How long to wait.
    ///   - onWait: Called once before the wait begins, with the holder if known.
    /// - Throws: ``StoreError`` as ``lock(_:command:)``; `CancellationError` when the task is cancelled.
    public func lock(
        _ location: String, for purpose: LockPurpose = .writing, command: String, timeout: LockTimeout,
        onWait: (LockHolder?) -> Void = { _ in }
    ) async throws -> any StoreLock {
        let attempts = lockAttempts(location, for: purpose, isShared: false, command: command)
        return try await lock(
            location, for: purpose, by: attempts, every: .milliseconds(50), timeout: timeout, onWait: onWait)
    }

    /// Takes the lock that workers share, waiting while another command writes alone.
    ///
    /// - Parameter onWait: Called once before the wait begins, with the holder if known.
    /// - Throws: ``StoreError`` as ``attemptSharedLock(_:command:)``; `CancellationError` when the task is cancelled.
    package func sharedLock(
        _ location: String, command: String, onWait: (LockHolder?) -> Void
    ) async throws -> any StoreLock {
        let attempts = lockAttempts(location, for: .writing, isShared: true, command: command)
        return try await lock(
            location, for: .writing, by: attempts, every: .milliseconds(200), timeout: .unlimited, onWait: onWait)
    }

    /// Attempts to take a lock until it is taken or the time is over.
    private func lock(
        _ location: String, for purpose: LockPurpose, by attempts: @escaping @Sendable () throws -> LockAttempt,
        every interval: Duration, timeout: LockTimeout, onWait: (LockHolder?) -> Void
    ) async throws -> any StoreLock {
        let start = ContinuousClock.now
        var isWaiting = false
        // An attempt may have to connect to a server, which Swift's tasks must not wait for.
        let queue = DispatchQueue(label: "bmo.lock")
        while true {
            let holder: LockHolder?
            switch try await queue.result(of: attempts) {
            case .taken(let lock): return lock
            case .held(let current): holder = current
            }
            if timeout.isOver(after: ContinuousClock.now - start) {
                throw StoreError.busy(location, holder, purpose)
            }
            if !isWaiting { onWait(holder) }
            isWaiting = true
            // Polls, because a thread blocked in a system call could not be cancelled.
            try await Task.sleep(for: interval)
        }
    }
}

extension DispatchQueue {
    /// Makes an attempt to take a lock.
    fileprivate func result(of attempt: @escaping @Sendable () throws -> LockAttempt) async throws -> LockAttempt {
        try await withCheckedThrowingContinuation { continuation in
            async { continuation.resume(with: Result(catching: attempt)) }
        }
    }
}

extension StoreError {
    /// Creates the error for a lock that is held.
    static func busy(_ location: String, _ holder: LockHolder?, _ purpose: LockPurpose) -> StoreError {
        let holder = holder?.description ?? "another process"
        return switch purpose {
        case .writing:
            StoreError(
                .busy, "\(location) is being written by \(holder)",
                remedy: "wait until it ends, or use --wait")
        case .pushing:
            StoreError(
                .busy, "the edits of \(location) are being sent by \(holder)",
                remedy: "it sends yours too; `bmo outbox` shows the waiting edits")
        }
    }
}
