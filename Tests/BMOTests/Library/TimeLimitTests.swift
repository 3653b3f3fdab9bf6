import BMOTesting
import BridgeKit
import StoreTestSupport
import TestSupport
import Testing

@testable import BMO

/// How long a request may take, and which of those that wait goes first.
@Suite(.overBothStores, .namingTheStore) struct TimeLimitTests {
    private let world: World
    private let clock = ManualClock()

    init() throws { world = try World() }

    private func withManager(
        isConcurrent: Bool = true, _ body: (RequestManager) async throws -> Void
    ) async throws {
        var options = RequestManager.Options()
        options.clock = clock
        let descriptor = BridgeDescriptor(
            name: "world", version: "1.0", summary: "Brings what a test says", optionsSchema: "", entitySchema: "",
            isConcurrent: isConcurrent, capabilities: [.fetch, .resume, .filter])
        let bridge = BridgeExport(descriptor) { try WorldBridge(options: $0, context: $1) }
        let manager = try await RequestManager(
            world.definition(), stores: world.stores, bridges: [bridge], options: options)
        do {
            try await body(manager)
        } catch {
            try? await manager.close()
            throw error
        }
        try await manager.close()
        world.forget()
    }

    private func limited(_ predicate: ObjectPredicate? = nil) -> ObjectRequest {
        var request = ObjectRequest("Country", where: predicate)
        request.timeLimit = .seconds(5)
        return request
    }

    private func failure(of fetch: ObjectFetch) async throws -> RequestError {
        try await #require(throws: RequestError.self) { try await fetch.remote }
    }

    @Test func `a request ends at its time limit, and applies no page by half`() async throws {
        world.change {
            $0.records["Country"] = World.countries(30)
            $0.heldFrom = 1
            $0.holdsInside = true
        }
        try await withManager { manager in
            let fetch = try await manager.fetch(limited())
            try await eventually("the second page is on its way") { world.state.held == 1 }
            await clock.untilAsleep()
            clock.advance(by: .seconds(5))
            let error = try await failure(of: fetch)
            #expect(error.isDeadline && error.code == "deadline" && error.isRetryable)
            #expect(error.message.contains("its time limit of 5.0 seconds"), "\(error)")
            #expect(try await manager.count(ObjectRequest("Country")) == 10)
            var last: RequestEvent?
            for await event in fetch.events { last = event }
            guard case .failed(let told)? = last else {
                Issue.record("the last event is \(String(describing: last))")
                return
            }
            #expect(told == error)
            // Another request does not join the one that has ended.
            world.change { $0.heldFrom = nil }
            _ = try await manager.fetch(limited()).remote
            #expect(try await manager.count(ObjectRequest("Country")) == 30)
        }
        #expect(world.stores.lockHolder(of: world.database, for: .writing) == nil)
    }

    @Test func `the time limit of one request does not end what others share with it`() async throws {
        world.change {
            $0.records["Country"] = World.countries(30)
            $0.heldFrom = 1
        }
        try await withManager { manager in
            let hasty = try await manager.fetch(limited())
            let patient = try await manager.fetch(ObjectRequest("Country"))
            try await eventually("the second page is on its way") { world.state.held == 1 }
            await clock.untilAsleep()
            let waiting = Task { try await hasty.remote }
            clock.advance(by: .seconds(5))
            let error = try await #require(throws: RequestError.self) { try await waiting.value }
            #expect(error.isDeadline)
            #expect(try await failure(of: hasty).isDeadline, "also for who asks later")
            world.change { $0.heldFrom = nil }
            #expect(try await patient.remote.inserted.count == 30)
            #expect(world.takeRequests() == ["Country"])
        }
    }

    @Test func `the time limit holds while another process has the database`() async throws {
        world.change { $0.records["Country"] = World.countries(3) }
        try await withManager { manager in
            let lock = try world.stores.lock(world.database, command: "another program")
            let fetch = try await manager.fetch(limited())
            await clock.untilAsleep()
            clock.advance(by: .seconds(5))
            #expect(try await failure(of: fetch).isDeadline)
            lock.release()
            #expect(try await manager.fetch(limited()).remote.inserted.count == 3)
        }
        #expect(world.stores.lockHolder(of: world.database, for: .writing) == nil)
    }

    @Test func `the time limit holds while another request has the listing`() async throws {
        world.change {
            $0.records["Country"] = World.countries(3)
            $0.heldFrom = 0
        }
        try await withManager { manager in
            let first = try await manager.fetch(ObjectRequest("Country", where: Field("population") > 1))
            try await eventually("it has the listing") { world.state.held == 1 }
            let second = try await manager.fetch(limited())
            await clock.untilAsleep()
            clock.advance(by: .seconds(5))
            #expect(try await failure(of: second).isDeadline)
            world.change { $0.heldFrom = nil }
            #expect(try await first.remote.inserted.count == 3)
        }
    }

    @Test func `a page of a list has the time limit of its request`() async throws {
        world.change {
            $0.records["Country"] = World.countries(30)
            $0.heldFrom = 1
        }
        try await withManager { manager in
            let loader = try manager.collection(limited())
            try await loader.loadFirst()
            let next = Task { try await loader.loadNext() }
            try await eventually("the second page is on its way") { world.state.held == 1 }
            await clock.untilAsleep()
            clock.advance(by: .seconds(5))
            let error = try await #require(throws: RequestError.self) { try await next.value }
            #expect(error.isDeadline)
            #expect(try await loader.objects.count == 10)
            world.change { $0.heldFrom = nil }
            try await loader.loadNext()
            #expect(try await loader.objects.count == 20)
        }
    }

    @Test func `of the requests that wait for a bridge, the one with the highest priority goes first`() async throws {
        world.change {
            $0.records["Country"] = World.countries(5)
            $0.heldFrom = 0
        }
        try await withManager(isConcurrent: false) { manager in
            let connection = try await manager.session.connections.connection(for: "world")
            var fetches = [try await manager.fetch(ObjectRequest("Country", where: Field("code") == "C001"))]
            try await eventually("the first one has the bridge") { world.state.held == 1 }
            let others: [(String, ObjectRequest.Priority)] = [
                ("C002", .low), ("C003", .normal), ("C004", .high), ("C005", .normal),
            ]
            for (index, (code, priority)) in others.enumerated() {
                var request = ObjectRequest("Country", where: Field("code") == code)
                request.priority = priority
                fetches.append(try await manager.fetch(request))
                try await eventually("\(code) waits") { connection.waitingFetches == index + 1 }
            }
            world.change { $0.heldFrom = nil }
            for fetch in fetches { _ = try await fetch.remote }
            let order = ["C001", "C004", "C003", "C005", "C002"]
            #expect(world.takeRequests() == order.map { "Country code=\($0)" })
        }
    }
}
