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

/// Admits one page, or one listing, at a time in the order of arrival; a page may consist of several batches.
///
/// A scan leaves after enqueuing the last batch of a page, before the batch is imported: the thread works serially.
actor PageGate {
    private var isTaken = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func enter() async {
        guard isTaken else {
            isTaken = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Runs `body` while no page is open.
    func pass<Result: Sendable>(_ body: @Sendable () async throws -> Result) async throws -> Result {
        await enter()
        defer { leave() }
        return try await body()
    }

    func leave() {
        if waiting.isEmpty { isTaken = false } else { waiting.removeFirst().resume() }
    }
}
