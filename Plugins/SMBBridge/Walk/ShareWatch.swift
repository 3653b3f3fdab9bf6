import BridgeKit
import CSMBClient
import RecordBatch
import SystemCalls

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
        guard mailbox.start() else { throw BridgeError(.internal, "cannot start a thread") }
        let limit = Double(share.options.timeoutSeconds * 2 + 5)
        guard mailbox.waitForStart(seconds: limit) else {
            mailbox.stop()
            throw BridgeError(
                .timeout, "the server does not answer the request for change notifications",
                location: share.url.location(patterns.root), isRetryable: true)
        }
        if let failure = mailbox.failure { throw share.explain(failure) }
    }

    deinit { mailbox.stop() }

    func cancel() { mailbox.stop() }

    func next(into writer: RecordBatchWriter) throws -> Page {
        guard mailbox.waitForChange(seconds: Double(milliseconds) / 1000) else { return .noChange() }
        if mailbox.takeChange() { return .change() }
        if let failure = mailbox.failure { throw share.explain(failure) }
        throw BridgeError(.cancelled, "the watch was stopped", location: share.url.location([]))
    }

    /// The state shared by the watching thread and the waiting one.
    private final class Mailbox: SMBConnection.ChangeListener, Sendable {
        private struct State {
            var isWatching = false
            var hasChanged = false
            var isStopped = false
            var failure: SMBFailure?
            /// The number of restarts since the server last reported a change.
            var restarts = 0
            /// Whether the watch was interrupted, so that changes may have passed unseen.
            var isBlind = false
        }

        /// The most restarts in a row, without a report between them.
        private static let maxRestarts = 10
        /// The seconds between the end of a watch and the next one.
        private static let pause = 0.1

        private let state = Monitor(State())
        private let share: SMBConnection
        private let patterns: PatternSet

        init(_ share: SMBConnection, _ patterns: PatternSet) {
            self.share = share
            self.patterns = patterns
        }

        var failure: SMBFailure? { state.withLock { $0.failure } }

        func stop() { state.change { $0.isStopped = true } }

        func takeChange() -> Bool {
            state.withLock { state in
                defer { state.hasChanged = false }
                return state.hasChanged && !state.isStopped
            }
        }

        /// Waits until the watch runs or has failed; returns false if it did neither in time.
        func waitForStart(seconds: Double) -> Bool {
            wait(seconds) { $0.isWatching }
        }

        /// Waits for a change or for the end of the watch; returns false if neither came in time.
        func waitForChange(seconds: Double) -> Bool {
            wait(seconds) { $0.hasChanged }
        }

        private func wait(_ seconds: Double, until isDone: (State) -> Bool) -> Bool {
            state.wait(seconds: seconds) { state in
                isDone(state) || state.failure != nil || state.isStopped ? true : nil
            } ?? false
        }

        func start() -> Bool { NativeThread.detach { self.run() } }

        private func run() {
            while !state.withLock({ $0.isStopped }) {
                do throws(SMBFailure) {
                    try share.watch(
                        share.url.folder + patterns.root, recursive: patterns.depth > 0, telling: self)
                } catch {
                    // The server's buffer overflowed, or the folder itself is gone: that is a change, too.
                    let isOver = state.change { state in
                        state.restarts += 1
                        if state.isWatching, error.isOfFile || error.isOverflow, state.restarts < Self.maxRestarts {
                            state.hasChanged = true
                            state.isBlind = true
                            return false
                        }
                        state.failure = error
                        return true
                    }
                    if isOver || wait(Self.pause, until: \.isStopped) { return }
                }
            }
        }

        func changed(_ paths: [String]) -> Bool {
            let isOurs = paths.contains { path in
                patterns.concerns(patterns.root + path.split(separator: "\\").map(String.init))
            }
            return state.change { state in
                state.isWatching = true
                if !paths.isEmpty { state.restarts = 0 }
                if isOurs || state.isBlind { state.hasChanged = true }
                state.isBlind = false
                return !state.isStopped
            }
        }
    }
}
