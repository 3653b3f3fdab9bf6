import BridgeTestSupport
import Testing
import TestSupport

@testable import BridgeHost

@Suite struct RetryPolicyTests {
    private let policy = RetryPolicy()

    private func failure(retryAfter: Duration? = nil, isRetryable: Bool = true) -> BridgeFailure {
        BridgeFailure(.remote, "busy", bridge: "b", isRetryable: isRetryable, retryAfter: retryAfter)
    }

    @Test func `pauses double and are jittered between half and whole`() {
        let whole = (1...3).map { policy.delay(afterFailures: $0, of: failure(), random: 1) }
        #expect(whole == [.milliseconds(500), .seconds(1), .seconds(2)])
        #expect(policy.delay(afterFailures: 1, of: failure(), random: 0) == .milliseconds(250))
    }

    @Test func `an abandoned request reports the tries and the pause that the remote asks for`() {
        #expect(policy.told(failure(), tries: 4).message == "busy (tried 4 times)")
        #expect(
            policy.told(failure(retryAfter: .seconds(600)), tries: 1).message
                == "busy; it requests a pause of 600 s, longer than the 120 s that bmo waits")
        #expect(
            policy.told(failure(retryAfter: BridgeFailure.never), tries: 1).message
                == "busy; it requests a pause of a century or more, longer than the 120 s that bmo waits")
        #expect(
            policy.told(failure(retryAfter: .seconds(5)), tries: 4).message
                == "busy (tried 4 times); it requests a pause of 5 s")
        #expect(policy.told(failure(isRetryable: false), tries: 1).message == "busy")
        #expect(
            policy.told(failure(), tries: 3, isOutOfTime: true).message
                == "busy (tried 3 times); retry_for allows 120 s for all tries")
    }

    @Test func `the fourth failure is the last`() {
        #expect(policy.delay(afterFailures: 4, of: failure(), random: 0) == nil)
    }

    @Test func `pauses do not grow beyond the maximum`() {
        var patient = policy
        patient.tries = 1000
        #expect(patient.delay(afterFailures: 999, of: failure(), random: 1) == .seconds(30))
    }

    @Test func `a terminal failure is not tried again`() {
        #expect(policy.delay(afterFailures: 1, of: failure(isRetryable: false), random: 0) == nil)
    }

    @Test func `the remotes wish is honoured up to two minutes`() {
        #expect(policy.delay(afterFailures: 1, of: failure(retryAfter: .seconds(120)), random: 0) == .seconds(120))
        #expect(policy.delay(afterFailures: 1, of: failure(retryAfter: .seconds(121)), random: 0) == nil)
        #expect(
            policy.delay(afterFailures: 3, of: failure(retryAfter: .milliseconds(1)), random: 1) == .seconds(2))
    }
}

@Suite struct RetryClockTests {
    private func failure(_ code: BridgeFailure.Code, retryAfter: Duration? = nil) -> BridgeFailure {
        BridgeFailure(code, "busy", bridge: "b", isRetryable: true, retryAfter: retryAfter)
    }

    /// How many tries there are, and when the last one ends, of a remote where each takes `length`.
    private func tries(_ code: BridgeFailure.Code, length: Duration, retryAfter: Duration? = nil) -> (Int, Duration) {
        var clock = RetryClock()
        var (now, count) = (Duration.seconds(1000), 0)
        while count < 50 {
            now += length
            count += 1
            let isOver = clock.isOver(
                now: now, lastTry: length, pause: .seconds(1), after: failure(code, retryAfter: retryAfter),
                patience: .seconds(120))
            if isOver { break }
            now += .seconds(1)
        }
        return (count, now - .seconds(1000))
    }

    @Test func `all tries of a silent remote take no more than allowed`() {
        let slow = tries(.timeout, length: .seconds(30))
        #expect(slow.0 == 3 && slow.1 == .seconds(92))
        let quick = tries(.timeout, length: .seconds(10))
        #expect(quick.0 == 11 && quick.1 == .seconds(120))
        #expect(tries(.timeout, length: .seconds(60)).0 == 1)
    }

