internal import BridgeHost
internal import Dispatch

/// Runs blocking work of the store on a thread of its own, one piece after the other.
final class ImportThread: Sendable {
    private let queue: DispatchQueue

    init(label: String = "bmo.import") { queue = DispatchQueue(label: label) }

    func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result(catching: body)) }
        }
    }

    /// Hands over work that is done after what waits already; what became of it is in the promise.
    func start<Result: Sendable>(
        _ body: @escaping @Sendable () throws -> Result
    ) -> Promise<Swift.Result<Result, any Error>> {
        let promise = Promise<Swift.Result<Result, any Error>>()
        queue.async { promise.fulfil(Swift.Result(catching: body)) }
        return promise
    }

    /// Runs `body` after what waits already, and does not wait for it.
    func runLater(_ body: @escaping @Sendable () -> Void) { queue.async(execute: DispatchWorkItem(block: body)) }
}

/// Lets one page at a time to the import thread, in the order of arrival: a page may come in several batches.
///
/// Who has handed over the last batch of a page leaves, though it still waits for the thread: that does one piece of work after
/// the other.
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
