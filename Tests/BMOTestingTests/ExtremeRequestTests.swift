import BMO
import BMOTesting
import Testing

/// Numbers at the ends of their ranges, which a program may pass.
@Suite struct ExtremeRequestTests {
    private let remote = ScriptedRemote()

    init() { remote["Note"] = [["id": 1, "title": "a"], ["id": 2, "title": "b"]] }

    private func manager(_ options: RequestManager.Options = .init()) async throws -> RequestManager {
        let definition = ModelDefinition(
            database: "notes.sqlite", bridges: ["api": .plugin("rest")],
            entities: [
                EntityDefinition(
                    "Note", bridge: "api", key: "id",
                    attributes: ["id": .integer, "title": .text, "stars": .integer], section: ["path": "/notes"])
            ])
        return try await RequestManager.testing(definition, remote: remote, options: options)
    }

    @Test(arguments: [
        (Int.max, 1, 1), (Int.max, Int.max, 0), (-1, 0, 0), (-1, Int.min, 0), (5, Int.min, 2), (0, Int.max, 0),
    ])
    func `limits and offsets of any size are answered`(limit: Int, offset: Int, count: Int) async throws {
        let manager = try await manager()
        _ = try await manager.fetch(ObjectRequest("Note")).remote
        let request = ObjectRequest("Note", limit: limit, offset: offset)
        #expect(try await manager.fetch(request).local.count == count)
        _ = try await manager.fetch(request).remote
        #expect(try await manager.objects(request).count == count)
        try await manager.close()
    }

    @Test(arguments: [(-1, 0, 0), (Int.min, 0, 0), (Int.max, 2, 1)])
    func `a result lists as many objects as the limit says`(limit: Int, inserted: Int, quarantined: Int) async throws {
        remote["Note"].append(["id": 3, "stars": "many"])
        var options = RequestManager.Options()
        options.detailLimit = limit
        let manager = try await manager(options)
        let result = try await manager.fetch(ObjectRequest("Note")).remote
        #expect(result.inserted.count == inserted && result.quarantined.count == quarantined)
        #expect(result.counts["Note"]?.inserted == 2)
        #expect(result.isTruncated == (inserted == 0))
        try await manager.close()
    }

    @Test func `a number of runs below zero is as zero`() async throws {
        let manager = try await manager()
        _ = try await manager.fetch(ObjectRequest("Note")).remote
        #expect(try await manager.runs(limit: -1).isEmpty)
        #expect(try await manager.runs(limit: .max).count == 1)
        try await manager.close()
    }

    @Test(arguments: [0, -4])
    func `a page of a list has at least one record`(size: Int) async throws {
        let manager = try await manager()
        let error = try #require(throws: RequestError.self) {
            try manager.collection(ObjectRequest("Note"), options: .init(pageSize: size))
        }
        #expect(error.code == "request" && error.message == "a page cannot have \(size) records")
        let loader = try manager.collection(ObjectRequest("Note"), options: .init(pageSize: .max))
        #expect(try await loader.loadFirst()?.objects.count == 2)
        try await manager.close()
    }
}
