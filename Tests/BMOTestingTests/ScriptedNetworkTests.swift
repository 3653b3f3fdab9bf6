import BMO
import BMOTesting
import TestSupport
import Testing

/// Requests and pushes that wait for the network.
@Suite struct ScriptedNetworkTests {
    private let remote = ScriptedRemote()
    private let network: ScriptedNetwork

    init() {
        network = ScriptedNetwork(of: remote)
        remote["Note"] = [["id": 1, "title": "milk"]]
    }

    private func manager(
        url: String = "https://notes.example", clock: any _Concurrency.Clock<Duration> = ContinuousClock()
    ) async throws -> RequestManager {
        let definition = ModelDefinition(
            database: "notes.sqlite", bridges: ["api": .plugin("rest", options: ["url": .string(url)])],
            entities: [
                EntityDefinition(
                    "Note", bridge: "api", key: "id",
                    attributes: ["id": .integer.with("write", false), "title": .text],
                    section: ["path": "/notes"], settings: ["writable": true])
            ])
        var options = RequestManager.Options()
        options.network = network.retry
        return try await RequestManager.testing(definition, remote: remote, clock: clock, options: options)
    }

    private func asked() -> [String] { remote.takeRequests().map(\.description) }

    @Test func `a fetch without network waits, and goes on when there is one`() async throws {
        let manager = try await manager()
        network.isAvailable = false
        let fetch = try await manager.fetch(ObjectRequest("Note"))
        await network.untilAwaited()
        #expect(asked() == ["fetch Note"])
        network.isAvailable = true
        #expect(try await fetch.remote.inserted.count == 1)
        #expect(asked() == ["fetch Note"])
        var waits: [String] = []
        for await event in fetch.events {
            if case .waitingForNetwork(let limit, let error) = event {
                waits.append("\(error.code), \(limit > .seconds(500))")
            }
        }
        #expect(waits == ["unreachable, true"])
        try await manager.close()
    }

    @Test func `a server that is down is not a missing network`() async throws {
        let manager = try await manager()
        remote.isReachable = false
        let error = try await #require(throws: RequestError.self) {
            try await manager.fetch(ObjectRequest("Note")).remote
        }
        #expect(error.isUnreachable)
        remote.isReachable = true
        network.isAvailable = false
        remote.isReachable = true
        // The server answers, and refuses: its errors are not the network's.
        remote.fail(.authentication, "who?")
        let refusal = try await #require(throws: RequestError.self) {
            try await manager.fetch(ObjectRequest("Note")).remote
        }
        #expect(refusal.code == "authentication")
        try await manager.close()
    }

    @Test func `a remote of this machine needs no network`() async throws {
        let manager = try await manager(url: "http://127.0.0.1:8080")
        network.isAvailable = false
        let error = try await #require(throws: RequestError.self) {
            try await manager.fetch(ObjectRequest("Note")).remote
        }
        #expect(error.isUnreachable)
        try await manager.close()
    }

    @Test func `a fetch waits for the time limit at most`() async throws {
        let clock = ManualClock()
        let manager = try await manager(clock: clock)
        network.isAvailable = false
        let fetch = try await manager.fetch(ObjectRequest("Note"))
        await clock.untilAsleep()
        clock.advance(by: .seconds(600))
        let error = try await #require(throws: RequestError.self) { try await fetch.remote }
        #expect(error.isUnreachable)
        #expect(asked() == ["fetch Note"])
        try await manager.close()
    }

    @Test func `an edit that could not be sent is sent when the network is back`() async throws {
        let manager = try await manager()
        network.isAvailable = false
        let save = try await manager.save([.create("Note", values: ["title": "bread"])])
        await network.untilAwaited()
        #expect(asked() == [#"create Note {"title":"bread"}"#])
        network.isAvailable = true
        #expect(try await save.current.map { $0.id.description } == ["Note 2"])
        #expect(asked() == [#"create Note {"title":"bread"}"#])
        #expect(remote["Note"].count == 2)

        // A push takes what waits, and its report has what became of it.
        _ = try await manager.save([.create("Note", values: ["title": "nails"])], workflow: .localOnly)
        network.isAvailable = false
        let push = Task { try await manager.push() }
        await network.untilAwaited()
        network.isAvailable = true
        let report = try await push.value
        #expect(report.succeeded && report.count(.sent) == 1 && report.edits.count == 1)
        #expect(try await manager.outbox().isEmpty)
        try await manager.close()
    }

    @Test func `an edit that has to be accepted now does not wait`() async throws {
        let manager = try await manager()
        network.isAvailable = false
        let save = try await manager.save([.create("Note", values: ["title": "bread"])], workflow: .acceptedOnly)
        let outcomes = try await save.remote
        #expect(outcomes.values.map(\.kind) == [.dropped])
        #expect(try await manager.count(ObjectRequest("Note")) == 0)
        try await manager.close()
    }

    @Test func `closing the manager ends what waits`() async throws {
        let manager = try await manager()
        network.isAvailable = false
        let save = try await manager.save([.create("Note", values: ["title": "bread"])])
        await network.untilAwaited()
        let fetch = try await manager.fetch(ObjectRequest("Note"))
        try await manager.close()
        #expect(try await save.remote.values.map(\.kind) == [.waits])
        await #expect(throws: CancellationError.self) { try await fetch.remote }
    }

    @Test func `a switch tells all who follow it, until it is closed`() async throws {
        let network = NetworkSwitch(.unavailable)
        var (one, other) = (network.states().makeAsyncIterator(), network.states().makeAsyncIterator())
        network.state = .unavailable
        network.state = .available
        #expect(await [one.next(), one.next()] == [.unavailable, .available])
        network.close()
        #expect(await [other.next(), other.next(), other.next()] == [.unavailable, .available, nil])
        var late = network.states().makeAsyncIterator()
        #expect(await [late.next(), late.next()] == [.available, nil])
    }
}
