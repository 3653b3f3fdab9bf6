internal import Synchronization

/// The manager's tasks that continue without a waiting caller, such as pushes of saves and syncs; closing the manager
/// waits for them.
final class RunningTasks: Sendable {
    private let tasks = Mutex<[Int: any RunningTask]>([:])
    private let lastNumber = Atomic(0)

    /// Starts a task, which continues without a waiting caller.
    func begin<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) -> Task<Value, any Error> {
        let number = lastNumber.add(1, ordering: .relaxed).newValue
        return tasks.withLock { tasks in
            let task = Task {
                defer { self.tasks.withLock { $0[number] = nil } }
                return try await body()
            }
            tasks[number] = task
            return task
        }
    }

    /// Cancels the tasks, and waits for them.
    func close() async {
        let left = tasks.withLock { Array($0.values) }
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
