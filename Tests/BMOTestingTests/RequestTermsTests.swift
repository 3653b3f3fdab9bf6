import BMO
import BMOTesting
import Foundation
import Model
import Synchronization
import TestSupport
import Testing

/// What a request says beyond which objects it is about: user info, parameters, fields, page size.
@Suite struct RequestTermsTests {
    private struct Screen: Codable, Equatable {
        var name: String
        var language: String
    }

    private let remote = ScriptedRemote()
    private let search = Screen(name: "search", language: "fr")

    private func withManager(
        options: RequestManager.Options = .init(), clock: any _Concurrency.Clock<Duration> = ContinuousClock(),
        _ body: (RequestManager) async throws -> Void
    ) async throws {
        let definition = ModelDefinition(
            database: "notes.sqlite", bridges: ["api": .plugin("rest")],
            entities: [
                EntityDefinition(
                    "Note", bridge: "api", key: "id",
                    attributes: [
                        "id": .integer, "title": .text.from("content.title"), "body": .text.from("content.body"),
                        "stars": .integer,
                    ],
                    section: ["path": "/notes"])
            ])
        let manager = try await RequestManager.testing(definition, remote: remote, clock: clock, options: options)
        do {
            try await body(manager)
        } catch {
            try? await manager.close()
            throw error
        }
        try await manager.close()
    }

    private func note(_ id: Int64, _ title: String, _ body: String? = nil) -> ConfigValue {
        let content: ConfigValue =
            body.map { ["title": .string(title), "body": .string($0)] } ?? ["title": .string(title)]
        return ["id": .int(id), "content": content]
    }

    private func asked() -> [String] { remote.takeRequests().map(\.description) }

    @Test func `a user info reaches the bridge, and comes back with the result`() async throws {
        remote["Note"] = [note(1, "milk")]
        try await withManager { manager in
            var request = ObjectRequest("Note")
            request.userInfo = try UserInfo(search)
            let fetch = try await manager.fetch(request)
            let result = try await fetch.remote
            #expect(result.userInfo?.value(as: Screen.self) == search)
            #expect(result.inserted.count == 1)
            #expect(asked() == [#"fetch Note for {"language":"fr","name":"search"}"#])
            var events: [RequestEvent] = []
            for await event in fetch.events { events.append(event) }
            guard case .finished(let last)? = events.last else {
                Issue.record("\(events)")
                return
            }
            #expect(last.userInfo == request.userInfo)
            let plans = events.compactMap { if case .translated(let plan) = $0 { plan } else { nil } }
            #expect(plans.map(\.hasUserInfo) == [true] && plans.map(\.extent) == [.pages])
        }
    }

    @Test func `a user info comes with the error, also to the policy that decides about it`() async throws {
        let seen = Mutex<[Screen]>([])
        var options = RequestManager.Options()
        options.availability = .decide { failure, _ in
            if let screen = failure.userInfo?.value(as: Screen.self) { seen.withLock { $0.append(screen) } }
            return nil
        }
        remote.isReachable = false
        try await withManager(options: options) { manager in
            var request = ObjectRequest("Note")
            request.userInfo = try UserInfo(search, delivery: .never)
            let fetch = try await manager.fetch(request)
            let error = try await #require(throws: RequestError.self) { try await fetch.remote }
            #expect(error.isUnreachable && error.userInfo == request.userInfo)
            #expect(seen.withLock { $0 } == [search])
            #expect(asked() == ["fetch Note"], "the program alone has it")
            // What a person reads has none of it.
            #expect(!"\(error)\(request)".contains("search"))
        }
    }

    @Test func `what a bridge brings for a user info deletes nothing, and is not shared with others`() async throws {
        remote["Note"] = [note(1, "milk"), note(2, "bread")]
        let clock = ManualClock()
        try await withManager(clock: clock) { manager in
            _ = try await manager.fetch(ObjectRequest("Note")).remote
            remote["Note"].removeLast()
            var request = ObjectRequest("Note", type: .timeToLive(.seconds(300)))
            request.userInfo = try UserInfo(search)
            let result = try await manager.fetch(request).remote
            #expect(result.deleted.isEmpty && result.unchangedCount == 1)
            #expect(try await manager.fetch(request).remote.skipped == .fresh)
            request.userInfo = try UserInfo(Screen(name: "search", language: "de"))
            #expect(try await manager.fetch(request).remote.skipped == nil)
            request.userInfo = nil
            // The first one was without a user info.
            #expect(try await manager.fetch(request).remote.skipped == .fresh)
            #expect(try await manager.fetch(ObjectRequest("Note")).remote.deleted.count == 1)
        }
    }

    private func code(_ value: some Encodable & Sendable) -> UserInfo.Fault.Code? {
        let outcome = Result<UserInfo, any Error> { try UserInfo(value) }
        guard case .failure(let error) = outcome else { return nil }
        return (error as? UserInfo.Fault)?.code
    }

