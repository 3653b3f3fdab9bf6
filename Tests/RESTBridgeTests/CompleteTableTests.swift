import TestSupport
import Testing

@testable import RESTBridge

/// Complete tables whose documents have something that resembles a sign of more rows, or of a failure.
@Suite struct CompleteTableTests {
    private let server: RemoteServer

    init() throws {
        server = try RemoteServer(blocking: ["python3", "-u", "-B", RemoteServer.script("tables.py")])
    }

    /// A scan of one reply, which the server sends as it is written here.
    private func told(_ body: String, _ section: Literal, limit: String? = nil) throws -> Scan {
        let type = body.hasPrefix("<") ? "application/xml" : "text/csv"
        let query: Literal.Members = [("type", .text(type)), ("body", .text(body))]
        let more = limit.map { [("limit", Literal.text($0))] } ?? []
        return try Scan(
            source(
                bridge(["url": "\(server.url)"]), section.adding(["path": "/told", "query": .object(query + more)])))
    }

    private static let rows: Literal = ["format": "xml", "records": "i"]

    @Test(arguments: [
        "<error><code>0</code><message>OK</message></error>", "<Error><Code>200</Code></Error>",
        "<error><message>Success</message><details/></error>", "<partial><id>1</id></partial>",
        "<list><partial>true</partial></list>",
    ])
    func `an error that is none, and a flag of something else, change nothing`(element: String) throws {
        let scan = try told("<r>\(element)<i><id>1</id></i></r>", Self.rows)
        #expect(scan.records.count == 1 && scan.last?.isComplete == true && scan.warnings.isEmpty, "\(scan)")
    }

    @Test(arguments: [
        "<error><code>17</code><message>OK</message></error>", "<error><code>0</code><message>slow</message></error>",
        "<partial>true</partial>",
    ])
    func `an error and a flag beside the rows still show that some may be missing`(element: String) throws {
        for text in [
            "<r>\(element)<i><id>1</id></i></r>", "<r>\(element)<is><i><id>1</id></i></is></r>",
            "<r>\(element)<a><b><i><id>1</id></i></b></a></r>",
        ] {
            let scan = try told(text, Self.rows)
            #expect(scan.last?.isComplete == false && scan.warnings.count == 1, "\(scan)")
        }
    }

    @Test func `a rule of the section accepts a sign of failure`() throws {
        func scan(_ rule: Literal) throws -> Scan {
            let text = "<r><error>late</error><i><id>1</id></i></r>"
            return try told(text, Self.rows.adding(["responses": [rule]]))
        }
        let fitting: [Literal] = [
            ["path": "$.error"], ["path": "$.error", "equals": "late"], ["path": "$.error", "contains": "at"],
        ]
        for when in fitting {
            let accepted = try scan(["when": when, "action": "accept"])
            #expect(accepted.last?.isComplete == true && accepted.warnings.isEmpty, "\(accepted)")
        }
        let others: [Literal] = [
            ["when": ["path": "$.error"], "action": "fail"], ["when": ["path": "$.success"], "action": "accept"],
            ["when": ["path": "$.error", "equals": "busy"], "action": "accept"],
            ["when": ["path": "$.error", "contains": "busy"], "action": "accept"],
            ["when": ["path": "$.error", "missing": true], "action": "accept"],
        ]
        for rule in others {
            let refused = try scan(rule)
            #expect(refused.last?.isComplete == false && refused.warnings.count == 1, "\(refused)")
        }
    }

    @Test func `a sitemap, unlike a feed, may have as many rows as pages often have`() throws {
        func xml(_ root: String) -> String {
            "<\(root)>\((1...100).map { "<i><id>\($0)</id></i>" }.joined())</\(root)>"
        }
        for (root, isComplete) in [("urlset", true), ("sitemapindex", true), ("rss", false), ("list", false)] {
            let scan = try told(xml(root), Self.rows)
            #expect(scan.records.count == 100 && scan.last?.isComplete == isComplete, "\(root): \(scan.warnings)")
        }
    }

    @Test func `rows below the limit in the request are all`() throws {
        let text = "id\n" + (1...100).map { "\($0)\n" }.joined()
        for (limit, isComplete) in [("5000", true), ("101", true), ("100", false), (nil, false)] {
            let scan = try told(text, ["format": "csv"], limit: limit)
            #expect(
                scan.records.count == 100 && scan.last?.isComplete == isComplete, "\(limit ?? ""): \(scan.warnings)")
        }
    }
}
