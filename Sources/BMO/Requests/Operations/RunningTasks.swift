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
