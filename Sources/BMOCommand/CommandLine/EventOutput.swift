internal import ArgumentParser
internal import Foundation
internal import SystemCalls

/// The standard output of a command that runs for long: each line is written at once.
///
/// The work goes on if a line cannot be written, because the disk is full or the reader of the pipe has ended. That is said
/// once, and the exit code is 1 in the end.
final class EventOutput: Sendable {
    /// Why a line could not be written, the first time.
    private let failure = Mutex<String?>(nil)

    /// Creates the output; from now on, a write to a closed pipe fails and does not end the process.
    init() { signal(SIGPIPE, SIG_IGN) }

    /// Writes a line; may be called from any thread.
    func print(_ line: String) {
        let news = failure.withLock { known -> String? in
            guard let reason = Self.failure(writing: line + "\n"), known == nil else { return nil }
            known = reason
            return reason
        }
        if let news { Terminal.error("the output cannot be written: \(news); the command goes on without it") }
    }

    /// Ends the command with the exit code of a failure if a line could not be written.
    func check() throws {
        if failure.withLock({ $0 != nil }) { throw ExitCode(CommandFailure.failed) }
    }

    /// Writes a text, not through the buffers of stdio: they can lose a part without a word.
    private static func failure(writing text: String) -> String? {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                // Another program has made a pipe or terminal non-blocking, and it is full at this moment.
                var place = pollfd(fd: STDOUT_FILENO, events: Int16(POLLOUT), revents: 0)
                poll(&place, 1, 1000)
                continue
            }
            guard count > 0 else { return Terminal.words(ofOutputError: errno) }
            bytes = bytes.dropFirst(count)
        }
        return nil
    }
}
