import BridgeKit
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// Records and replies that would fill the memory: limits with names.
@Suite struct RecordLimitTests {
    let server: RemoteServer

    init() throws { server = try RemoteServer.shared.get() }

    private func scan(_ body: String, _ more: (key: String, value: Literal)...) throws -> Scan {
        let bridge = try bridge(.object([("url", .text(server.url)), ("max_record_bytes", 65536)]))
        let section: Literal.Members = [
            ("path", "/say"), ("query", ["body": .text(body)]), ("records", "$"), ("paging", "none"),
        ]
        return try Scan(source(bridge, .object(section + more)))
    }

    private static let large = #"{"id":2,"n":["# + Array(repeating: "1", count: 5000).joined(separator: ",") + "]}"

    @Test func `a record that is too large goes to quarantine, and those around it stay`() throws {
        for format in ["json", "ndjson"] {
            let records = [#"{"id":1}"#, Self.large, #"{"id":3}"#]
            let body = format == "json" ? "[\(records.joined(separator: ","))]" : records.joined(separator: "\n") + "\n"
            let scan = try scan(body, ("format", .text(format)))
            #expect(scan.ids == [1, 3], "\(format)")
            #expect(
                scan.rejected.map(\.reason) == [
                    "the record takes more than 65536 bytes (16 for each value, and its texts); raise max_record_bytes"
                ])
            #expect(scan.rejected.map(\.index) == [1])
        }
    }

    /// Each takes about 8 KiB in memory, and all together more than `max_record_bytes`.
    private static let valid = (1...20).map { id in
        #"{"id":\#(id),"n":["# + Array(repeating: "1", count: 500).joined(separator: ",") + "]}"
    }

    @Test(arguments: ["json", "ndjson"])
    func `the limit is that of one record, not of all that arrive together`(format: String) throws {
        let body =
            format == "json" ? "[\(Self.valid.joined(separator: ","))]" : Self.valid.joined(separator: "\n") + "\n"
        let scan = try scan(body, ("format", .text(format)))
        #expect(scan.ids == Array(1...20))
        #expect(scan.rejected.isEmpty)
    }

    @Test func `rows that repeat a large value of the object around them are delivered in several batches`() throws {
        let lines = (1...400).map { #"{"id":\#($0)}"# }.joined(separator: ",")
        let note = String(repeating: "n", count: 20_000)
        let body = #"{"orders":[{"note":"\#(note)","lines":[\#(lines)]},{"note":"","lines":[{"id":401}]}]}"#
        let bridge = try bridge(["url": .text(server.url), "max_record_bytes": 65536])
        let section: Literal = [
            "path": "/say", "query": ["body": .text(body)], "records": "$.orders[*].lines[*]", "paging": "none",
        ]
        var request = FetchRequest(entity: "Line", section: section.options)
        request.surroundings = ["@parent.note", "@index"]
        let scan = try Scan(bridge.fetch(request))
        #expect(scan.ids == Array(1...401))
        #expect(scan.records.count { $0.contains(note) } == 400)
        #expect(scan.records[399].hasPrefix(#"{"id":400,"@index":399,"@parent":{"note":"n"#))
        #expect(scan.pages.count == 2, "each of about 4 MiB")
        #expect(scan.pages.map(\.isPageEnd) == [false, true])
    }

    @Test(arguments: ["json", "ndjson"])
    func `records that each get a large value of the request are delivered in several batches`(format: String) throws {
        let ids = (1...300).map { #"{"id":\#($0)}"# }
        let body = format == "json" ? "[\(ids.joined(separator: ","))]" : ids.joined(separator: "\n") + "\n"
        let bridge = try bridge(["url": .text(server.url), "max_record_bytes": 65536])
        let section: Literal = [
            "path": "/say", "query": ["body": .text(body)], "records": "$", "paging": "none", "format": .text(format),
            "request_fields": ["note": "{parent.note}"],
        ]
        var request = FetchRequest(entity: "Line", section: section.options)
        request.parent = (["note": .text(String(repeating: "n", count: 40_000))] as Literal).options
        let scan = try Scan(bridge.fetch(request))
        #expect(scan.ids == Array(1...300))
        #expect(scan.rejected.isEmpty)
        #expect(scan.pages.count == 3, "each of about 4 MiB")
    }

    @Test func `a limit that is none is refused`() throws {
        let error = try bridgeError { _ = try bridge(["url": "http://localhost", "max_record_bytes": 12]) }
        #expect(error.message == "max_record_bytes is 12")
    }
}
