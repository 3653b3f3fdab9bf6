internal import SystemCalls

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
            if !NativeThread.detach({ queue.runUntilStopped() }) { queue.runQueued() }
        }
    }

    /// Ends the thread after the queued jobs.
    func stop() { queue.stop() }

    deinit { queue.stop() }
}

/// A queue of jobs for one thread.
private final class JobQueue: Sendable {
    private struct State {
        var jobs: [@Sendable () -> Void] = []
        var isRunning = false
        var isStopped = false

        /// Takes the next job; nil to end the thread, and a later job starts a new thread.
        mutating func takeJob() -> (@Sendable () -> Void)? {
            guard jobs.isEmpty else { return jobs.removeFirst() }
            isRunning = false
            return nil
        }
    }

    private let state = Monitor(State())

    /// Adds a job; returns true if a thread must be started for it.
    func push(_ job: @escaping @Sendable () -> Void) -> Bool {
        state.change { state in
            state.jobs.append(job)
            defer { state.isRunning = true }
            return !state.isRunning
        }
    }

    func stop() { state.change { $0.isStopped = true } }

    func runUntilStopped() {
        // Two optionals: the outer one is nil as long as there is nothing to do.
        while let job = state.wait({ state -> (@Sendable () -> Void)?? in
            state.jobs.isEmpty && !state.isStopped ? nil : .some(state.takeJob())
        }) { job() }
    }

    /// Runs the queued jobs on the calling thread.
    func runQueued() {
        while let job = state.withLock({ $0.takeJob() }) { job() }
    }
}
