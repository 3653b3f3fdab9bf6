import Synchronization
import Testing

@testable import BridgeHost

/// The order in which a promise that is given up wakes those who wait for it.
@Suite struct PromiseTests {
    @Test func `a waiter goes on only after what comes first`() async throws {
        for _ in 0..<100 {
            let promise = Promise<Int>()
            let marked = Counter()
            let waiting = Task {
                let value = await promise.value
                return marked.count == 1 ? value : 0
            }
            let alarm = promise.fulfil(after: .zero, with: 7) {
                // Long enough for who waits to go on, were it already woken.
                spin(for: .microseconds(500))
                marked.add()
            }
            #expect(await waiting.value == 7, "it was woken before")
            alarm.cancel()
        }
    }

    @Test func `what is claimed is not fulfilled yet and takes no other value`() async {
        let promise = Promise<Int>()
        let taken = promise.fulfil(1) {
            #expect(!promise.isFulfilled)
            #expect(!promise.fulfil(2), "another value was taken")
        }
        #expect(taken)
        #expect(promise.isFulfilled)
        #expect(!promise.fulfil(3) { Issue.record("what comes first ran for a value that came too late") })
        #expect(await promise.value == 1)
    }

    @Test func `many threads fulfil it once`() async {
        for round in 0..<200 {
            let promise = Promise<Int>()
            let firsts = Counter()
            let tasks = (0..<8).map { number in
                Task { promise.fulfil(number) { firsts.add() } }
            }
            var taken = 0
            for task in tasks where await task.value { taken += 1 }
            #expect(taken == 1 && firsts.count == 1, "round \(round)")
        }
    }
}

private final class Counter: Sendable {
    private let state = Mutex(0)

    var count: Int { state.withLock { $0 } }

    func add() { state.withLock { $0 += 1 } }
}

private func spin(for time: Duration) {
    let end = ContinuousClock.now + time
    while ContinuousClock.now < end {}
}
