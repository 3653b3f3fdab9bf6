import BMO
import BMOTesting
import SQLiteStore
import TestSupport
import Testing

/// What a manager does during and after its end.
@Suite struct ClosedManagerTests {
    private let remote = ScriptedRemote()
    private let request = ObjectRequest("Note")

    init() { remote["Note"] = [["id": 1, "title": "a"]] }

    private func definition(_ database: String) -> ModelDefinition {
        ModelDefinition(
            database: database, bridges: ["api": .plugin("rest")],
            entities: [
                EntityDefinition(
                    "Note", bridge: "api", key: "id",
                    attributes: ["id": .integer.with("write", false), "title": .text], section: ["path": "/notes"],
                    settings: ["writable": true])
            ])
    }

    @Test(arguments: [false, true])
    func `each call of a closed manager says that it is closed`(isFile: Bool) async throws {
        let request = request
        let folder = try TemporaryFolder()
        let definition = definition(folder.appending("notes.sqlite"))
        let manager =
            isFile
            ? try await RequestManager(definition, stores: SQLiteStores(), bridges: remote.bridges("rest"))
            : try await RequestManager.testing(definition, remote: remote)
        let fetch = try await manager.fetch(request)
        _ = try await fetch.remote
        let observation = try manager.observe(request)
        let loader = try manager.collection(request)
        try await manager.close()
        try await manager.close()
        let calls: [(name: String, call: @Sendable () async throws -> Void)] = [
            ("objects", { _ = try await manager.objects(request) }),
            ("count", { _ = try await manager.count(request) }),
            ("get", { _ = try await manager.get("Note", 1) }), ("fetch", { _ = try await manager.fetch(request) }),
            ("objects of a fetch", { _ = try await fetch.objects() }),
            ("cursor", { for try await _ in manager.cursor(request) {} }),
            ("observe", { _ = try manager.observe(request) }),
            ("save", { _ = try await manager.save([.create("Note", values: ["title": "b"])]) }),
            ("push", { _ = try await manager.push() }), ("sync", { _ = try await manager.sync() }),
            ("runs", { _ = try await manager.runs() }), ("changes", { _ = try await manager.changes(of: 1) }),
            ("undo", { _ = try await manager.undo(run: 1) }), ("outbox", { _ = try await manager.outbox() }),
            ("retry", { try await manager.retry([1]) }), ("drop", { try await manager.drop([1]) }),
            ("conflicts", { _ = try await manager.conflicts() }),
            ("collection", { _ = try manager.collection(request) }),
            ("kept collection", { _ = try await manager.collection(request, keptAs: "all") }),
            ("collections", { _ = try await manager.collections() }),
            ("forget", { try await manager.forgetCollection("all", of: "Note") }),
            ("load", { _ = try await loader.loadFirst() }), ("objects of a list", { _ = try await loader.objects }),
        ]
        for (name, call) in calls {
            let error = try await #require(throws: RequestError.self, "\(name)") { try await call() }
            #expect(error.code == "closed", "\(name): \(error)")
        }
        var changes = observation.makeAsyncIterator()
        #expect(try await changes.next() == nil)
        var list = try loader.changes().makeAsyncIterator()
        #expect(try await list.next() == nil)
    }

    @Test func `a save that the end overtakes is kept only if the remote accepts it`() async throws {
        let folder = try TemporaryFolder()
        for round in 0..<20 {
            let definition = definition(folder.appending("\(round).sqlite"))
            let manager = try await RequestManager(definition, stores: SQLiteStores(), bridges: remote.bridges("rest"))
            let saving = Task {
                try await manager.save([.create("Note", values: ["title": "b"])], workflow: .acceptedOnly).remote
            }
            for _ in 0..<round { await Task.yield() }
            try await manager.close()
            let outcomes = try? await saving.value
            let isSent = outcomes?.values.first?.kind == .sent
            let next = try await RequestManager(definition, stores: SQLiteStores(), bridges: remote.bridges("rest"))
            #expect(try await next.outbox().isEmpty, "round \(round): \(String(describing: outcomes))")
            #expect(try await next.count(request) == (isSent ? 1 : 0), "round \(round)")
            try await next.close()
        }
    }
}
