import BridgeKit
import RESTBridge
import RecordBatch
import Testing

/// What `bmo check` can say of a section without any request.
@Suite struct SectionJudgeTests {
    private func faults(_ section: Literal, parent: Literal? = nil) throws -> [String] {
        // Nobody listens there.
        let bridge = try bridge(["url": "http://127.0.0.1:1"])
        var request = FetchRequest(entity: "User", section: section.options, parent: parent?.options)
        request.judges = true
        let source = try bridge.fetch(request)
        let writer = RecordBatchWriter()
        let page = try source.next(into: writer)
        #expect(page.isEnd)
        let batch = try writer.finish()
        return (0..<batch.count).map { "\(batch[$0]["key"]?.text ?? "-"): \(batch[$0]["message"]?.text ?? "")" }
    }

    @Test func `all faults are told at once, each with its key`() throws {
        let faults = try faults([
            "path": "/users{", "records": "$..items", "paging": ["style": "cursor"],
            "headers": ["Bad Header": "x"], "filters": ["name": ["~": "q"]],
            "responses": [["status": 999, "action": "fail"]], "metadata": ["a": "b c"],
            "header_fields": ["etag": "$.x"], "query": ["q": "{parent.name}"],
            "write": ["create": ["path": "/x("], "delete": [:]],
        ])
        #expect(
            faults.map { String($0.prefix { $0 != ":" }) } == [
                "path", "records", "paging.path", "headers", "filters.name", "responses", "metadata.a",
                "header_fields.etag", "write.create.path", "query",
            ], "\(faults)")
    }

    @Test func `a good section has none, with a parent of names`() throws {
        #expect(try faults(["path": "/users(/{since})", "query": ["f": "{a}"], "paging": "auto"]).isEmpty)
        let child: Literal = ["path": "/teams/{parent.id}/users", "query": ["team": "{parent.name}"]]
        #expect(try faults(child, parent: ["id": "Team.id", "name": "Team.name"]).isEmpty)
        #expect(
            try faults(child, parent: ["id": "Team.id"]) == ["query: query: {parent.name} never has a value"])
        #expect(try faults(child).map { String($0.prefix(8)) } == ["path: pa", "query: q"])
    }

    @Test func `what only the whole makes wrong is told of the whole`() throws {
        #expect(
            try faults(["records": "$.data", "paging": ["style": "next_url", "path": "$.data.next"]])
                == ["-: the paging path $.data.next lies inside the records at $.data"])
    }
}
