import CSMBClient
import Glibc
import SystemCalls

/// Ends calls of libsmbclient that do not return.
///
/// libsmbclient's own timeout applies per packet and is repeated up to four times, and some waits have none. A thread
/// checks four times a second. If a call exceeds its deadline, it shuts down the process's connections to the server's
/// port, so that the call fails at once. libsmbclient still owns the sockets, and closes them itself.
final class CallDeadline: Sendable {
    private let port: UInt16
    private let limitNanoseconds: UInt64
    private let state = Mutex(State())

    private struct State {
        /// The deadline of the running call, on the monotonic clock; nil while none runs.
        var deadline: UInt64?
        var isOver = false
        var isWatching = false
    }

    /// - Parameter seconds: The time limit of one call.
    init(port: UInt16, seconds: Int) {
        self.port = port
        limitNanoseconds = UInt64(seconds) * 1_000_000_000
    }

    /// Starts the deadline of a call, or extends it when a long call makes progress.
    func begin() {
        let mustStart = state.withLock { state in
            state.deadline = MonotonicClock.nanoseconds + limitNanoseconds
            state.isOver = false
            defer { state.isWatching = true }
            return !state.isWatching
        }
        // Without a thread, only the library's own timeout applies.
        if mustStart { _ = NativeThread.detach { self.run() } }
    }

    /// Ends the deadline of a call; returns whether the call was cut off.
    func end() -> Bool {
        state.withLock { state in
            state.deadline = nil
            return state.isOver
        }
    }

    /// Ends after two idle seconds, so that an unused bridge costs nothing.
    private func run() {
        var idle = 0
        while true {
            usleep(250_000)
            let (isLate, isDone) = state.withLock { state -> (Bool, Bool) in
                guard let deadline = state.deadline else {
                    idle += 1
                    if idle >= 8 { state.isWatching = false }
                    return (false, idle >= 8)
                }
                idle = 0
                guard MonotonicClock.nanoseconds > deadline else { return (false, false) }
                state.isOver = true
                return (true, false)
            }
            if isLate { shutConnections() }
            if isDone { return }
        }
    }

    /// Shuts down the connections to the server's port; a new connection of the same call is shut down at the next
    /// check.
    private func shutConnections() {
        for descriptor in Int32(3)..<1024 {
            var address = sockaddr_storage()
            var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let peer = withUnsafeMutablePointer(to: &address) { storage -> UInt16? in
                storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { plain in
                    guard getpeername(descriptor, plain, &size) == 0 else { return nil }
                    switch Int32(plain.pointee.sa_family) {
                    case AF_INET:
                        return plain.withMemoryRebound(to: sockaddr_in.self, capacity: 1) {
                            UInt16(bigEndian: $0.pointee.sin_port)
                        }
                    case AF_INET6:
                        return plain.withMemoryRebound(to: sockaddr_in6.self, capacity: 1) {
                            UInt16(bigEndian: $0.pointee.sin6_port)
                        }
                    default: return nil
                    }
                }
            }
            if peer == port { shutdown(descriptor, Int32(SHUT_RDWR)) }
        }
    }
}
