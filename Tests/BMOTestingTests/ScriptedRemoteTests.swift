import BMO
import BMOTesting
import BridgeContract
import Foundation
import TestSupport
import Testing

/// What the kit for the tests of apps promises.
@Suite struct ScriptedRemoteTests {
    private let remote = ScriptedRemote()

    private func manager(
        clock: any _Concurrency.Clock<Duration> = ContinuousClock(), options: RequestManager.Options = .init()
    ) async throws -> RequestManager {
        let definition = ModelDefinition(
            database: "notes.sqlite",
            bridges: ["api": .plugin("rest", options: ["token": .secret(.env("BMO_NO_SUCH_SECRET"))])],
            entities: [
                EntityDefinition(
                    "Note", bridge: "api", key: "id",
                    attributes: ["id": .integer.with("write", false), "title": .text.from("content.title")],
                    section: ["path": "/notes"], settings: ["writable": true])
            ])
        return try await RequestManager.testing(definition, remote: remote, clock: clock, options: options)
    }

    private func titles(_ manager: RequestManager) async throws -> [String] {
        try await manager.objects(ObjectRequest("Note")).map { $0["title"]?.text ?? "" }
    }

    private func asked() -> [String] { remote.takeRequests().map(\.description) }

    @Test func `it has what the test gives it, page by page`() async throws {
        remote["Note"] = (1...5).map { ["id": .int($0), "content": ["title": .string("note \($0)")]] }
        remote.pageSize = 2
        let manager = try await manager()
        let result = try await manager.fetch(ObjectRequest("Note")).remote
        #expect(result.inserted.count == 5 && result.pageCount == 3 && result.isComplete)
        #expect(try await titles(manager).last == "note 5")
        #expect(asked() == ["fetch Note"])
        remote["Note"].removeLast()
        #expect(try await manager.fetch(ObjectRequest("Note")).remote.deleted.count == 1)
        let loader = try manager.collection(ObjectRequest("Note"), options: .init(pageSize: 3))
        try await loader.loadFirst()
        try await loader.loadNext()
        #expect(try await loader.objects.count == 4)
        #expect(asked() == ["fetch Note", "fetch Note", "fetch Note from 3"])
        try await manager.close()
    }

    @Test func `it applies comparisons for equality`() async throws {
        remote["Note"] = [["id": 1, "content": ["title": "milk"]], ["id": 2, "content": ["title": "bread"]]]
        let manager = try await manager()
        let result = try await manager.fetch(ObjectRequest("Note", where: Field("title") == "milk")).remote
        #expect(result.inserted.map(\.description) == ["Note 1"])
        #expect(asked() == ["fetch Note where title = milk"])
        try await manager.close()
    }

    @Test func `it takes writes, and assigns keys`() async throws {
        let manager = try await manager()
        let milk = try await manager.save([.create("Note", values: ["title": "milk"])]).current[0].id
        #expect(milk.description == "Note 1")
        _ = try await manager.save([.update(milk, values: ["title": "bread"])]).remote
        #expect(remote["Note"] == [["content": ["title": "bread"], "id": 1]])
        _ = try await manager.save([.delete(milk)]).remote
        #expect(remote["Note"].isEmpty)
        #expect(
            asked() == [
                #"create Note {"content":{"title":"milk"}}"#, #"update Note {"id":1} {"content":{"title":"bread"}}"#,
                #"delete Note {"id":1}"#,
            ])
        try await manager.close()
    }

    @Test func `it fails on demand, and when it is not reachable`() async throws {
        remote["Note"] = [["id": 1, "content": ["title": "milk"]]]
        let manager = try await manager()
        remote.fail(.authentication, "who are you?", on: .fetch)
        let error = try await #require(throws: RequestError.self) {
            try await manager.fetch(ObjectRequest("Note")).remote
        }
        #expect(error.code == "authentication" && error.message.contains("who are you?"))
        remote.isReachable = false
        let other = try await #require(throws: RequestError.self) {
            try await manager.fetch(ObjectRequest("Note")).remote
        }
        #expect(other.isUnreachable)
        let save = try await manager.save([.create("Note", values: ["title": "bread"])])
        #expect(try await save.remote.values.first?.isRejected == false)
        #expect(try await titles(manager) == ["bread"])
        remote.isReachable = true
        try await manager.retry(try await manager.outbox().map(\.id))
        #expect(try await manager.push().count(.sent) == 1)
        #expect(remote["Note"].count == 2)
        try await manager.close()
    }

    @Test func `a closure sees each request before its answer`() async throws {
        remote.onRequest { request throws(BridgeError) in
            if request.entity == "Note" { throw BridgeError(.permission, "not for you") }
        }
        let manager = try await manager()
        let error = try await #require(throws: RequestError.self) {
            try await manager.fetch(ObjectRequest("Note")).remote
        }
        #expect(error.code == "permission")
        try await manager.close()
    }

    @Test func `a time to live ends when the test moves the clock`() async throws {
        let clock = ManualClock()
        let manager = try await manager(clock: clock)
        let request = ObjectRequest("Note", type: .timeToLive(.seconds(300)))
        _ = try await manager.fetch(request).remote
        clock.advance(by: .seconds(299))
        #expect(try await manager.fetch(request).remote.skipped == .fresh)
        clock.advance(by: .seconds(1))
        #expect(try await manager.fetch(request).remote.skipped == nil)
        #expect(asked() == ["fetch Note", "fetch Note"])
        try await manager.close()
    }

    @Test func `a pause while the remote is not reachable ends when the test moves the clock`() async throws {
        let clock = ManualClock()
        var options = RequestManager.Options()
        options.availability = .wait(atMost: .seconds(3600))
        let manager = try await manager(clock: clock, options: options)
        remote.isReachable = false
        remote["Note"] = [["id": 1, "content": ["title": "milk"]]]
        let fetch = try await manager.fetch(ObjectRequest("Note"))
        await clock.untilAsleep()
        remote.isReachable = true
        clock.advance(by: .seconds(1))
        #expect(try await fetch.remote.inserted.count == 1)
        try await manager.close()
    }
}
