#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A POSIX thread, for calls that block: they must not run on Swift's cooperative pool.
///
/// Its signal mask is in effect from its first instruction, because it is inherited from the thread that starts it.
package struct NativeThread: Sendable {
    /// The signals that the thread blocks besides those of the thread that starts it.
    package enum BlockedSignals: Sendable {
        /// SIGPIPE, so that a write to a closed socket fails with EPIPE and does not end the process.
        case pipe
        /// All, because the program handles them on other threads.
        case all
    }

    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    #if canImport(Darwin)
    // A pointer that only pthread_join reads.
    private nonisolated(unsafe) let thread: pthread_t
    #else
    private let thread: pthread_t
    #endif

    /// Starts a thread, which must be joined; returns nil if the system cannot create one.
    package init?(blocking signals: BlockedSignals = .pipe, _ run: @escaping @Sendable () -> Void) {
        guard let thread = Self.create(PTHREAD_CREATE_JOINABLE, signals, run) else { return nil }
        self.thread = thread
    }

    /// Waits for the end of the thread; call it once.
    package func join() { pthread_join(thread, nil) }

    /// Starts a thread that is not joined; returns false if the system cannot create one.
    package static func detach(
        blocking signals: BlockedSignals = .pipe, _ run: @escaping @Sendable () -> Void
    ) -> Bool {
        create(PTHREAD_CREATE_DETACHED, signals, run) != nil
    }

    private static func create(
        _ state: some BinaryInteger, _ signals: BlockedSignals, _ run: @escaping @Sendable () -> Void
    ) -> pthread_t? {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, CInt(state))
        var mask = signals.mask
        var before = sigset_t()
        pthread_sigmask(SIG_BLOCK, &mask, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let body = Unmanaged.passRetained(Body(run))
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        let code = pthread_create(
            &thread, &attributes,
            { argument in
                Self.run(argument)
                return nil
            }, body.toOpaque())
        if code != 0 { body.release() }
        return code == 0 ? thread : nil
    }

    /// Runs the body behind the argument of a thread's first function, which is optional on Linux alone.
    private static func run(_ argument: UnsafeMutableRawPointer?) {
        if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
    }
}

extension NativeThread.BlockedSignals {
    fileprivate var mask: sigset_t {
        var mask = sigset_t()
        switch self {
        case .pipe:
            sigemptyset(&mask)
            sigaddset(&mask, SIGPIPE)
        case .all: sigfillset(&mask)
        }
        return mask
    }
}
