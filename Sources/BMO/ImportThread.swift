internal import BridgeHost
internal import Dispatch
internal import SystemCalls

/// Runs the store's blocking work serially on its own thread.
final class ImportThread: Sendable {
    private let queue: DispatchQueue

    init(label: String = "bmo.import") { queue = DispatchQueue(label: label) }

    func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result(catching: body)) }
        }
    }

    /// Enqueues work, and returns a promise of its result.
    func start<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) -> Promise<Swift.Result<Result, any Error>> {
        let promise = Promise<Swift.Result<Result, any Error>>()
        queue.async { promise.fulfil(Swift.Result(catching: body)) }
        return promise
    }

    /// Enqueues `body` without waiting for it.
    func runLater(_ body: @escaping @Sendable () -> Void) { queue.async(execute: DispatchWorkItem(block: body)) }
}

/// Admits one page, or one listing, at a time: those of a higher rank first, and of the same rank in the order of arrival.
///
/// A page may consist of several batches. A scan leaves after enqueuing the last batch of a page, before the batch is
/// imported: the thread works serially.
///
/// A lock and not an actor: the scans of parents pass by thousands a second, and a call of an actor that another task is
/// in suspends the caller.
final class PageGate: Sendable {
    private struct Waiting {
        let number: Int
        let priority: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var isTaken = false
        var waiting: [Waiting] = []
        var lastNumber = 0
        /// The waiting callers that gave up before they were in the queue.
        var cancelled: Set<Int> = []

        mutating func wait(_ new: Waiting) {
            waiting.insert(new, at: waiting.firstIndex { $0.priority < new.priority } ?? waiting.endIndex)
        }
    }

    private let state = Mutex(State())

    /// How many callers wait.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    func enter(priority: Int = 0) async {
        guard let number = takeOrDraw() else { return }
        _ = await wait(number, priority)
    }

    /// Runs `body` while no page is open; a cancelled task stops waiting.
    func pass<Result: Sendable>(
        priority: Int = 0, _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        try await enterUnlessCancelled(priority)
        defer { leave() }
        return try await body()
    }

    func leave() {
        let next = state.withLock { state -> Waiting? in
            guard !state.waiting.isEmpty else {
                state.isTaken = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.continuation.resume(returning: true)
    }

    /// Takes the free gate, or draws a number for the queue.
    private func takeOrDraw() -> Int? {
        state.withLock { state in
            guard state.isTaken else {
                state.isTaken = true
                return nil
            }
            state.lastNumber += 1
            return state.lastNumber
        }
    }

    /// Waits for the caller's turn; returns false if it gave up.
    private func wait(_ number: Int, _ priority: Int) async -> Bool {
        await withCheckedContinuation { continuation in
            let outcome = state.withLock { state -> Bool? in
                if state.cancelled.remove(number) != nil { return false }
                guard state.isTaken else {
                    // The gate was left after the number was drawn.
                    state.isTaken = true
                    return true
                }
                state.wait(Waiting(number: number, priority: priority, continuation: continuation))
                return nil
            }
            if let outcome { continuation.resume(returning: outcome) }
        }
    }

    private func enterUnlessCancelled(_ priority: Int) async throws {
        guard let number = takeOrDraw() else { return }
        let isIn = await withTaskCancellationHandler {
            await wait(number, priority)
        } onCancel: {
            giveUp(number)
        }
        // A caller that had its turn before it gave up never takes its number out.
        state.withLock { _ = $0.cancelled.remove(number) }
        guard isIn else { throw CancellationError() }
    }

    private func giveUp(_ number: Int) {
        let waiting = state.withLock { state -> Waiting? in
            guard let index = state.waiting.firstIndex(where: { $0.number == number }) else {
                state.cancelled.insert(number)
                return nil
            }
            return state.waiting.remove(at: index)
        }
        waiting?.continuation.resume(returning: false)
    }
}
