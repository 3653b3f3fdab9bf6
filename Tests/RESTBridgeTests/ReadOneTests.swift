import BridgeKit
import RecordBatch
import TestSupport
import Testing

@testable import RESTBridge

/// Requests for one object: a reply without it is complete only if it says that the object does not exist.
@Suite struct ReadOneTests {
    let server: RemoteServer

    private static let shared = Result { try RemoteServer.fixture("apis.py") }

    init() throws { server = try Self.shared.get() }

    private func scan(
        _ section: Literal.Members, _ body: String, status: Int = 200, readsOne: Bool = true,
        readsDetails: Bool = false,
        keyPaths: [String] = []
    ) throws -> Scan {
        let bridge = try RESTBridgeTests.bridge(["url": .text(server.url)])
        let query: Literal = ["body": .text(body), "status": .integer(Int64(status))]
        var request = FetchRequest(
            entity: "User", section: Literal.object([("query", query)] + section).options)
        request.parent = (["id": 7, "place": "says"] as Literal).options
        request.readsOne = readsOne
        request.readsDetails = readsDetails
        request.keyPaths = keyPaths
        return try Scan(bridge.fetch(request))
    }

    private static let empty: [(body: String, section: Literal.Members)] = [
        ("{}", []), ("[]", []), ("{}", [("records", "$.user")]), (#"{"user": []}"#, [("records", "$.user")]),
        (#"{"user": null}"#, [("records", "$.user")]), (#"{"total": 0}"#, [("records", "$.users")]),
    ]

    @Test(arguments: empty)
    func `an empty reply at the object's address is not complete`(body: String, section: Literal.Members) throws {
        let scan = try scan([("path", "/says")] + section, body)
        #expect(scan.records.isEmpty && scan.last?.isComplete == false, "\(scan)")
        #expect(scan.warnings.count == 1, "\(scan)")
    }

    @Test func `the warning names what to do`() throws {
        let scan = try scan([("path", "/says")], "{}")
        #expect(
            scan.warnings == [
                "page 1 of User: the reply 200 has no object, and does not say that the object does not exist: have the "
                    + "remote answer 404 or 410, or, if this reply means that, say so under responses: "
                    + "{when: {path: ..., missing: true}, action: empty}"
            ])
    }

    @Test func `a reply 204 is not complete`() throws {
        #expect(try scan([("path", "/says")], "", status: 204).last?.isComplete == false)
    }

    @Test func `the same replies are empty listings`() throws {
        for (body, section) in Self.empty where !body.contains("null") {
            let scan = try scan([("path", "/says")] + section, body, readsOne: false)
            #expect(scan.records.isEmpty && scan.last?.isComplete == true, "\(body): \(scan)")
        }
    }

    private static let searches: [Literal.Members] = [
        [("path", "/says?user={parent.id}")], [("path", "/says{?parent.id}")],
        [("path", "/says"), ("records", "$.users[?@.name=='{parent.id}']")],
    ]

    @Test(arguments: searches)
    func `an empty list is the answer to a search by the key`(section: Literal.Members) throws {
        let isFiltered = section.contains { $0.0 == "records" }
        let scan = try scan(section, isFiltered ? #"{"users": []}"# : "[]")
        #expect(scan.records.isEmpty && scan.last?.isComplete == true, "\(scan)")
        #expect(scan.warnings.isEmpty, "\(scan)")
    }

    @Test func `a search that the remote has only accepted does not say that the object does not exist`() throws {
        let section: Literal.Members = [("path", "/says{?parent.id}")]
        #expect(try scan(section, "[]", status: 202).last?.isComplete == false)
        let found = try scan(section, #"[{"id": 7}]"#, status: 202)
        #expect(found.ids == [7] && found.last?.isComplete == true && found.warnings.isEmpty, "\(found)")
    }

    @Test func `the query of the object's own address does not make it a search`() throws {
        #expect(try scan([("path", "/{parent.place}?of={parent.id}")], "[]").last?.isComplete == false)
    }

    @Test func `an empty object does not answer a search by the key, unless it counts no records`() throws {
        let section: Literal.Members = [("path", "/says{?parent.id}")]
        #expect(try scan(section, "{}").last?.isComplete == false)
        #expect(try scan(section, #"{"total": 0}"#).last?.isComplete == true)
    }

    @Test func `a rule says that the object does not exist`() throws {
        let missing: Literal = [["when": ["path": "$.id", "missing": true], "action": "empty"]]
        #expect(try scan([("path", "/says"), ("responses", missing)], "{}").last?.isComplete == true)
        let ignored: Literal = [["status": 404, "action": "ignore"]]
        let section: Literal.Members = [("path", "/says"), ("paging", "none"), ("responses", ignored)]
        #expect(try scan(section, "{}", status: 404).last?.isComplete == true)
    }

    /// Replies with the object whose `text` is `it`, and the paths of its key.
    private static let objects: [(body: String, keyPaths: [String])] = [
        (#"{"id": 7, "items": [{"id": 7, "text": "a line"}], "text": "it"}"#, ["id"]),
        (#"{"id": 7, "tags": [{"id": 1}], "data": {"id": 8}, "text": "it"}"#, []),
        (#"{"id": "request-1", "data": {"id": 7, "lines": [{"id": 7}], "text": "it"}}"#, ["id"]),
        (#"{"ok": true, "order": {"id": 7, "lines": [{"id": 7}], "text": "it"}}"#, ["id"]),
        (#"{"data": {"order": {"id": 7, "lines": {"nodes": [{"id": 7}]}, "text": "it"}}}"#, ["id"]),
        (#"{"id": "eu-7", "items": [{"id": 7}], "text": "it"}"#, ["id"]),
        (#"{"data": {"id": 7, "lines": [{"id": 7}], "text": "it"}}"#, ["id"]),
        (#"{"order": {"id": 7, "lines": [{"id": 7}], "text": "it"}}"#, ["id"]),
        (#"{"meta": {"no-1": "x"}, "items": [{"meta": {"no-1": "x"}}], "text": "it"}"#, ["meta.no-1"]),
    ]

    @Test(arguments: objects, [true, false])
    func `a list inside an object is not taken for the object`(
        reply: (body: String, keyPaths: [String]), readsOne: Bool
    ) throws {
        let scan = try scan(
            [("path", "/says")], reply.body, readsOne: readsOne, readsDetails: !readsOne, keyPaths: reply.keyPaths)
        #expect(scan.records.count == 1 && scan.records.first?.hasSuffix(#""text":"it"}"#) == true, "\(scan)")
        #expect(scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    @Test(arguments: [#"{"items": [{"id": 7}]}"#, #"{"id": "r-1", "jsonrpc": "2.0", "result": [{"id": 7}]}"#])
    func `the records of a reply that is not an object are still found`(body: String) throws {
        #expect(try scan([("path", "/says")], body, keyPaths: ["id"]).ids == [7])
    }

    @Test func `the id of a search is not that of an object`() throws {
        let section: Literal.Members = [("path", "/says{?parent.id}")]
        let found = try scan(section, #"{"id": "search-1", "items": [{"id": 7}]}"#, keyPaths: ["id"])
        #expect(found.records == [#"{"id":7}"#], "\(found)")
        let none = try scan(section, #"{"id": "search-1", "items": []}"#, keyPaths: ["id"])
        #expect(none.records.isEmpty && none.last?.isComplete == true, "\(none)")
        let bundle = #"{"resourceType": "Bundle", "id": "b-1", "entry": [{"resource": {"id": 7}}]}"#
        #expect(try scan(section, bundle, keyPaths: ["id"]).records == [#"{"id":7}"#])
    }
}
