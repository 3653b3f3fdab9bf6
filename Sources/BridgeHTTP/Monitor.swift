internal import Glibc

/// A value that threads share, and a way to wait until it changes.
///
/// Blocks the calling thread: for a bridge's threads, never for Swift's cooperative pool.
final class Monitor<Value>: @unchecked Sendable {
    // `value` is touched only while `mutex` is held: safe to share.
    private var value: Value
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>

    init(_ value: Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        changed = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(changed, nil)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// Reads or changes the value.
    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Waits until `body` gives a result; it is asked again after each ``signal()``.
    func wait<Result>(_ body: (inout Value) throws -> Result?) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = try body(&value) { return result }
            pthread_cond_wait(changed, mutex)
        }
    }

    /// Wakes all that wait.
    func signal() { pthread_cond_broadcast(changed) }
}
