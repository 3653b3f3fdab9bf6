internal import SystemCalls

/// The manager's calls, and its tasks that continue without a waiting caller, such as pushes of saves.
///
/// Closing the manager waits for all of them, and no call begins after that.
final class RunningTasks: Sendable {
    private struct State {
        var isClosed = false
        /// The number of calls that have begun and not ended.
        var calls = 0
        /// Those who wait for the end of all calls.
        var waiting: [CheckedContinuation<Void, Never>] = []
        var tasks: [Int: any RunningTask] = [:]
        var lastNumber = 0
    }

    private let state = Mutex(State())

    /// Whether calls are refused.
    var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Refuses a call that nothing waits for.
    ///
    /// - Throws: As ``enter(_:)``.
    func check(_ entity: String) throws {
        if isClosed { throw RequestError.closed(entity) }
    }

    /// Begins a call, which ``leave()`` ends; ``close()`` waits for that.
    ///
    /// - Parameter entity: The entity that it is about; empty for none.
    /// - Throws: ``RequestError`` of the code `closed`.
    func enter(_ entity: String) throws {
        let isClosed = state.withLock { state in
            if !state.isClosed { state.calls += 1 }
            return state.isClosed
        }
        if isClosed { throw RequestError.closed(entity) }
    }

    /// Ends a call.
    func leave() {
        let waiting = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.calls -= 1
            guard state.calls == 0 else { return [] }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Runs a call as a task, which ends early when its caller's task is cancelled, or the manager is closed.
    ///
    /// - Throws: ``RequestError`` of the code `closed`; the errors of `body`.
    func run<Value: Sendable>(
        _ entity: String, _ body: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try enter(entity)
        defer { leave() }
        let task = begin(body)
        return try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }

    /// Starts a task, which continues without a waiting caller; a call that is running when the manager is closed gets a
    /// cancelled one.
    func begin<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) -> Task<Value, any Error> {
        let (task, isClosed) = state.withLock { state -> (Task<Value, any Error>, Bool) in
            state.lastNumber += 1
            let number = state.lastNumber
            let task = Task {
                defer { self.state.withLock { $0.tasks[number] = nil } }
                return try await body()
            }
            state.tasks[number] = task
            return (task, state.isClosed)
        }
        if isClosed { task.cancel() }
        return task
    }

    /// Refuses further calls.
    func refuse() { state.withLock { $0.isClosed = true } }

    /// Refuses further calls, cancels the tasks, and waits for them and for the calls.
    func close() async {
        refuse()
        while true {
            let left = state.withLock { Array($0.tasks.values) }
            for task in left { task.cancel() }
            for task in left { await task.end() }
            await callsEnd()
            // A call may have started a task meanwhile.
            if state.withLock({ $0.tasks.isEmpty }) { return }
        }
    }

    private func callsEnd() async {
        await withCheckedContinuation { continuation in
            let isOver = state.withLock { state in
                if state.calls > 0 { state.waiting.append(continuation) }
                return state.calls == 0
            }
            if isOver { continuation.resume() }
        }
    }
}

/// A task with any result.
private protocol RunningTask: Sendable {
    func cancel()
    func end() async
}

extension Task: RunningTask where Success: Sendable {
    func end() async { _ = await result }
}

extension Task where Success: Sendable, Failure == any Error {
    /// Returns the value; a waiting task that is cancelled stops waiting, and this one goes on.
    ///
    /// - Throws: The task's error; `CancellationError`.
    func valueUnlessCancelled() async throws -> Success {
        let wait = Wait<Success>()
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                wait.begin(continuation)
                Task<Void, Never> { wait.end(await result) }
            }
        } onCancel: {
            wait.end(.failure(_Concurrency.CancellationError()))
        }
    }
}

/// A wait that the first of several outcomes ends.
private final class Wait<Value: Sendable>: Sendable {
    private struct State {
        var continuation: CheckedContinuation<Value, any Error>?
        var outcome: Result<Value, any Error>?
    }

    private let state = Mutex(State())

    func begin(_ continuation: CheckedContinuation<Value, any Error>) {
        let outcome = state.withLock { state -> Result<Value, any Error>? in
            if state.outcome == nil { state.continuation = continuation }
            return state.outcome
        }
        if let outcome { continuation.resume(with: outcome) }
    }

    func end(_ outcome: Result<Value, any Error>) {
        let continuation = state.withLock { state -> CheckedContinuation<Value, any Error>? in
            guard state.outcome == nil else { return nil }
            state.outcome = outcome
            return state.continuation
        }
        continuation?.resume(with: outcome)
    }
}
