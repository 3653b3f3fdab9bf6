import Glibc
import Synchronization
import SystemCalls
import Testing

@Suite struct NativeThreadTests {
    private final class Seen: Sendable {
        let blocked = Mutex<[CInt]>([])
    }

    /// Returns which of a few signals a thread blocks.
    private static func blockedSignals(_ signals: NativeThread.BlockedSignals) throws -> [CInt] {
        let seen = Seen()
        let thread = try #require(
            NativeThread(blocking: signals) {
                var mask = sigset_t()
                pthread_sigmask(SIG_BLOCK, nil, &mask)
                let blocked = [SIGPIPE, SIGTERM, SIGUSR1].filter { sigismember(&mask, $0) == 1 }
                seen.blocked.withLock { $0 = blocked }
            })
        thread.join()
        return seen.blocked.withLock { $0 }
    }

    @Test func `join waits for the end of the thread`() throws {
        let count = Mutex(0)
        let box = Monitor(false)
        let thread = try #require(
            NativeThread {
                _ = box.wait { $0 ? true : nil }
                box.withLock { $0 = false }
            })
        count.withLock { $0 += 1 }
        box.change { $0 = true }
        thread.join()
        #expect(!box.withLock { $0 })
        #expect(count.withLock { $0 } == 1)
    }

    @Test func `a thread blocks the signals that it should, and its starter none of them`() throws {
        var before = sigset_t()
        var after = sigset_t()
        pthread_sigmask(SIG_BLOCK, nil, &before)
        #expect(try Self.blockedSignals(.pipe).contains(SIGPIPE))
        #expect(try Self.blockedSignals(.all) == [SIGPIPE, SIGTERM, SIGUSR1])
        pthread_sigmask(SIG_BLOCK, nil, &after)
        for signal in 1..<SIGSYS { #expect(sigismember(&before, signal) == sigismember(&after, signal)) }
    }

    @Test func `a detached thread runs`() {
        let isDone = Monitor(false)
        #expect(NativeThread.detach { isDone.change { $0 = true } })
        #expect(isDone.wait(seconds: 20) { $0 ? true : nil } == true)
    }
}
