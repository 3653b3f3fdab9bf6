import BridgeKit
import BridgeTestSupport
import Foundation
import ImportTestSupport
import StoreTestSupport
import StoreContract
import Synchronization
import TestSupport
import Testing

@testable import BMO

/// Requests over a bridge that is part of this program: local objects at once, then the remote.
@Suite(.overBothStores, .namingTheStore) struct FetchTests {
    private let world: World

    init() throws { world = try World() }

    private func withManager(
        _ options: RequestManager.Options = RequestManager.Options(),
        _ body: (RequestManager) async throws -> Void
    ) async throws {
        let manager = try await world.manager(options)
        do {
            try await body(manager)
        } catch {
            try? await manager.close()
            throw error
        }
        try await manager.close()
        world.forget()
    }

    private func events(of fetch: ObjectFetch) async -> [RequestEvent] {
        var events: [RequestEvent] = []
        for await event in fetch.events { events.append(event) }
        return events
    }

    private let three: [Literal] = [
        World.country("AW", "Aruba", 106), World.country("FR", "France", 68_000), World.country("IT", "Italy", 59_000),
    ]

    @Test func `local objects come at once and the remote follows`() async throws {
        world.change { $0.records["Country"] = three }
        try await withManager { manager in
            let first = try await manager.fetch(ObjectRequest("Country"))
            #expect(first.local.isEmpty && first.goesRemote)
            let result = try await first.remote
            #expect(result.inserted.map(\.description) == ["Country AW", "Country FR", "Country IT"])
            #expect(result.isComplete && result.pageCount == 1 && result.metadata.total == 3)
            #expect(result.metadata.location == "world:/0")
            #expect(try await first.objects().map { $0["name"] } == ["Aruba", "France", "Italy"])

            world.change {
                $0.records["Country"] = [World.country("AW", "Aruba", 107), World.country("FR", "France", 68_000)]
            }
            var request = ObjectRequest("Country", where: Field("population") >= 107, sort: ["-population"])
            request.returnsObjects = true
            request.userInfo = try UserInfo(["screen": "list"])
            let second = try await manager.fetch(request)
            #expect(second.local.map { $0["code"]?.text } == ["FR", "IT"])
            let changes = try await second.remote
            #expect(changes.updated.map(\.id.description) == ["Country AW"])
            #expect(
                changes.updated.first?.properties == [
                    FetchResult.PropertyChange(name: "population", old: 106, new: 107)
                ])
            #expect(changes.deleted.map(\.description) == ["Country IT"])
            #expect(changes.inserted.isEmpty && changes.unchangedCount == 1 && changes.isTruncated == false)
            #expect(changes.objects?.map { $0["code"]?.text } == ["FR", "AW"])
            #expect(changes.userInfo?.value(as: [String: String].self)?["screen"] == "list")
        }
    }

    @Test func `the seven steps are reported in their order`() async throws {
        world.change {
            $0.records["Country"] = World.countries(25)
            $0.metadata = ["licence": "free"]
        }
        try await withManager { manager in
            let fetch = try await manager.fetch(ObjectRequest("Country"))
            var steps: [RequestStep] = []
            var pages: [PageMetadata] = []
            for await event in fetch.events {
                steps.append(event.step)
                if case .imported(_, let metadata) = event { pages.append(metadata) }
                if case .translated(let plan) = event {
                    #expect(plan == RemotePlan(entity: "Country", bridge: "world", extent: .listing, filters: []))
                }
            }
            let page: [RequestStep] = [.representing, .importing]
            #expect(
                steps == [.requested, .answeredLocally, .translating, .contacting] + page + page + page + [.finished])
            #expect(pages.map(\.location) == ["world:/0", "world:/1", "world:/2"])
            #expect(pages.last?.json?.contains("free") == true)
            // Who comes late hears it all.
            #expect(await events(of: fetch).map(\.step) == steps)
        }
    }

    @Test func `a predicate that the remote can sort out is all that is asked`() async throws {
        world.change { $0.records["Country"] = World.countries(25) }
        try await withManager { manager in
            let request = ObjectRequest("Country", where: Field("code") == "C017" && Field("name").isLike("Country%"))
            let result = try await manager.fetch(request).remote
            #expect(result.inserted.map(\.description) == ["Country C017"])
            #expect(world.takeRequests() == ["Country code=C017"])
            // A part of the list says nothing about the rest.
            let other = try await manager.fetch(ObjectRequest("Country", where: Field("code") == "C018")).remote
            #expect(other.inserted.count == 1 && other.deleted.isEmpty)
            #expect(try await manager.count(ObjectRequest("Country")) == 2)
        }
    }

    @Test func `a remote that sorts nothing out is scanned as a whole`() async throws {
        world.change { $0.records["Country"] = World.countries(25) }
        try await withManager { manager in
            let request = ObjectRequest("Country", where: Field("population") > 20)
            let fetch = try await manager.fetch(request)
            #expect(try await fetch.remote.inserted.count == 25)
            let plans = await events(of: fetch).compactMap { if case .translated(let plan) = $0 { plan } else { nil } }
            #expect(plans.map(\.extent) == [.listing])
            world.change { $0.records["Country"]?.removeLast() }
            #expect(try await manager.fetch(request).remote.deleted.map(\.description) == ["Country C025"])
        }
    }

    @Test func `requests that scan one listing do not change what each other has listed`() async throws {
        world.change { $0.records["Country"] = World.countries(40) }
        try await withManager { manager in
            _ = try await manager.fetch(ObjectRequest("Country")).remote
            world.change {
                $0.records["Country"]?.removeFirst(5)
                $0.heldFrom = 1
            }
            let first = try await manager.fetch(ObjectRequest("Country", where: Field("population") > 20))
            try await eventually("the first one's second page is held") { world.state.held == 1 }
            let second = try await manager.fetch(ObjectRequest("Country", where: Field("population") > 30))
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.remote }
            world.change { $0.heldFrom = nil }
            #expect(try await second.remote.deleted.count == 5)
            #expect(world.state.maxOpen == 1, "the second one begins after the first")
            #expect(try await manager.count(ObjectRequest("Country")) == 35)
        }
    }

    @Test func `a limit without an order ends the fetch`() async throws {
        world.change { $0.records["Country"] = World.countries(95) }
        try await withManager { manager in
            let result = try await manager.fetch(ObjectRequest("Country", limit: 15)).remote
            #expect(result.pageCount == 2 && result.isComplete == false && result.inserted.count == 20)
            #expect(try await manager.objects(ObjectRequest("Country", limit: 15)).count == 15)
            // With an order nobody knows where the first fifteen are.
            #expect(try await manager.fetch(ObjectRequest("Country", sort: ["name"], limit: 15)).remote.pageCount == 10)
        }
    }

    @Test func `the type says whether the remote is asked`() async throws {
        world.change { $0.records["Country"] = three }
        try await withManager { manager in
            let french = Field("code") == "FR"
            let cases: [(FetchType, ObjectPredicate?, FetchResult.Skip?)] = [
                (.never, nil, .never), (.ifNoLocal, nil, nil), (.ifNoLocal, nil, .localObjects),
                (.ifNoLocal, Field("code") == "XX", nil), (.timeToLive(.seconds(3600)), french, nil),
                (.timeToLive(.seconds(3600)), french, .fresh), (.timeToLive(.zero), french, nil),
                (.custom { $0.count > 2 }, nil, nil), (.custom { $0.count > 3 }, nil, .custom),
            ]
            for (index, (type, predicate, expected)) in cases.enumerated() {
                _ = world.takeRequests()
                let request = ObjectRequest("Country", where: predicate, type: type)
                let result = try await manager.fetch(request).remote
                #expect(result.skipped == expected, "case \(index)")
                #expect(world.takeRequests().isEmpty == (expected != nil), "case \(index)")
            }
        }
    }

    @Test func `requests that ask the same share one answer`() async throws {
        world.change {
            $0.records["Country"] = three
            $0.heldFrom = 0
        }
        try await withManager { manager in
            let same = Field("population") > 5 && Field("name") == "Italy"
            let turned = Field("name") == "Italy" && Field("population") > 5
            let first = try await manager.fetch(ObjectRequest("Country", where: same))
            let second = try await manager.fetch(ObjectRequest("Country", where: turned, sort: ["name"]))
            let other = try await manager.fetch(ObjectRequest("Country", where: Field("code") == "FR"))
            try await eventually("both fetches are open") { world.state.held == 2 }
            world.change { $0.heldFrom = nil }
            _ = try await (first.remote, second.remote, other.remote)
            #expect(world.takeRequests().count == 2, "two questions, three requests")
            _ = try await manager.fetch(ObjectRequest("Country", where: same)).remote
            #expect(world.takeRequests().count == 1, "an answer that is over is not shared")
        }
    }

    @Test func `requests for texts of other bytes do not share an answer`() async throws {
        world.change { $0.heldFrom = 0 }
        try await withManager { manager in
            let composed = try await manager.fetch(ObjectRequest("Country", where: Field("name") == "caf\u{E9}"))
            let decomposed = try await manager.fetch(ObjectRequest("Country", where: Field("name") == "cafe\u{301}"))
            try await eventually("both fetches are open") { world.state.held == 2 }
            world.change { $0.heldFrom = nil }
            _ = try await (composed.remote, decomposed.remote)
            #expect(world.takeRequests().count == 2)
        }
    }

    @Test func `the last caller that gives up cancels the fetch before its next commit`() async throws {
        world.change {
            $0.records["Country"] = World.countries(30)
            $0.heldFrom = 1
        }
        try await withManager { manager in
            let first = try await manager.fetch(ObjectRequest("Country"))
            let second = try await manager.fetch(ObjectRequest("Country"))
            try await eventually("the first page is in") {
                try await manager.count(ObjectRequest("Country")) == 10 && world.state.held == 1
            }
            first.cancel()
            await #expect(throws: CancellationError.self) { try await first.remote }
            #expect(world.state.open == 1, "the second one still waits")
            let waiting = Task { try await second.remote }
            waiting.cancel()
            await #expect(throws: CancellationError.self) { try await waiting.value }
            try await eventually("the fetch has ended") { world.state.open == 0 }
            #expect(try await manager.count(ObjectRequest("Country")) == 10)
            // A new request does not join the dying one.
            world.change { $0.heldFrom = nil }
            _ = try await manager.fetch(ObjectRequest("Country")).remote
            #expect(try await manager.count(ObjectRequest("Country")) == 30)
        }
        #expect(world.stores.lockHolder(of: world.database, for: .writing) == nil)
    }

    @Test(.overSQLiteOnly) func `a local fetch does not wait for a page that is being written`() async throws {
        world.change {
            $0.records["Country"] = World.countries(10)
            $0.pageSize = 5
            $0.heldFrom = 1
            $0.holdsInside = true
        }
        try await withManager { manager in
            let fetch = try await manager.fetch(ObjectRequest("Country"))
            let file = try SQLiteFile(world.database)
            // The bridge is asked for the rest of the page while its beginning still waits for the import.
            try await eventually("the second page holds the file's write lock") {
                guard world.state.held == 1 else { return false }
                do {
                    _ = try file.rows("BEGIN IMMEDIATE")
                } catch is SQLiteFile.Refusal {
                    // The first page may be the one that is being written: it is handed over while the bridge goes on.
                    return try await manager.objects(ObjectRequest("Country")).count > 0
                }
                _ = try file.rows("ROLLBACK")
                return false
            }
            // On another connection: what is committed is seen, what the page has written is not. One that waited for the
            // lock would fail with it: the page holds it until the bridge goes on below.
            #expect(try await manager.objects(ObjectRequest("Country")).count == 5)
            #expect(try await manager.get("Country", "C006") == nil)
            world.change { $0.heldFrom = nil }
            #expect(try await fetch.remote.inserted.count == 10)
        }
    }

    @Test func `one slow remote does not hold up another`() async throws {
        world.change {
            $0.records = ["Country": World.countries(30), "City": [.object([("id", .integer(1)), ("name", "x")])]]
            $0.heldFrom = 1
        }
        try await withManager { manager in
            let slow = try await manager.fetch(ObjectRequest("Country"))
            try await eventually("its second page is on its way") { world.state.held == 1 }
            #expect(try await manager.fetch(ObjectRequest("City")).remote.inserted.count == 1)
            #expect(world.state.held == 1)
            world.change { $0.heldFrom = nil }
            let result = try await slow.remote
            #expect(result.inserted.count == 30 && result.inserted.nonEmptyAllSatisfy { $0.entity == "Country" })
        }
    }

    @Test(.overSQLiteOnly) func `a bridge from a plugin serves as well`() async throws {
        let place = try LibraryWorkspace.counting()
        let workspace = try await place.workspace(CountingHost.numbers(section: "count: 25, page_size: 10"))
        let manager = try RequestManager(workspace)
        let result = try await manager.fetch(ObjectRequest("Number")).remote
        #expect(result.inserted.count == 25 && result.pageCount == 3)
        #expect(try await manager.get("Number", 24)?["name"] == "number 24")
        let again = try await manager.fetch(ObjectRequest("Number")).remote
        #expect(again.unchangedCount == 25 && again.hasChanges == false)
        try await manager.close()
        #expect(try place.file().rows("SELECT kind FROM bmo_runs") == [["'request'"]])
    }

    @Test func `another process that writes is named when patience ends`() async throws {
        let manager = try await world.manager()
        try await manager.close()
        var options = RequestManager.Options()
        options.lockTimeout = .none
        let lock = try world.stores.lock(world.database, command: "another program")
        try await withManager(options) { manager in
            #expect(try await manager.objects(ObjectRequest("Country")).isEmpty, "reading needs no lock")
            let fetch = try await manager.fetch(ObjectRequest("Country"))
            let error = try await #require(throws: RequestError.self) { try await fetch.remote }
            #expect(error.code == "database" && error.isRetryable && error.message.contains("another program"))
            lock.release()
            _ = try await manager.fetch(ObjectRequest("Country")).remote
        }
    }

    @Test(.overSQLiteOnly) func `closing ends what is on its way`() async throws {
        world.change {
            $0.records["Country"] = World.countries(30)
            $0.heldFrom = 1
        }
        let manager = try await world.manager()
        let fetch = try await manager.fetch(ObjectRequest("Country"))
        try await eventually("its second page is on its way") { world.state.held == 1 }
        try await manager.close()
        #expect(world.stores.lockHolder(of: world.database, for: .writing) == nil && world.state.open == 0)
        await #expect(throws: CancellationError.self) { try await fetch.remote }
        let error = try await #require(throws: RequestError.self) {
            try await manager.objects(ObjectRequest("Country"))
        }
        #expect(error.code == "closed" && error.message.contains("closed"))
        #expect(try SQLiteFile(world.database).value("SELECT count(*) FROM Country") == "10")
    }

    @Test func `let go of a request goes on`() async throws {
        world.change { $0.records["Country"] = three }
        try await withManager { manager in
            _ = try await manager.fetch(ObjectRequest("Country"))
            try await eventually("it was imported") { try await manager.count(ObjectRequest("Country")) == 3 }
        }
    }

    @Test(arguments: [
        (BridgeError.Code.authentication, RequestStep.contacting), (.malformed, .representing),
        (.configuration, .translating),
    ])
    func `an error names the step at which it failed`(_ code: BridgeError.Code, _ step: RequestStep) async throws {
        world.change {
            $0.faults = [BridgeError(code, "no way in", remedy: "knock", location: "world:/", remote: "who?")]
        }
        try await withManager { manager in
            let fetch = try await manager.fetch(ObjectRequest("Country"))
            let error = try await #require(throws: RequestError.self) { try await fetch.remote }
            #expect(error.step == step && error.code == code.rawValue && error.bridge == "world")
            #expect(
                error.description
                    == "Country (bridge world): \(code.rawValue) while \(step): no way in at world:/; "
                    + "the remote says: who?; knock")
            let failures = await events(of: fetch).filter { if case .failed = $0 { true } else { false } }
            #expect(failures.count == 1)
        }
    }

    @Test func `records that do not fit are reported with their reasons`() async throws {
        world.change { $0.records["Country"] = three + [.object([("code", "XX"), ("population", "many")])] }
        try await withManager { manager in
            let result = try await manager.fetch(ObjectRequest("Country")).remote
            #expect(result.inserted.count == 3 && result.quarantined.count == 1)
            #expect(result.quarantined.first?.representation.contains("many") == true)
            #expect(result.counts["Country"]?.quarantined == 1)
            world.change { $0.records["Country"] = [.object([("code", "XX"), ("population", "many")])] }
            let fetch = try await manager.fetch(ObjectRequest("Country"))
            let error = try await #require(throws: RequestError.self) { try await fetch.remote }
            #expect(error.step == .importing && error.code == "quarantine")
        }
    }

    @Test func `a remote out of reach is tried again as the policy says`() async throws {
        let away = BridgeError(.unreachable, "no route")
        world.change {
            $0.records["Country"] = three
            $0.faults = [away]
        }
        try await withManager { manager in
            let fetch = try await manager.fetch(ObjectRequest("Country"))
            let error = try await #require(throws: RequestError.self) { try await fetch.remote }
            #expect(error.isUnreachable && error.step == .contacting)
        }
        let patient = try World()
        patient.change {
            $0.records["Country"] = three
            $0.faults = [away, away]
        }
        var options = RequestManager.Options()
        let tries = Mutex<[Int]>([])
        options.availability = .decide { _, count in
            tries.withLock { $0.append(count) }
            return .milliseconds(1)
        }
        let manager = try await patient.manager(options)
        let fetch = try await manager.fetch(ObjectRequest("Country"))
        #expect(try await fetch.remote.inserted.count == 3)
        #expect(tries.withLock { $0 } == [1, 2])
        let pauses = await events(of: fetch).filter { if case .waiting = $0 { true } else { false } }
        #expect(pauses.count == 2)
        try await manager.close()
    }

    @Test func `a policy that waits gives up at its deadline`() async throws {
        let failure = try await unreachable()
        #expect(
            await AvailabilityPolicy.wait(atMost: .seconds(60)).pause(after: failure, tries: 1, elapsed: .zero)
                == .milliseconds(500))
        #expect(
            await AvailabilityPolicy.wait(atMost: .seconds(60)).pause(after: failure, tries: 3, elapsed: .zero)
                == .seconds(2))
        #expect(
            await AvailabilityPolicy.wait(atMost: .seconds(60))
                .pause(after: failure, tries: 9, elapsed: .seconds(61)) == nil)
    }

    private func unreachable() async throws -> RequestError {
        world.change { $0.faults = [BridgeError(.unreachable, "no route")] }
        let manager = try await world.manager()
        let fetch = try await manager.fetch(ObjectRequest("Country"))
        let error = try await #require(throws: RequestError.self) { try await fetch.remote }
        try await manager.close()
        return error
    }

    @Test func `a request that does not fit the model says what would`() async throws {
        try await withManager { manager in
            let cases: [(ObjectRequest, String)] = [
                (ObjectRequest("Contry"), "there are: Country, City"),
                (ObjectRequest("City", where: Field("nme") == 1), "it has: id, name"),
                (ObjectRequest("City", where: Field("id") == "x"), "not of type integer"),
                (ObjectRequest("City", sort: ["nme"]), "to sort by"),
                (ObjectRequest("City", including: ["country.citys"]), "capital"),
            ]
            for (request, words) in cases {
                let error = try await #require(throws: RequestError.self) { try await manager.fetch(request) }
                #expect(error.step == .requested && error.code == "request")
                #expect(error.description.contains(words))
            }
        }
    }

    @Test func `a definition with faults is refused with all of them`() async throws {
        let definition = ModelDefinition(
            database: world.database, bridges: ["world": .plugin("world")],
            entities: [
                EntityDefinition(
                    "Country", bridge: "word", key: "kode", attributes: ["code": .text],
                    relationships: ["cities": .many("Town")])
            ])
        let error = try await #require(throws: ConfigurationErrors.self) {
            try await RequestManager(definition, stores: world.stores, bridges: [BridgeExport(WorldBridge.self)])
        }
        let text = error.description
        for word in ["\"word\"", "\"kode\"", "\"Town\""] { #expect(text.contains(word), "\(text)") }
        #expect(FileManager.default.fileExists(atPath: world.database) == false)
    }
}