    @Test func `the time before a break does not count against the retries`() {
        #expect(tries(.malformed, length: .seconds(600)).0 == 2, "a long page that breaks is tried again, once")
        #expect(tries(.unreachable, length: .milliseconds(10)).0 > 40)
        #expect(tries(.rateLimited, length: .seconds(1), retryAfter: .seconds(100)).0 == 50, "the remote asked for it")
    }
}

@Suite struct RecordStreamRetryTests {
    @Test func `a failure between pages is tried again from the cursor unseen`() async throws {
        let connection = try await CountingHost().connect(.childProcess, options: ["count": 20])
        let stream = try await connection.fetch(try request(["fail_at": 8, "fail_times": 3]))
        #expect(try await ids(stream) == Array(0..<20))
        await connection.close()
    }

    @Test func `a failure before the first page is tried again from the start`() async throws {
        let connection = try await CountingHost().connect(.inProcess)
        #expect(try await ids(connection.fetch(try request(["fail_at": 2, "fail_times": 2]))) == Array(0..<10))
        await connection.close()
    }

    @Test func `a fetch that cannot be opened at once is tried again`() async throws {
        let connection = try await CountingHost().connect(.inProcess)
        #expect(try await ids(connection.fetch(try request(["fail_open": 3]))) == Array(0..<10))
        await connection.close()
    }

    @Test func `after four tries the failure is the callers`() async throws {
        let connection = try await CountingHost().connect(.inProcess)
        let stream = try await connection.fetch(try request(["fail_at": 2, "fail_times": 4]))
        let failure = try await failure { _ = try await stream.next() }
        #expect(failure.code == .unreachable)
        #expect(failure.breaksPage == false)
        let again = try await BridgeHostTests.failure { _ = try await stream.next() }
        #expect(again == failure)
        await stream.close()
        await connection.close()
    }

    @Test func `a request may have a patience of its own`() async throws {
        let connection = try await CountingHost().connect(.inProcess)
        var hasty = try request(["fail_at": 2, "fail_times": 4])
        hasty.patience = .zero
        let stream = try await connection.fetch(hasty)
        let failure = try await failure { _ = try await stream.next() }
        #expect(failure.message.hasSuffix("; retry_for allows 0 s for all tries"), "\(failure)")
        await stream.close()
        await connection.close()
    }

    @Test func `a failure inside a page is shown and a reopened stream delivers the page again`() async throws {
        let connection = try await CountingHost().connect(.childProcess, options: ["count": 20])
        let stream = try await connection.fetch(try request(["fail_at": 14]))
        var committed: [Int64] = []
        var open: [Int64] = []
        var failures = 0
        while true {
            do {
                guard let batch = try await stream.next() else { break }
                open += batch.ids
                if batch.page.pageEnd {
                    committed += open
                    open = []
                }
            } catch {
                #expect(error.breaksPage)
                #expect(open == [8, 9, 10, 11])
                open = []
                failures += 1
                try await stream.reopen()
            }
        }
        #expect(failures == 1)
        #expect(committed == Array(0..<20))
        await stream.close()
        await connection.close()
    }

    @Test func `without resume a failure after a page is the callers`() async throws {
        let host = try CountingHost(["COUNTING_CAPABILITIES=\"fetch\""])
        let connection = try await host.connect(.inProcess, options: ["count": 20])
        let stream = try await connection.fetch(try request(["fail_at": 9]))
        let failure = try await failure { _ = try await ids(stream) }
        #expect(failure.code == .unreachable)
        #expect(failure.breaksPage == false)
        await stream.close()
        await connection.close()
    }

    @Test func `the pause before a retry ends with the task`() async throws {
        let connection = try await CountingHost { $0.retries.base = .seconds(30) }.connect(.inProcess)
        let stream = try await connection.fetch(try request(["fail_at": 0]))
        let task = Task { try await stream.next() }
        let start = ContinuousClock.now
        task.cancel()
        let failure = try await failure { _ = try await task.value }
        #expect(failure.code == .cancelled)
        #expect(ContinuousClock.now - start < .seconds(20))
        await stream.close()
        await connection.close()
    }
}
