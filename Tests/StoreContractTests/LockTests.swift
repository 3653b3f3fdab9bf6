import Mapping
import StoreContract
import Synchronization
import Testing

/// The wait for a lock, which every kind of database shares.
@Suite struct LockTests {
    private final class Lock: StoreLock {
        func release() {}
    }

    /// A provider whose lock becomes free at an attempt.
    private final class Provider: StoreProvider {
        private let free: Int
        private let attempts = Mutex(0)

        init(freeAt attempt: Int) { free = attempt }

        func attemptLock(_ location: String, for purpose: LockPurpose, command: String) -> LockAttempt {
            let attempt = attempts.withLock { count in
                count += 1
                return count
            }
            return attempt >= free ? .taken(Lock()) : .held(by: nil)
        }

        func lockHolder(of location: String, for purpose: LockPurpose) -> LockHolder? { nil }
        func exists(_ location: String) -> Bool { false }
        func schema(of model: CompiledModel) -> [String] { [] }
        func open(_ location: String, model: CompiledModel, for use: StoreUse) throws -> any Store { throw Self.none }
        func migrationPlan(of location: String, to model: CompiledModel) throws -> SchemaPlan { throw Self.none }
        func contents(of location: String) throws -> [TableContents] { throw Self.none }
        func migrate(
            _ location: String, to model: CompiledModel, backup: String
        ) throws -> MigrationResult { throw Self.none }

        private static let none = StoreError(.open, "this provider has locks only")
    }

    @Test func `a free lock is taken at once`() async throws {
        _ = try Provider(freeAt: 1).lock("world", command: "a")
        _ = try await Provider(freeAt: 1).lock("world", command: "a", timeout: .none) { _ in
            Issue.record("it waits for a free lock")
        }
    }

    @Test func `a wait is reported once and ends with the lock`() async throws {
        let waits = Mutex(0)
        _ = try await Provider(freeAt: 4).lock("world", command: "a", timeout: .unlimited) { _ in
            waits.withLock { $0 += 1 }
        }
        #expect(waits.withLock { $0 } == 1)
    }

    @Test func `the errors say which right is taken`() async throws {
        let writing = #expect(throws: StoreError.self) { try Provider(freeAt: .max).lock("world", command: "a") }
        #expect(writing?.code == .busy)
        #expect(writing?.message == "world is being written by another process")
        let pushing = await #expect(throws: StoreError.self) {
            try await Provider(freeAt: .max).lock(
                "world", for: .pushing, command: "a", timeout: .atMost(.milliseconds(60)))
        }
        #expect(pushing?.message == "the edits of world are being sent by another process")
    }

    @Test func `a cancelled wait throws`() async throws {
        let waiter = Task { try await Provider(freeAt: .max).lock("world", command: "a", timeout: .unlimited) }
        waiter.cancel()
        await #expect(throws: CancellationError.self) { _ = try await waiter.value }
    }
}
