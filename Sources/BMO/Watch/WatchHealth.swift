internal import RecordBatch
internal import StoreContract
internal import SystemCalls

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// The state of a watch as a JSON file for monitors, which is replaced atomically.
final class WatchHealth: Sendable {
    /// The content of the file.
    struct State: Sendable {
        var state = "waiting"
        var since = Clock.now()
        var rounds = 0
        var failures = 0
        var lastSync: (at: String, outcome: String)?
        var lastPush: (at: String, sent: Int, left: Int)?
        var outbox = 0
        var error: String?
        /// The last event that a person should know of, other than a failure.
        var notice: (at: String, words: String)?
    }

    private let path: String?
    private let state = Mutex(State())
    private let isStopped = Mutex(false)
    private static let stopped = "stopped"

    init(path: String?) { self.path = path }

    var now: State { state.withLock { $0 } }

    /// Changes the state, and writes the file.
    ///
    /// - Returns: Why the file cannot be written; nil on success.
    @discardableResult
    func note(_ change: (inout State) -> Void) -> String? {
        // Written within the lock, so that the file never returns to an older state.
        state.withLock { state in
            let before = state.state
            change(&state)
            if isStopped.withLock({ $0 }) { state.state = Self.stopped }
            if state.state != before { state.since = Clock.now() }
            return write(state)
        }
    }

    /// Reports at once that the watch stops, even while work is in progress.
    func stop() {
        isStopped.withLock { $0 = true }
        note { _ in }
    }

    private func write(_ state: State) -> String? {
        guard let path else { return nil }
        let text =
            RecordBatchWriter.json { writer in
                writer.member("state", state.state)
                writer.member("since", state.since)
                writer.member("written", Clock.now())
                writer.member("rounds", state.rounds)
                writer.member("failures_in_a_row", state.failures)
                func event(_ name: String, at time: String?, _ details: () -> Void) {
                    writer.key(name)
                    guard let time else { return writer.null() }
                    writer.object {
                        writer.member("at", time)
                        details()
                    }
                }
                event("last_sync", at: state.lastSync?.at) { writer.member("outcome", state.lastSync?.outcome) }
                event("last_push", at: state.lastPush?.at) {
                    writer.member("sent", state.lastPush?.sent)
                    writer.member("left", state.lastPush?.left)
                }
                writer.member("outbox", state.outbox)
                writer.member("error", state.error)
                event("notice", at: state.notice?.at) { writer.member("message", state.notice?.words) }
                writer.member("pid", Int(getpid()))
            } + "\n"
        do {
            try AtomicFile.write(Array(text.utf8), to: path, mode: 0o666)
            return nil
        } catch {
            return "the health file \(path) cannot be written: \(error.words)"
        }
    }
}
