import BridgeKit
import CSMBClient
import Glibc
import RecordBatch

/// A watch on an entity's files: it returns no records, but a page after each change.
///
/// A separate thread waits in libsmbclient while the watch is open, so that no change is lost between two pages; the
/// process can make no other call meanwhile.
final class ShareWatch: RecordSource {
    private let mailbox: Mailbox
    private let milliseconds: Int
    private let share: SMBConnection

    /// Begins to watch.
    ///
    /// - Throws: ``BridgeError/Code/unsupported`` if the server does not report changes.
    init(_ share: SMBConnection, patterns: PatternSet, milliseconds: Int) throws {
        self.share = share
        self.milliseconds = milliseconds
        mailbox = Mailbox(share, patterns)
        guard mailbox.start() else { throw BridgeError(.internal, "the system has no thread to give") }
        let limit = Double(share.options.timeoutSeconds * 2 + 5)
        guard mailbox.wait(seconds: limit, until: { $0.isWatching || $0.failure != nil || $0.isStopped }) else {
            mailbox.stop()
            throw BridgeError(
                .timeout, "the server does not answer the wish to be told of changes",
                location: share.url.location(patterns.root), isRetryable: true)
        }
        if let failure = mailbox.failure { throw share.explain(failure) }
    }

    deinit { mailbox.stop() }

    func cancel() { mailbox.stop() }

    func next(into writer: RecordBatchWriter) throws -> Page {
        let isOver = mailbox.wait(seconds: Double(milliseconds) / 1000) {
            $0.hasChanged || $0.failure != nil || $0.isStopped
        }
        guard isOver else { return .noChange() }
        if mailbox.takeChange() { return .change() }
        if let failure = mailbox.failure { throw share.explain(failure) }
        throw BridgeError(.cancelled, "the watch was stopped", location: share.url.location([]))
    }

    /// The state shared by the watching thread and the waiting one.
    private final class Mailbox: SMBConnection.ChangeListener, @unchecked Sendable {
        // `mutex` guards `state`.
        struct State {
            var isWatching = false
            var hasChanged = false
            var isStopped = false
            var failure: SMBFailure?
        }

        private var state = State()
        private let share: SMBConnection
        private let patterns: PatternSet
        private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)

        init(_ share: SMBConnection, _ patterns: PatternSet) {
            self.share = share
            self.patterns = patterns
            pthread_mutex_init(mutex, nil)
            var attributes = pthread_condattr_t()
            pthread_condattr_init(&attributes)
            pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
            pthread_cond_init(condition, &attributes)
            pthread_condattr_destroy(&attributes)
        }

        deinit {
            pthread_cond_destroy(condition)
            pthread_mutex_destroy(mutex)
            condition.deallocate()
            mutex.deallocate()
        }

        var failure: SMBFailure? { locked { $0.failure } }

        func stop() { locked { $0.isStopped = true } }

        func takeChange() -> Bool {
            locked { state in
                defer { state.hasChanged = false }
                return state.hasChanged && !state.isStopped
            }
        }

        /// Waits for a condition; returns whether it held in time.
        func wait(seconds: Double, until isDone: (State) -> Bool) -> Bool {
            var limit = timespec()
            clock_gettime(CLOCK_MONOTONIC, &limit)
            let nanoseconds = Int(seconds * 1e9) + limit.tv_nsec
            limit.tv_sec += nanoseconds / 1_000_000_000
            limit.tv_nsec = nanoseconds % 1_000_000_000
            pthread_mutex_lock(mutex)
            defer { pthread_mutex_unlock(mutex) }
            while !isDone(state) {
                if pthread_cond_timedwait(condition, mutex, &limit) == ETIMEDOUT { return isDone(state) }
            }
            return true
        }

        private func locked<Value>(_ body: (inout State) -> Value) -> Value {
            pthread_mutex_lock(mutex)
            defer {
                pthread_cond_broadcast(condition)
                pthread_mutex_unlock(mutex)
            }
            return body(&state)
        }

        func start() -> Bool {
            let owner = Unmanaged.passRetained(self)
            var attributes = pthread_attr_t()
            pthread_attr_init(&attributes)
            defer { pthread_attr_destroy(&attributes) }
            pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
            var thread: pthread_t = 0
            let failed = pthread_create(
                &thread, &attributes,
                { argument in
                    if let argument { Unmanaged<Mailbox>.fromOpaque(argument).takeRetainedValue().run() }
                    return nil
                }, owner.toOpaque())
            if failed != 0 { owner.release() }
            return failed == 0
        }

        private func run() {
            var restarts = 0
            while !locked({ $0.isStopped }) {
                do throws(SMBFailure) {
                    try share.watch(
                        share.url.folder + patterns.root, recursive: patterns.depth > 0, telling: self)
                } catch {
                    // The server's buffer overflowed, or the folder itself is gone: that is a change, too.
                    restarts += 1
                    let isOver = locked { state in
                        if state.isWatching, error.isOfFile, restarts < 10 {
                            state.hasChanged = true
                            return false
                        }
                        state.failure = error
                        return true
                    }
                    if isOver { return }
                }
            }
        }

        func changed(_ paths: [String]) -> Bool {
            let isOurs = paths.contains { path in
                patterns.concerns(patterns.root + path.split(separator: "\\").map(String.init))
            }
            return locked { state in
                state.isWatching = true
                if isOurs { state.hasChanged = true }
                return !state.isStopped
            }
        }
    }
}
