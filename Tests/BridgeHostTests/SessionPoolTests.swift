import RecordBatch
import Synchronization
import Testing

@testable import BridgeHost

/// What a pool keeps of the sessions that are out of use.
@Suite struct SessionPoolTests {
    private static func pool(_ made: Made) -> SessionPool {
        SessionPool(bridge: "b", fetchesPerSession: 1, most: 2) { made.make() }
    }

    /// A session whose call hangs.
    private static func loseOne(of pool: SessionPool) async throws {
        let lease = try await pool.lease()
        pool.abandon(lease)
        pool.release(lease)
    }

    @Test func `a session is kept until its process is gone and no longer`() async throws {
        let made = Made()
        let pool = Self.pool(made)
        for count in 1...20 {
            try await Self.loseOne(of: pool)
            #expect(made.alive == 1, "the process of session \(count) is not gone")
            made.endAll()
            await made.untilNoneIsAlive()
        }
        #expect(made.count == 20)
        await pool.close(grace: .zero)
    }

    @Test func `a fetch that hangs does not take along another of its session`() async throws {
        let made = Made()
        let pool = SessionPool(bridge: "b", fetchesPerSession: .max, most: 1) { made.make() }
        let hanging = try await pool.lease()
        let other = try await pool.lease()
        #expect(hanging.session === other.session)
        pool.abandon(hanging)
        #expect(other.session.isUsable, "the other fetch still needs it")
        pool.release(hanging)
        #expect(other.session.isUsable)
        pool.abandon(hanging)
        #expect(other.session.isUsable, "a lease that was given back ends nothing")
        pool.release(other)
        #expect(!other.session.isUsable)
        made.endAll()
        await pool.close(grace: .zero)
    }

    @Test func `a call that hangs does not take along a fetch of its session`() async throws {
        let made = Made()
        let pool = SessionPool(bridge: "b", fetchesPerSession: 1, most: 1) { made.make() }
        let lease = try await pool.lease()
        let session = try await pool.session()
        #expect(session === lease.session)
        pool.abandon(session)
        #expect(lease.session.isUsable)
        pool.release(lease)
        #expect(!lease.session.isUsable)
        made.endAll()
        await pool.close(grace: .zero)
    }

    @Test func `a session that crashed is let go of`() async throws {
        let made = Made()
        let pool = Self.pool(made)
        pool.release(try await pool.lease())
        #expect(made.alive == 1)
        made.crashAll()
        pool.release(try await pool.lease())
        made.endFirst()
        await made.untilAlive(1)
        await pool.close(grace: .zero)
    }

    @Test func `closing the pool waits for the remaining processes`() async throws {
        let made = Made()
        let pool = Self.pool(made)
        try await Self.loseOne(of: pool)
        let closing = Task {
            await pool.close(grace: .seconds(60))
            return made.areEnded
        }
        try await Task.sleep(for: .milliseconds(50))
        made.endAll()
        #expect(await closing.value, "it did not wait")
    }
}

/// The sessions that a pool opened.
private final class Made: Sendable {
    private struct State {
        var sessions: [WeakSession] = []
        var count = 0
        /// Their ends, which outlive them.
        var ends: [Promise<Void>] = []
        var areEnded = false
    }

    private let state = Mutex(State())

    var count: Int { state.withLock { $0.count } }

    /// How many of them somebody still has.
    var alive: Int { state.withLock { state in state.sessions.count { $0.session != nil } } }

    func make() -> FakeSession {
        let session = FakeSession()
        state.withLock { state in
            state.sessions.append(WeakSession(session: session))
            state.ends.append(session.ended)
            state.count += 1
        }
        return session
    }

    func crashAll() { for session in state.withLock({ $0.sessions }) { session.session?.kill() } }

    var areEnded: Bool { state.withLock { $0.areEnded } }

    func endAll() {
        let ends = state.withLock { state in
            state.areEnded = true
            return state.ends
        }
        for end in ends { end.fulfil(()) }
    }

    func endFirst() { state.withLock { $0.ends.first }?.fulfil(()) }

    func untilNoneIsAlive() async { await untilAlive(0) }

    func untilAlive(_ count: Int) async {
        for _ in 0..<4000 where alive != count { try? await Task.sleep(for: .milliseconds(2)) }
        #expect(alive == count)
    }
}

private struct WeakSession {
    weak var session: FakeSession?
}

/// A session whose process ends when the test says so.
private final class FakeSession: BridgeSession {
    let ended = Promise<Void>()
    private let isKilled = Mutex(false)

    var isUsable: Bool { !isKilled.withLock { $0 } }
    var isKillable: Bool { true }

    func submit(_ call: BridgeCall) -> Promise<BridgeReply> {
        let promise = Promise<BridgeReply>()
        promise.fulfil(.failed(nil))
        return promise
    }

    func cancel(fetch: UInt32) {}
    func kill() { isKilled.withLock { $0 = true } }
    func close() -> Promise<Void> { ended }
}
