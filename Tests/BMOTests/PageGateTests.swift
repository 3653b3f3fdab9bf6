import Testing

@testable import BMO

/// The order in which scans pass the gate of the pages.
@Suite struct PageGateTests {
    @Test func `the highest rank passes first, and of equals the one that came first`() async {
        let gate = PageGate()
        await gate.enter()
        let passed = Order()
        await withTaskGroup { group in
            for (number, priority) in [(1, 0), (2, 0), (3, 5), (4, 1)] {
                group.addTask {
                    await gate.enter(priority: priority)
                    await passed.add(number)
                    gate.leave()
                }
                await gate.waits(for: number)
            }
            gate.leave()
        }
        #expect(await passed.numbers == [3, 4, 1, 2])
    }

    @Test func `a cancelled task stops waiting, and the others pass`() async throws {
        let gate = PageGate()
        await gate.enter()
        let cancelled = Task { try await gate.pass { Issue.record("the cancelled task passed") } }
        await gate.waits(for: 1)
        let other = Task { try await gate.pass { 7 } }
        await gate.waits(for: 2)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        gate.leave()
        #expect(try await other.value == 7)
        #expect(try await gate.pass { 8 } == 8, "the gate is free again")
    }

    @Test func `a task that is cancelled before it waits does not wait`() async {
        let gate = PageGate()
        await gate.enter()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try await gate.pass { Issue.record("the cancelled task passed") }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test func `one passes at a time`() async throws {
        let gate = PageGate()
        let inside = Order()
        try await withThrowingTaskGroup { group in
            for number in 0..<200 {
                group.addTask {
                    try await gate.pass {
                        await inside.add(number)
                        #expect(await inside.numbers == [number])
                        await inside.clear()
                    }
                }
            }
            try await group.waitForAll()
        }
    }
}

private actor Order {
    var numbers: [Int] = []

    func add(_ number: Int) { numbers.append(number) }

    func clear() { numbers = [] }
}

extension PageGate {
    /// Returns once that number of callers waits.
    fileprivate func waits(for count: Int) async {
        while waitingCount < count { await Task.yield() }
    }
}