    @Test func `a value that cannot be a user info is refused with its fault`() throws {
        struct Deep: Encodable {
            var level: Int
            func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: Key.self)
                if level > 1 { try container.encode(Deep(level: level - 1), forKey: .next) }
            }
            enum Key: CodingKey { case next }
        }
        #expect(code("text") == .notAnObject && code([1, 2]) == .notAnObject)
        #expect(code(["x": Double.nan]) == .notEncodable)
        #expect(code(["x": String(repeating: "x", count: UserInfo.maxSize)]) == .tooLarge)
        #expect(code(["x": String(repeating: "[\"", count: 100)]) == nil, "brackets in a text are no levels")
        #expect(code(Deep(level: UserInfo.maxDepth)) == nil && code(Deep(level: UserInfo.maxDepth + 1)) == .tooDeep)
    }

    @Test func `parameters go with one request alone`() async throws {
        remote["Note"] = [note(1, "milk"), note(2, "bread")]
        try await withManager { manager in
            _ = try await manager.fetch(ObjectRequest("Note")).remote
            remote["Note"].removeLast()
            var request = ObjectRequest("Note", where: Field("stars") > 1)
            request.parameters = ["lang": "fr", "draft": true, "depth": 2]
            let result = try await manager.fetch(request).remote
            #expect(result.deleted.isEmpty)
            #expect(
                asked() == ["fetch Note", #"fetch Note where stars > 1 with {"depth":2,"draft":true,"lang":"fr"}"#])
            request.parameters = ["x": .json("{}")]
            let fault = try await #require(throws: RequestError.self) { try await manager.fetch(request).remote }
            #expect(fault.code == "request" && fault.message == "the parameter \"x\" is not a plain value")
            request.parameters = ["x": .text(String(repeating: "x", count: 20_000))]
            let limit = try await #require(throws: RequestError.self) { try await manager.fetch(request).remote }
            #expect(limit.code == "limit" && limit.message.contains("20001 bytes"), "\(limit)")
            #expect(asked().isEmpty)
        }
    }

    @Test func `needed fields are asked for, and what is left out stays as it is`() async throws {
        remote["Note"] = [note(1, "milk", "two litres")]
        try await withManager { manager in
            _ = try await manager.fetch(ObjectRequest("Note")).remote
            #expect(remote.takeRequests().map(\.fields) == [["id", "content.title", "content.body", "stars"]])
            // As a remote answers that selects.
            remote["Note"] = [note(1, "oat milk"), note(2, "bread")]
            var request = ObjectRequest("Note", sort: ["stars"])
            request.fields = ["title"]
            let result = try await manager.fetch(request).remote
            #expect(remote.takeRequests().map(\.fields) == [["id", "content.title", "stars"]])
            #expect(result.updated.flatMap(\.properties).map(\.name) == ["title"])
            #expect(try await manager.get("Note", 1)?["body"] == "two litres")
            #expect(try await manager.get("Note", 2)?["body"] == .null)
            // For a sync, what the listing had before and has no more is null.
            _ = try await manager.fetch(ObjectRequest("Note")).remote
            #expect(try await manager.get("Note", 1)?["body"] == .null)

            request.fields = ["titel"]
            let error = try await #require(throws: RequestError.self) { try await manager.fetch(request).remote }
            #expect(error.message == "Note has no attribute or relationship \"titel\"" && error.code == "request")
        }
    }

    @Test func `a page has the size that the request says`() async throws {
        remote["Note"] = (1...5).map { note($0, "note") }
        try await withManager { manager in
            var request = ObjectRequest("Note")
            request.pageSize = 2
            let result = try await manager.fetch(request).remote
            #expect(result.pageCount == 3 && result.isComplete)
            // It is the listing of a sync.
            remote["Note"].removeLast()
            #expect(try await manager.fetch(request).remote.deleted.count == 1)
            request.pageSize = 0
            let error = try await #require(throws: RequestError.self) { try await manager.fetch(request).remote }
            #expect(error.code == "request" && error.message == "a page cannot have 0 records")
        }
    }

    @Test func `a list has the terms of its request with each page`() async throws {
        remote["Note"] = (1...3).map { note($0, "note") }
        try await withManager { manager in
            var request = ObjectRequest("Note")
            request.userInfo = try UserInfo(search)
            request.parameters = ["folder": "inbox"]
            request.pageSize = 2
            let loader = try await manager.collection(request, keptAs: "inbox")
            let page = try await loader.loadFirst()
            #expect(page?.result.userInfo?.value(as: Screen.self) == search && page?.objects.count == 2)
            try await loader.loadNext()
            let terms = #"with {"folder":"inbox"} for {"language":"fr","name":"search"}"#
            #expect(asked() == ["fetch Note \(terms)", "fetch Note \(terms) from 2"])
            #expect(try await manager.collection(request, keptAs: "inbox").objects.count == 3)
            // Another folder is another list.
            request.parameters = ["folder": "sent"]
            #expect(try await manager.collection(request, keptAs: "inbox").objects.isEmpty)
        }
    }
}
