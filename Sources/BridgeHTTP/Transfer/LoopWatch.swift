internal import CCurl
internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Ends a client's connections if its I/O thread stays inside one libcurl call beyond a time limit.
///
/// libcurl 7.88 keeps reading while an HTTP/2 server sends frames without data, and returns only when none is left;
/// until then no time limit is checked. A separate thread checks instead, and shuts down the sockets, which libcurl
/// sees as their end.
final class LoopWatch: Sendable {
    /// The time limit of a call, and the option that sets it.
    struct Limit: Equatable, Sendable {
        var seconds: Double
        var option: String
    }

    private struct State {
        /// The sockets that libcurl opened, with their inodes.
        ///
        /// libcurl 7.88 closes a socket that never connected without a call of ``close(_:)``: its descriptor may be in
        /// use for something else, which the inode shows.
        var sockets: [Int32: ino_t] = [:]
        /// The limit of the running transfers; nil when none runs, so that there is nothing to check.
        var limit: Limit?
        /// When the I/O thread's current call began.
        var began: Double?
        var isOver = false
        var isStopped = false
        var thread: NativeThread?
    }

    private let state = Monitor(State())

    /// Records that the I/O thread begins a call for transfers with this limit.
    func enter(_ limit: Limit?) {
        let wakes = state.withLock { state in
            defer { state.limit = limit }
            state.began = limit == nil ? nil : MonotonicClock.seconds
            if limit != nil, state.thread == nil, !state.isStopped {
                state.thread = NativeThread(blocking: .all) { self.run() }
            }
            return state.limit == nil && limit != nil
        }
        if wakes { state.signal() }
    }

    /// Records the end of the call; returns whether its connections were ended because it exceeded the limit.
    func leave() -> Bool {
        state.withLock { state in
            defer { state.isOver = false }
            state.began = nil
            return state.isOver
        }
    }

    /// Ends the thread and waits for it.
    func stop() {
        let thread = state.withLock { state in
            state.isStopped = true
            defer { state.thread = nil }
            return state.thread
        }
        state.signal()
        thread?.join()
    }

    /// Opens and closes a handle's sockets through this watch, which must outlive the multi handle.
    func attach(to easy: UnsafeMutableRawPointer) {
        bmo_curl_set_sockets(
            easy,
            { context, _, address in
                guard let context, let address else { return CURL_SOCKET_BAD }
                let (family, kind, way) = (address.pointee.family, address.pointee.socktype, address.pointee.protocol)
                return Unmanaged<LoopWatch>.fromOpaque(context).takeUnretainedValue().open(family, kind, way)
            },
            { context, socket in
                guard let context else { return systemClose(socket) }
                return Unmanaged<LoopWatch>.fromOpaque(context).takeUnretainedValue().close(socket)
            }, Unmanaged.passUnretained(self).toOpaque())
    }

    func open(_ family: Int32, _ kind: Int32, _ way: Int32) -> Int32 {
        let descriptor = socket(family, kind | Int32(SOCK_CLOEXEC.rawValue), way)
        guard descriptor >= 0 else { return CURL_SOCKET_BAD }
        var status = stat()
        if fstat(descriptor, &status) == 0 { state.withLock { $0.sockets[descriptor] = status.st_ino } }
        return descriptor
    }

    private func close(_ descriptor: Int32) -> Int32 {
        state.withLock { state in
            state.sockets[descriptor] = nil
            return systemClose(descriptor)
        }
    }

    private func run() {
        while true {
            let pause = state.withLock { state in
                state.limit.map { min(0.5, max($0.seconds / 4, 0.01)) }
            }
            let isStopped = state.wait(seconds: pause) { state in
                // Without a limit it sleeps until one is set.
                state.isStopped ? true : pause == nil && state.limit != nil ? false : nil
            }
            if isStopped == true { return }
            state.withLock(look)
        }
    }

    private func look(_ state: inout State) {
        guard let limit = state.limit, let began = state.began, !state.isOver,
            MonotonicClock.seconds - began >= limit.seconds
        else { return }
        state.isOver = true
        for (descriptor, inode) in state.sockets { Self.shutDown(descriptor, inode) }
    }

    /// Shuts a descriptor down if it still is the socket with that inode.
    private static func shutDown(_ descriptor: Int32, _ inode: ino_t) {
        // The duplicate cannot be exchanged between the check and its use.
        let own = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)
        guard own >= 0 else { return }
        defer { systemClose(own) }
        var status = stat()
        guard fstat(own, &status) == 0, status.st_mode & S_IFMT == S_IFSOCK, status.st_ino == inode else { return }
        shutdown(own, Int32(SHUT_RDWR))
    }
}
