#if canImport(Darwin)
private import Darwin
#elseif canImport(Musl)
private import Musl
#else
private import Glibc
#endif

/// A value that one thread uses at a time.
///
/// It has the interface of the standard library's `Mutex` (SE-0433), which needs macOS 15 and iOS 18. This one is the
/// same code on all platforms, around a mutex of POSIX. It is not recursive.
///
/// ```swift
/// let names = Mutex<Set<String>>([])
/// let isNew = names.withLock { $0.insert(name).inserted }
/// ```
package struct Mutex<Value>: ~Copyable, @unchecked Sendable {
    // Sendable because the addresses never change, and the value is accessed only while `mutex` is held.
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let value: UnsafeMutablePointer<Value>

    package init(_ initial: consuming sending Value) {
        mutex = .allocate(capacity: 1)
        pthread_mutex_init(mutex, nil)
        value = .allocate(capacity: 1)
        value.initialize(to: initial)
    }

    deinit {
        value.deinitialize(count: 1)
        value.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Calls `body` with exclusive access to the value.
    ///
    /// - Throws: What `body` throws.
    package borrowing func withLock<Result, Failure: Error>(
        _ body: (inout sending Value) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&value.pointee)
    }
}
