#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

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
        #if !canImport(Darwin)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        #endif
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
        let end = MonotonicClock.seconds + seconds
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while true {
            if let result = try body(&value) { return result }
            guard wait(until: end) else { return try body(&value) }
        }
    }

    /// Waits for a signal with the lock held, until a time of ``MonotonicClock/seconds``; returns false at that time.
    private func wait(until end: Double) -> Bool {
        #if canImport(Darwin)
        // Darwin's conditions know the system's clock alone, which may be set, or a relative time.
        let left = max(0, end - MonotonicClock.seconds)
        var time = timespec(tv_sec: Int(left), tv_nsec: Int((left - left.rounded(.down)) * 1e9))
        return pthread_cond_timedwait_relative_np(changed, mutex, &time) == 0
        #else
        var time = timespec(tv_sec: Int(end), tv_nsec: Int((end - end.rounded(.down)) * 1e9))
        return pthread_cond_timedwait(changed, mutex, &time) == 0
        #endif
    }

    /// Wakes all waiting threads.
    ///
    /// Waking a single one is not offered: up to glibc 2.40, a condition variable with several waiters can lose a
    /// `pthread_cond_signal` (glibc bug 25847).
    package func signal() { pthread_cond_broadcast(changed) }
}
