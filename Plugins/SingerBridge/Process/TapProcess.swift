internal import BridgeKit
internal import Glibc
internal import SystemCalls

/// A running tap, read line by line on one thread; any thread may end it.
final class TapProcess: @unchecked Sendable {
    // `lines`, `words`, `hasOutput`, `hasWords` and `quiet` belong to the reading thread; `started` and the descriptors
    // of the pipe never change; `state` is guarded, and its lock is held to close `waker` and to reap the process.

    /// The result of reading the tap's output.
    enum Event {
        case line([UInt8])
        /// The bytes after the last line's end: the tap may have been cut off there.
        case rest([UInt8])
        /// No new line within the given time.
        case nothing
        /// The tap closed its output.
        case end
    }

    /// How a tap ended.
    enum Exit: Equatable {
        case code(CInt)
        case signal(CInt)
    }

    private struct State {
        var isCancelled = false
        var isReaped = false
    }

    private let tap: Tap
    /// The tap's files, kept while it may read them.
    private let files: TapFiles
    private let started: TapLaunch.Started
    /// A pipe whose write end is closed to wake a waiting thread.
    private let wake: CInt
    private let waker: CInt
    private let state = Mutex(State())
    private var lines: LineBuffer
    private var words: TapStandardError
    private var hasOutput = true
    private var hasWords = true
    /// The time spent waiting since the last input, in milliseconds.
    private var quiet = 0

    /// Starts the tap.
    ///
    /// - Throws: ``BridgeError``.
    init(_ tap: Tap, files: TapFiles, launch: TapLaunch) throws {
        self.tap = tap
        self.files = files
        started = try launch.start(tap.name)
        var ends: [CInt] = [-1, -1]
        // Without this pipe, a cancellation takes effect up to a second later.
        _ = pipe(&ends)
        for end in ends where end >= 0 { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (wake, waker) = (ends[0], ends[1])
        lines = LineBuffer(limit: tap.options.maxLineLength)
        words = TapStandardError(context: tap.context, configured: tap.options.texts)
    }

    deinit {
        end()
        close(started.output)
        close(started.words)
        close(wake)
        if !state.withLock({ $0.isCancelled }) { close(waker) }
    }

    /// The last lines of the tap's standard error.
    var lastMessage: String? { words.last }

    /// Makes current and later calls of ``next(within:)`` throw, and ends the tap.
    func cancel() {
        state.withLock { state in
            guard !state.isCancelled else { return }
            state.isCancelled = true
            if !state.isReaped { _ = kill(started.pid, SIGKILL) }
            close(waker)
        }
    }

    /// Returns the next line, waiting for at most this number of milliseconds.
    ///
    /// - Throws: ``BridgeError`` if cancelled, for a line that is too long, or for a tap that has been silent for too
    ///   long.
    func next(within milliseconds: Int) throws -> Event {
        let deadline = MonotonicClock.milliseconds + milliseconds
        while true {
            if state.withLock({ $0.isCancelled }) { throw BridgeError(.cancelled, "\(tap.name) was told to stop") }
            if let line = lines.next() { return .line(line) }
            guard hasOutput else {
                if let rest = lines.rest() { return .rest(rest) }
                return .end
            }
            let left = deadline - MonotonicClock.milliseconds
            guard left > 0 else { return .nothing }
            guard quiet < tap.options.silence * 1000 else { throw tap.silence(lastMessage: lastMessage) }
            // Time spent by the importer does not count as the tap's silence.
            let start = MonotonicClock.milliseconds
            if try !poll(for: min(left, 1000)) { quiet += MonotonicClock.milliseconds - start }
        }
    }

    /// Waits for output of the tap and reads it; returns false if there was none.
    private func poll(for milliseconds: Int) throws -> Bool {
        var watched = [
            pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
            pollfd(fd: hasOutput ? started.output : -1, events: Int16(POLLIN), revents: 0),
            pollfd(fd: hasWords ? started.words : -1, events: Int16(POLLIN), revents: 0),
        ]
        guard Glibc.poll(&watched, nfds_t(watched.count), CInt(milliseconds)) > 0 else { return false }
        if watched[2].revents != 0 {
            quiet = 0
            hasWords = words.read(from: started.words)
        }
        if watched[1].revents != 0 {
            quiet = 0
            hasOutput = lines.read(from: started.output)
            if lines.isTooLong {
                throw BridgeError(
                    .limit, "\(tap.name) wrote a line of more than \(tap.options.maxLineLength >> 20) MiB",
                    remedy: "raise \"longest_line\", or have the tap leave out such large values")
            }
        }
        return true
    }

    /// Waits for the end of a tap that has closed its output; kills it after a time limit.
    func exit() throws -> Exit {
        let deadline = MonotonicClock.milliseconds + min(tap.options.silence * 1000, 30_000)
        while true {
            if let exit = reap() {
                // Read the rest of its standard error.
                while hasWords, words.read(from: started.words, isLast: true) {}
                hasWords = false
                return exit
            }
            if state.withLock({ $0.isCancelled }) { throw BridgeError(.cancelled, "\(tap.name) was told to stop") }
            guard MonotonicClock.milliseconds < deadline else {
                end()
                throw BridgeError(
                    .timeout, "\(tap.name) has closed its output but does not exit", remote: lastMessage)
            }
            if hasWords {
                _ = try poll(for: 20)
            } else {
                usleep(5000)
            }
        }
    }

    /// Ends the tap at once if it is still running.
    func end() {
        state.withLock { state in
            if !state.isReaped { _ = kill(started.pid, SIGKILL) }
        }
        _ = reap(waits: true)
    }

    private func reap(waits: Bool = false) -> Exit? {
        state.withLock { state in
            guard !state.isReaped else { return nil }
            var status: CInt = 0
            var reaped: pid_t
            repeat { reaped = waitpid(started.pid, &status, waits ? 0 : WNOHANG) } while reaped < 0 && errno == EINTR
            guard reaped == started.pid else { return nil }
            state.isReaped = true
            let signal = status & 0x7F
            return signal == 0 ? .code(status >> 8 & 0xFF) : .signal(signal)
        }
    }
}
