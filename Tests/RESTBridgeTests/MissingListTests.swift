import BridgeKit
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// Replies without the list that a filter, an index or a wildcard in `records` selects from: none of them is an empty
/// listing, whose absent rows are deleted.
@Suite struct MissingListTests {
    let bridge: RESTBridge

    init() throws {
        bridge = try RESTBridgeTests.bridge(["url": "\(RemoteServer.shared.get().url)/zoo"])
    }

    /// A scan of one page that the zoo serves as it is written here.
    ///
    /// - Parameter surroundings: The paths that the host reads from the objects around a record.
    private func scan(
        _ reply: String, _ records: String, paging: Literal = "none", surroundings: [String] = [],
        _ more: Literal.Members = []
    ) throws -> Scan {
        let section: Literal.Members = [
            ("path", "told"), ("query", ["by": "x", "of": .text(#"{"": \#(reply)}"#)]), ("paging", paging),
            ("records", .text(records)),
        ]
        var request = FetchRequest(entity: "User", section: Literal.object(section + more).options)
        request.surroundings = surroundings
        return try Scan(bridge.fetch(request))
    }

    private static let faults: [(String, String, String)] = [
        ("$.d[?@.t=='x']", #"{"d": {"message": "busy"}}"#, "an object where $.d[?@.t=='x'] needs a list"),
        ("$[0].items", #"{"message": "busy"}"#, "an object where $[0].items needs a list"),
        (
            "$.d[*].l[?@.t=='x']", #"{"d": [{"l": [{"t": "x", "id": 1}]}, {"l": {"m": 1}}]}"#,
            "an object where $.d[*].l[?@.t=='x'] needs a list"
        ),
        ("$.d[0].items", #"{"d": []}"#, "nothing at $.d[0].items"),
        ("$.d[0].items", #"{"d": [{"message": "busy"}]}"#, "nothing at $.d[0].items"),
        ("$.d[?@.t=='x']", #"{"message": "busy"}"#, "nothing at $.d[?@.t=='x']"),
        ("$.d[*].a", #"{"d": "busy"}"#, "nothing at $.d[*].a"),
    ]

    @Test(arguments: faults, ["none", "auto"] as [Literal])
    func `an index or a filter needs a list`(fault: (String, String, String), paging: Literal) throws {
        let error = try bridgeError { _ = try scan(fault.1, fault.0, paging: paging) }
        #expect(error.code == .malformed)
        #expect(error.message.hasPrefix("page 1 of User: the reply has \(fault.2)"), "\(error)")
        #expect(error.remedy != nil)
    }

    private static let lacking: [(String, String)] = [
        ("$.d[*].a", #"{"d": [{"b": [{"id": 1}]}]}"#), ("$.d[*].a", #"{"d": {"a": [{"id": 1}]}}"#),
        ("$.d[*].a", #"{"d": ["busy"]}"#), ("$.d[?@.t=='x'].items", #"{"d": [{"t": "x"}]}"#),
        ("$.d[*].a[*]", #"{"d": [{"b": [{"id": 1}]}]}"#),
    ]

    @Test(arguments: lacking, [[], ["@parent.id"]])
    func `a list without an element that has the rest of the path deletes nothing until a rule allows it`(
        reply: (String, String), surroundings: [String]
    ) throws {
        let (records, text) = reply
        let plain = try scan(text, records, surroundings: surroundings)
        #expect(plain.records.isEmpty && plain.last?.isComplete == false, "\(plain)")
        #expect(plain.warnings.first?.contains("no element of the list on the path \(records)") == true, "\(plain)")
        let rule: Literal = ["when": ["path": .text(records), "missing": true], "action": "accept"]
        let allowed = try scan(text, records, surroundings: surroundings, [("responses", [rule])])
        #expect(allowed.records.isEmpty && allowed.last?.isComplete == true && allowed.warnings.isEmpty, "\(allowed)")
    }

    private static let empty: [(String, String)] = [
        ("$.d[?@.t=='x']", #"{"d": []}"#), ("$.d[?@.t=='x']", #"{"d": [{"t": "y", "id": 1}]}"#),
        ("$.d[?@.t=='x'].items", #"{"d": [{"t": "y"}]}"#), ("$.d[*].a", #"{"d": []}"#),
        ("$.d[*].a", #"{"d": [{"a": []}, {"b": 1}]}"#), ("$.d.*", #"{"d": []}"#), ("$.d.*", #"{"d": {}}"#),
        ("$[0].items", #"[{"items": []}]"#), ("$.d[?@.t=='x']", "{}"), ("$[?@.t=='x']", #"{"total": 0}"#),
        ("$.d[*].a[?@.t=='x']", #"{"d": [{"a": [{"t": "y"}]}]}"#),
    ]

    @Test(arguments: empty, [[], ["@parent.id"]])
    func `a list without records is complete`(reply: (String, String), surroundings: [String]) throws {
        let scan = try scan(reply.1, reply.0, surroundings: surroundings)
        #expect(scan.records.isEmpty && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    @Test func `an object in place of an inner list is an error where rows read the objects around them`() throws {
        let error = try bridgeError {
            _ = try scan(
                #"{"d": [{"id": 1, "a": {"m": 1}}]}"#, "$.d[*].a[?@.t=='x']", surroundings: ["@parent.id"])
        }
        #expect(error.message == "page 1 of User: the reply has an object where $.d[*].a[?@.t=='x'] needs a list")
    }

    @Test(arguments: [[], ["@parent.id"]])
    func `an object with the filter's member stands for a list of it`(surroundings: [String]) throws {
        for (word, ids) in [("x", [7]), ("y", [])] {
            let reply = #"{"d": [{"id": 1, "a": {"t": "\#(word)", "id": 7}}]}"#
            let scan = try scan(reply, "$.d[*].a[?@.t=='x']", surroundings: surroundings)
            #expect(scan.ids == ids && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
        }
    }

    @Test func `an object behind an index is not an element of a filtered list`() throws {
        let error = try bridgeError { _ = try scan(#"{"d": [{"message": "busy"}]}"#, "$.d[0][?@.kind=='a']") }
        #expect(error.message.contains("needs a list"), "\(error)")
    }

    @Test func `a later page whose elements have no records does not make the listing incomplete`() throws {
        let pages = #"{"1": {"d": [{"a": [{"id": 1}]}]}, "2": {"d": [{"b": 1}]}, "3": {"d": []}}"#
        let section: Literal = [
            "path": "told", "query": ["by": "page", "of": .text(pages)], "paging": ["style": "page"],
            "records": "$.d[*].a",
        ]
        let scan = try Scan(source(bridge, section))
        #expect(scan.ids == [1] && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }
}
