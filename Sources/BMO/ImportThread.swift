internal import BridgeHost
internal import Dispatch

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
actor PageGate {
    private struct Waiting {
        let number: Int
        let priority: Int
        let continuation: CheckedContinuation<Bool, Never>
    }

    private var isTaken = false
    private var waiting: [Waiting] = []
    private var lastNumber = 0

    func enter(priority: Int = 0) async {
        guard isTaken else {
            isTaken = true
            return
        }
        lastNumber += 1
        let number = lastNumber
        _ = await withCheckedContinuation { wait(Waiting(number: number, priority: priority, continuation: $0)) }
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
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().continuation.resume(returning: true) }
    }

    private func enterUnlessCancelled(_ priority: Int) async throws {
        guard isTaken else {
            isTaken = true
            return
        }
        lastNumber += 1
        let number = lastNumber
        let isIn = await withTaskCancellationHandler {
            await withCheckedContinuation { wait(Waiting(number: number, priority: priority, continuation: $0)) }
        } onCancel: {
            Task { await self.giveUp(number) }
        }
        guard isIn else { throw CancellationError() }
    }

    private func wait(_ new: Waiting) {
        waiting.insert(new, at: waiting.firstIndex { $0.priority < new.priority } ?? waiting.endIndex)
    }

    private func giveUp(_ number: Int) {
        guard let index = waiting.firstIndex(where: { $0.number == number }) else { return }
        waiting.remove(at: index).continuation.resume(returning: false)
    }
}
