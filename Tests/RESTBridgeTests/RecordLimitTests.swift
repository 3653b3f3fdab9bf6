import BridgeKit
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

    @Test func `a limit that is none is refused`() throws {
        let error = try bridgeError { _ = try bridge(["url": "http://localhost", "max_record_bytes": 12]) }
        #expect(error.message == "max_record_bytes is 12")
    }
}
