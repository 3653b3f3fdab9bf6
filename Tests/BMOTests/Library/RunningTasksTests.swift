import StoreContract
import Testing

@testable import BMO

/// What closing a manager waits for, and how long its calls wait, without a database.
@Suite struct RunningTasksTests {
    @Test func `closing waits for a call that has begun, and for the task that it starts`() async throws {
        let tasks = RunningTasks()
        try tasks.enter("Note")
        let closing = Task { await tasks.close() }
        while !tasks.isClosed { await Task.yield() }
        let error = try #require(throws: RequestError.self) { try tasks.enter("Note") }
        #expect(error.code == "closed" && error.entity == "Note")
        let task = tasks.begin { () async throws -> Void in
            while true {
                try Task.checkCancellation()
                await Task.yield()
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        tasks.leave()
        await closing.value
    }

    @Test func `a sleep of any length is one`() async throws {
        let stopwatch = Stopwatch(ContinuousClock())
        let sleeping = Task { try await stopwatch.sleep(for: .seconds(Int64.max)) }
        sleeping.cancel()
        await #expect(throws: CancellationError.self) { try await sleeping.value }
        try await stopwatch.sleep(for: .seconds(Int64.min))
    }

    @Test func `options without a time to wait have that of the manager`() {
        #expect(Workspace.SyncOptions(entities: ["Note"]).waiting(.unlimited).lockTimeout == LockTimeout.unlimited)
        #expect(Workspace.SyncOptions(lockTimeout: .none).waiting(.unlimited).lockTimeout == LockTimeout.none)
        #expect(Workspace.SyncOptions().lockTimeout == LockTimeout.none)
        #expect(Workspace.PushOptions(entities: ["Note"]).waiting(.unlimited).lockTimeout == LockTimeout.unlimited)
        var options = Workspace.PushOptions()
        options.lockTimeout = .none
        #expect(options.waiting(.unlimited).lockTimeout == LockTimeout.none)
    }
}
