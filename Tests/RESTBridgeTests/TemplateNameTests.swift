import BridgeJSON
import BridgeKit
import RecordBatch
import TestSupport
import Testing

@testable import RESTBridge

/// Variables without their source, conditions beside the section's own query, and what rows and replies to writes mean.
@Suite struct TemplateNameTests {
    private let variables = TemplateVariables(
        parent: (["id": 7, "number": 11, "up": nil] as Literal).options)

    @Test(arguments: [
        ("{number}", "11"), ("issue {number}", "issue 11"), ("{parent.number}", "11"), ("{other}", "{other}"),
        ("query { users {id} }", "query { users {id} }"), (#"{"a": "{number}"}"#, #"{"a": "{number}"}"#),
    ])
    func `an attribute of the parent needs no prefix, except in another language`(text: String, expected: String) {
        #expect(ValueTemplate.expand(text, variables) == expected)
    }

    @Test func `an attribute without a value is one all the same, and a number in a body stays one`() {
        #expect(ValueTemplate.expand("{up}", variables) == nil)
        #expect(ValueTemplate.needed(in: "{up}", variables) == ["up"])
        #expect(ValueTemplate.expandJSON("{number}", variables)?.json == "11")
    }

    private func path(_ filters: Literal, query: Literal = ["q": "type:issue"]) throws -> (path: String, pushed: [Int])
    {
        var request = FetchRequest(
            entity: "User", section: (["path": "/x", "query": query, "filters": filters] as Literal).options,
            filters: [FetchRequest.Filter(attribute: "name", path: "name", comparison: .equal, value: "Ann")])
        request.explains = true
        let bridge = try bridge(["url": "http://127.0.0.1:9"])
        let plan = try Scan(bridge.fetch(request))
        return (plan.records.first ?? "", plan.last?.pushed ?? [])
    }

    @Test func `a condition is added to the section's own query, or not sent`() throws {
        let joined = try path(["name": ["parameter": "q", "value": "name:{value}", "join": " "]])
        #expect(joined.path.contains("q=type%3Aissue%20name%3AAnn\"") && joined.pushed == [0], "\(joined)")
        let alone = try path(["name": "q"])
        #expect(alone.path.contains("q=type%3Aissue\"") && alone.pushed.isEmpty, "\(alone)")
        let other = try path(["name": "name"])
        #expect(other.path.contains("name=Ann") && other.pushed == [0], "\(other)")
    }

    // MARK: Rows

    private func told(_ pages: String, _ more: Literal.Members) throws -> Scan {
        let bridge = try bridge(["url": .text(RemoteServer.shared.get().url)])
        let query: Literal = ["by": "page", "of": .text(pages)]
        return try Scan(source(bridge, .object([("path", "/zoo/told"), ("query", query)] + more)))
    }

    @Test func `a row that equals the names beside the records is data`() throws {
        let scan = try told(
            #"{"": {"columns": ["word"], "rows": [["word"], ["the"], ["word"], ["end"]]}}"#,
            [("columns", "$.columns"), ("records", "$.rows"), ("paging", "none")])
        #expect(scan.records == ["word", "the", "word", "end"].map { #"{"word":"\#($0)"}"# })
        let own = try told(#"{"": [["word"], ["the"], ["word"]]}"#, [("columns", "$[0]"), ("paging", "none")])
        #expect(own.records == ["the", "word"].map { #"{"word":"\#($0)"}"# })
    }

    // MARK: The Confirmed End

    @Test func `a token is kept where a missing page confirms the end`() throws {
        let scan = try told(
            #"{"1": {"items": [{"id": 1}], "sync_token": "T1"}}"#,
            [
                ("records", "$.items"), ("paging", ["style": "page", "size": 10]),
                ("incremental", ["token": "$.sync_token", "parameter": "sync_token"]),
            ])
        #expect(scan.ids == [1] && scan.pages.count == 2 && scan.last?.isComplete == true, "\(scan)")
        #expect(scan.last?.token?.contains("T1") == true)
    }

    // MARK: Replies to Writes

    private static let apis = Result { try RemoteServer.fixture("apis.py") }

    private func create(_ query: Literal, section: String = "/says") throws -> String? {
        let bridge = try bridge(["url": .text(Self.apis.get().url)])
        let writer = RecordBatchWriter()
        let write: Literal = ["path": .text(section), "write": ["create": ["query": query]]]
        try bridge.write(
            WriteRequest(
                .create, entity: "Note", section: write.options, key: ([:] as Literal).options,
                values: (["text": "a"] as Literal).options, object: ([:] as Literal).options), into: writer)
        let batch = try writer.finish()
        return batch.count > 0 ? batch[0].json : nil
    }

    @Test func `only Location beside 201 is that of the new object`() throws {
        let location = "/says?body=%7B%22id%22:7%7D"
        #expect(try create(["status": "201", "body": "", "h-Location": .text(location)]) == #"{"id":7}"#)
        #expect(try create(["status": "200", "body": "", "h-Location": .text(location)]) == nil)
        // The host then searches for the object: the location may be that of a job.
        #expect(try create(["status": "202", "body": "", "h-Location": .text(location)]) == nil)
    }

    @Test(arguments: [
        (#"{"status": "error", "message": "quota exceeded"}"#, true), (#"{"status": "error"}"#, true),
        (#"{"status": "fail", "data": {"text": "too short"}}"#, true), (#"{"id": 7, "status": "error"}"#, false),
        (#"{"status": "failed", "name": "job"}"#, false), (#"{"status": "ok", "message": "done"}"#, false),
    ])
    func `a status of failure in the reply to a write is one`(body: String, isFailure: Bool) throws {
        let error: BridgeError?
        do {
            _ = try create(["body": .text(body)])
            error = nil
        } catch let failure as BridgeError { error = failure }
        #expect((error?.code == .remote) == isFailure && (error == nil) == !isFailure, "\(String(describing: error))")
    }

    @Test func `the path of writes ends before the query of the listing's template`() throws {
        #expect(try create(["body": #"{"id": 3}"#], section: "/says{?since}") == #"{"id":3}"#)
    }
}
