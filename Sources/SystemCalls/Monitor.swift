internal import Glibc

/// A value shared by threads, with a way to wait for a change.
///
/// Blocks the calling thread: for threads of a target's own, never for Swift's cooperative pool.
package final class Monitor<Value>: @unchecked Sendable {
    // Accessed only while `mutex` is held, so sharing is safe.
    private var value: Value
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>

    package init(_ value: Value) {
        self.value = value
        mutex = .allocate(capacity: 1)
        changed = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(changed, &attributes)
        pthread_condattr_destroy(&attributes)
    }

    deinit {
        pthread_cond_destroy(changed)
        pthread_mutex_destroy(mutex)
        changed.deallocate()
        mutex.deallocate()
    }

    /// Calls `body` with exclusive access to the value.
    package func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value)
    }

    /// Calls `body` with exclusive access to the value, and wakes all waiting threads.
    package func change<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        defer { signal() }
        return try withLock(body)
    }

    /// Waits until `body` returns a result; calls it again after each ``signal()``.
    package func wait<Result>(_ body: (inout Value) throws -> Result?) rethrows -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = try body(&value) { return result }
            pthread_cond_wait(changed, mutex)
        }
    }

    /// Waits until `body` returns a result, for at most `seconds` if given.
    package func wait<Result>(
        seconds: Double?, _ body: (inout Value) throws -> Result?
    ) rethrows -> Result? {
        guard let seconds else { return try wait(body) }
        var end = MonotonicClock.time(after: seconds)
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = try body(&value) { return result }
            if pthread_cond_timedwait(changed, mutex, &end) != 0 { return try body(&value) }
        }
    }

    /// Wakes all waiting threads.
    ///
    /// Waking a single one is not offered: up to glibc 2.40, a condition variable with several waiters can lose a
    /// `pthread_cond_signal` (glibc bug 25847).
    package func signal() { pthread_cond_broadcast(changed) }
}
