internal import Synchronization

/// The saves of a manager that are being sent: its end waits for them.
final class SaveTasks: Sendable {
    typealias Outcomes = [Int64: PushOutcome]

    private let tasks = Mutex<[Int: Task<Outcomes, any Error>]>([:])
    private let lastNumber = Atomic(0)

    /// Begins a task, which goes on when nobody waits for it.
    func begin(_ body: @escaping @Sendable () async throws -> Outcomes) -> Task<Outcomes, any Error> {
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
        for task in left { _ = await task.result }
    }
}
