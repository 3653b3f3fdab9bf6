import BridgeKit
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// What `incremental.deleted` leads to: none of it is dropped in silence, as the token goes on.
@Suite struct DeletedListTests {
    let bridge: RESTBridge

    init() throws {
        bridge = try RESTBridgeTests.bridge(["url": "\(RemoteServer.shared.get().url)/zoo"])
    }

    /// A scan whose reply has this in the place of the list.
    private func scan(_ deleted: String, at path: String = "$.gone") throws -> Scan {
        let reply = #"{"": {"items": [{"id": 1}], "sync_token": "t1", "gone": \#(deleted)}}"#
        let section: Literal = [
            "path": "told", "query": ["by": "since", "of": .text(reply)], "records": "$.items", "paging": "none",
            "incremental": ["token": "$.sync_token", "parameter": "since", "deleted": .text(path)],
        ]
        return try Scan(bridge.fetch(FetchRequest(entity: "User", section: section.options)))
    }

    /// What the host gets, as JSON.
    private func deleted(_ scan: Scan) throws -> [String] {
        let writer = RecordBatchWriter()
        for object in try #require(scan.last).deleted { object.write(to: writer) }
        let batch = try writer.finish()
        return (0..<batch.count).map { batch[$0].json }
    }

    @Test(arguments: [
        (#"[{"id": 7}, {"id": 8}]"#, [#"{"id":7}"#, #"{"id":8}"#]), (#"{"id": 7}"#, [#"{"id":7}"#]),
        ("[7, 8]", [#"{"@value":7}"#, #"{"@value":8}"#]), (#"[{"id": 7}, 8]"#, [#"{"id":7}"#, #"{"@value":8}"#]),
        ("[null]", [#"{"@value":null}"#]), (#"[{"id": 7}, null]"#, [#"{"id":7}"#, #"{"@value":null}"#]),
        ("[]", []), ("null", []),
    ])
    func `each element of the list reaches the host`(list: String, expected: [String]) throws {
        let scan = try scan(list)
        #expect(scan.ids == [1])
        #expect(try deleted(scan) == expected)
        #expect(scan.last?.token == #"{"delta":"t1"}"#)
    }

    @Test(arguments: [("7", "$.gone"), (#""7""#, "$.gone"), ("true", "$.gone"), (#"[{"id": 7}]"#, "$.gone[*].id")])
    func `a scalar in place of the list is an error`(value: String, path: String) throws {
        let error = try bridgeError { _ = try scan(value, at: path) }
        #expect(error.code == .malformed)
        #expect(error.message.hasPrefix("page 1 of User: the reply has no list of objects at \(path)"), "\(error)")
        #expect(error.remedy == "let the path lead to a list of objects that have the key")
    }

    @Test func `a reply without the list reports nothing`() throws {
        #expect(try deleted(scan("[]", at: "$.nowhere")).isEmpty)
    }
}
