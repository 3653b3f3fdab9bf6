internal import CBridge
internal import Glibc

/// A thread that runs blocking jobs one after the other; it starts with the first job.
///
/// SIGPIPE is blocked on it, so that a bridge that writes to a closed socket gets EPIPE and does not end the host.
final class Worker: Sendable {
    private let queue = JobQueue()

    /// Queues `job`.
    func run(_ job: @escaping @Sendable () -> Void) {
        if queue.push(job) {
            let queue = queue
            // If no thread can be started, run the job here.
            if !NativeThread.start({ queue.runUntilStopped() }) { queue.runWhatIsThere() }
        }
    }

    /// Ends the thread after the queued jobs.
    func stop() { queue.stop() }

    deinit { queue.stop() }
}

/// Starts POSIX threads.
enum NativeThread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts a detached thread; returns false if the system cannot create one.
    static func start(_ run: @escaping @Sendable () -> Void) -> Bool {
        let body = Unmanaged.passRetained(Body(run))
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        var thread: pthread_t = 0
        let failed = pthread_create(
            &thread, &attributes,
            { argument in
                var signals = sigset_t()
                sigemptyset(&signals)
                sigaddset(&signals, SIGPIPE)
                pthread_sigmask(SIG_BLOCK, &signals, nil)
                if let argument { Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run() }
                return nil
            }, body.toOpaque())
        if failed != 0 { body.release() }
        return failed == 0
    }
}

/// A queue of jobs for one thread.
///
/// Every stored property is accessed with `mutex` held.
private final class JobQueue: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var jobs: [@Sendable () -> Void] = []
    private var isRunning = false
    private var isStopped = false

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Adds a job; returns true if a thread must be started for it.
    func push(_ job: @escaping @Sendable () -> Void) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        jobs.append(job)
        pthread_cond_signal(condition)
        if isRunning { return false }
        isRunning = true
        return true
    }

    func stop() {
        pthread_mutex_lock(mutex)
        isStopped = true
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    func runUntilStopped() {
        while let job = next(waiting: true) { job() }
    }

    func runWhatIsThere() {
        while let job = next(waiting: false) { job() }
    }

    /// Returns the next job, or nil to end the thread; a later job starts a new thread.
    private func next(waiting: Bool) -> (@Sendable () -> Void)? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while jobs.isEmpty {
            if isStopped || !waiting {
                isRunning = false
                return nil
            }
            pthread_cond_wait(condition, mutex)
        }
        return jobs.removeFirst()
    }
}
