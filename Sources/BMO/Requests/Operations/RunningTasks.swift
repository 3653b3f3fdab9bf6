internal import SystemCalls

/// The manager's tasks that continue without a waiting caller, such as pushes of saves and syncs; closing the manager
/// waits for them.
final class RunningTasks: Sendable {
    private struct State {
        var tasks: [Int: any RunningTask] = [:]
        var lastNumber = 0
    }

    private let state = Mutex(State())

    /// Starts a task, which continues without a waiting caller.
    func begin<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) -> Task<Value, any Error> {
        state.withLock { state in
            state.lastNumber += 1
            let number = state.lastNumber
            let task = Task {
                defer { self.state.withLock { $0.tasks[number] = nil } }
                return try await body()
            }
            state.tasks[number] = task
            return task
        }
    }

    /// Cancels the tasks, and waits for them.
    func close() async {
        let left = state.withLock { Array($0.tasks.values) }
        for task in left { task.cancel() }
        for task in left { await task.end() }
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
