import BridgeKit
import Foundation
import RecordBatch
import TestSupport
import Testing

@testable import SOAPBridge

/// Against PHP's own SoapServer.
@Suite struct PHPServiceTests {
    private let server: RemoteServer
    private static let count = 2_345

    init() async throws { server = try await RemoteServer.soap("products.php", "products.wsdl") }

    private func options(_ port: String) -> Literal {
        ["wsdl": .text(server.url + "/service?wsdl"), "port": .text(port)]
    }

    private func offset(size: Int, offset: Literal = "paging/offset") -> Literal {
        [
            "operation": "ListProducts", "records": "ListProductsResponse/products/product",
            "paging": [
                "style": "offset", "offset_element": offset, "limit_element": "limit", "size": .integer(Int64(size)),
                "total": "ListProductsResponse/total",
            ],
        ]
    }

    private func expected(_ index: Int) -> String {
        let image = Data([0, 0xFF] + Array("\(index)".utf8)).base64EncodedString()
        let tags = index % 5 == 0 ? "" : index % 5 == 1 ? #","tag":["only"]"# : #","tag":["a","b"]"#
        return
            #"{"@kind":"k\#(index)","id":\#(index),"name":"Product & <\#(index)> 😀 é","price":10.10,"ratio":\#(Double(index) / 2),"#
            + #""active":\#(index % 2 == 0),"image":"\#(image)","note":\#(index % 3 == 0 ? "null" : "\"n\(index)\"")\#(tags)}"#
    }

    private func requests() throws -> [String] {
        try String(contentsOfFile: server.folder.appending("requests.log"), encoding: .utf8)
            .split(separator: "\n").map(String.init)
    }

    @Test(arguments: [nil, ["style": "none", "total": "total"]] as [Literal?])
    func `a list that the service cuts short is not complete, also where the section has no paging`(
        paging: Literal?
    ) throws {
        func scan(_ limit: Int64) throws -> Scan {
            let section: Literal = [
                "operation": "ListProducts", "records": "ListProductsResponse/products/product",
                "input": ["paging": ["offset": 0], "limit": .integer(limit)],
            ]
            return try Scan.run(options("Products11"), paging.map { section.adding(["paging": $0]) } ?? section)
        }
        let short = try scan(100)
        #expect(short.records.count == 100 && short.pages.last?.isComplete == false)
        #expect(
            short.pages.flatMap(\.warnings) == [
                "the service announced 2345 records but returned 100: the listing is not complete"
            ])
        let whole = try scan(5000)
        #expect(whole.records.count == Self.count && whole.pages.last?.isComplete == true)
        #expect(whole.pages.nonEmptyAllSatisfy { $0.warnings.isEmpty })
    }

    @Test func `a section that says that each reply is the whole list is believed`() throws {
        let section: Literal = [
            "operation": "ListProducts", "records": "ListProductsResponse/products/product",
            "input": ["paging": ["offset": 0], "limit": 100], "paging": ["style": "none"],
        ]
        let scan = try Scan.run(options("Products11"), section)
        #expect(scan.records.count == 100 && scan.pages.last?.isComplete == true)
        #expect(scan.pages.flatMap(\.warnings) == [])
    }

    @Test(arguments: ["Products11", "Products12"])
    func `a scan by offset brings each record, typed, in both versions`(port: String) throws {
        let scan = try Scan.run(options(port), offset(size: 500))
        #expect(scan.records == (0..<Self.count).map(expected))
        let ends = scan.pages.filter(\.isPageEnd)
        #expect(ends.map(\.cursor) == ["500", "1000", "1500", "2000", nil])
        #expect(ends.last?.isComplete == true)
        #expect(ends.nonEmptyAllSatisfy { $0.total == 2345 })
        #expect(scan.pages.nonEmptyAllSatisfy { $0.warnings.isEmpty && $0.rejected.isEmpty })
        let sent = try requests()
        #expect(sent.count == 5)
        if port == "Products11" {
            #expect(sent[0].contains(#""action":"\"urn:products\/List\"""#), "\(sent[0])")
            #expect(sent[0].contains("text\\/xml"))
        } else {
            #expect(
                sent[0].contains(#"application\/soap+xml; charset=utf-8; action=\"urn:products\/List\""#), "\(sent[0])")
        }
    }

    @Test func `a scan by page does the same, and resumes`() throws {
        let section: Literal = [
            "operation": "ListProducts", "records": "ListProductsResponse/products/product",
            "paging": ["style": "page", "page_element": "page", "size_element": "limit", "size": 1000],
        ]
        let begin = try Scan.run(options("Products11"), section, pages: 2)
        #expect(begin.records.count == 2000)
        let cursor = try #require(begin.pages.last?.cursor)
        #expect(cursor == "3/1000")
        let rest = try Scan.run(options("Products11"), section, cursor: cursor)
        #expect(begin.records + rest.records == (0..<Self.count).map(expected))
        #expect(rest.pages.last?.isComplete == false)
    }

    @Test func `one large reply comes in batches, and only its end ends the page`() throws {
        let scan = try Scan.run(options("Products12"), offset(size: 2400))
        #expect(scan.records.count == Self.count)
        #expect(scan.pages.count > 1)
        #expect(scan.maxBatchSize < 2_000)
        #expect(scan.pages.map(\.isPageEnd) == Array(repeating: false, count: scan.pages.count - 1) + [true])
    }

    @Test func `rpc style is called by its parts`() throws {
        let scan = try Scan.run(
            options("Counter11"),
            ["operation": "CountTo", "records": "CountToResponse/result/product", "input": ["n": 3]])
        #expect(scan.records == (1...3).map(expected))
        #expect(scan.pages.last?.isComplete == true)
    }

    @Test func `a fault is reported with its code, reason and detail`() throws {
        let error = try bridgeError { _ = try Scan.run(options("Products11"), offset(size: 10), cursor: "200000") }
        #expect(error.code == .remote)
        #expect(!error.isRetryable)
        #expect(error.remote == "Client: offset is too large; detail: largest: 100000")
        #expect(error.message.contains("ListProducts"))
        #expect(error.location == server.url + "/v11")
        let new = try bridgeError { _ = try Scan.run(options("Products12"), offset(size: 10), cursor: "200000") }
        #expect(new.remote?.contains("Sender: offset is too large") == true, "\(new)")
    }

    @Test func `CDATA and entities arrive as text`() throws {
        let scan = try Scan.run(
            ["wsdl": .text(server.url + "/service?wsdl"), "endpoint": .text(server.url + "/cdata")], offset(size: 10))
        #expect(scan.records == [#"{"@kind":"&","id":1,"name":"<b>&amp;</b> & more"}"#])
    }

    @Test func `a service that does not turn pages is noticed`() throws {
        // The cdata script gives its one record for whatever offset, and here no total.
        let section: Literal = [
            "operation": "ListProducts", "records": "ListProductsResponse/products/product",
            "paging": ["style": "offset", "offset_element": "paging/offset", "size": 1],
        ]
        let error = try bridgeError {
            _ = try Scan.run(
                ["wsdl": .text(server.url + "/service?wsdl"), "endpoint": .text(server.url + "/cdata")], section)
        }
        #expect(error.code == .malformed)
        #expect(error.message.contains("offset 1"))
    }

    @Test func `wrong names in the config are reported before any request`() throws {
        let operation = try bridgeError {
            _ = try Scan.run(options("Products11"), ["operation": "ListProduct", "records": "a"])
        }
        #expect(operation.remedy == #"its operations: "ListProducts""#)
        let element = try bridgeError {
            _ = try Scan.run(options("Products11"), offset(size: 5, offset: "paging/start"))
        }
        #expect(element.remedy == #"its elements: "offset""#)
        #expect(
            try bridgeError { _ = try Scan.run(options("Nope"), offset(size: 5)) }.remedy?.contains("Products11")
                == true)
        #expect(throws: (any Error).self) { try requests() }
    }

    @Test func `check names service, port and endpoint, and discover the records on offer`() throws {
        let bridge = try SOAPBridge(options: options("Products12").options, context: BridgeContext())
        #expect(
            try bridge.check() == "service Products, port Products12 (SOAP 1.2) with 1 operations, at \(server.url)/v12"
        )
        let writer = RecordBatchWriter()
        try bridge.discover(into: writer)
        let batch = try writer.finish()
        // The first says what the service is.
        #expect(batch.count == 2)
        #expect(batch[1]["name"]?.text == "Product")
        #expect(batch[1]["section"]?["operation"]?.text == "ListProducts")
        #expect(batch[1]["section"]?["records"]?.text == "ListProductsResponse/products/product")
        #expect(batch[1]["fields"]?.elements.first { $0["name"]?.text == "price" }?["type"]?.text == "decimal")
    }

    @Test func `credentials go to the WSDL's own origin`() throws {
        let secured = options("Products11")
            .adding(["auth": ["type": "basic", "user": "u", "password": "p"]])
        _ = try Scan.run(secured, offset(size: 2400))
        let requests = try requests()
        #expect(requests.nonEmptyAllSatisfy { $0.contains("Basic dTpw") })
    }

    @Test func `an input names values of the parent and of the sync, and a plan shows it without asking`() throws {
        let bridge = try SOAPBridge(options: options("Products11").options, context: BridgeContext())
        let section: Literal = [
            "operation": "ListProducts", "records": "products/product",
            "input": ["page": "{parent.page}", "limit": "{since}"],
        ]
        func fetch(since: String?, explains: Bool) throws -> Scan {
            let parent: Literal = ["page": 1]
            return try Scan.run(
                bridge.fetch(
                    FetchRequest(
                        entity: "Product", section: section.options, since: since, parent: parent.options,
                        explains: explains)))
        }
        let plan = try fetch(since: nil, explains: true).records
        #expect(plan.count == 1)
        #expect(plan[0].contains(#""request":"POST \#(server.url)/v11""#), "\(plan)")
        #expect(plan[0].contains("<n1:page>1</n1:page></n1:ListProducts>"), "\(plan)")
        #expect(throws: (any Error).self) { try requests() }
        #expect(try fetch(since: "2", explains: false).records == [expected(0), expected(1)])
        let orphan = try bridgeError {
            _ = try bridge.fetch(FetchRequest(entity: "Product", section: section.options))
        }
        #expect(orphan.message.contains("{parent.page}"))
    }

    @Test func `cancel ends a scan`() throws {
        let bridge = try SOAPBridge(options: options("Products11").options, context: BridgeContext())
        let source = try bridge.fetch(FetchRequest(entity: "Product", section: offset(size: 100).options))
        _ = try Scan.run(source, pages: 1)
        source.cancel()
        let error = try bridgeError { _ = try source.next(into: RecordBatchWriter()) }
        #expect(error.code == .cancelled)
    }

    @Test func `the demo's service gives each subdivision of iso-codes`() async throws {
        let demo = try await RemoteServer.php([:], router: PackageFolder.path + "/Examples/demo/soap.php")
        let scan = try Scan.run(
            ["wsdl": .text(demo.url + "/gazetteer.wsdl")],
            [
                "operation": "ListSubdivisions", "records": "ListSubdivisionsResponse/subdivisions/subdivision",
                "paging": [
                    "style": "offset", "offset_element": "offset", "limit_element": "limit", "size": 1000,
                    "total": "ListSubdivisionsResponse/total",
                ],
            ])
        let file = try Data(contentsOf: URL(filePath: "/usr/share/iso-codes/json/iso_3166-2.json"))
        let names = try JSONDecoder().decode([String: [ISOSubdivision]].self, from: file)["3166-2"] ?? []
        #expect(names.count > 5_000)
        #expect(scan.records.count == names.count)
        let expected = Set(names.map { #"{"code":"\#($0.code)","name":"\#($0.name)""# })
        let actual = Set(scan.records.map { $0.components(separatedBy: #","type":"#)[0] })
        #expect(actual == expected)
        #expect(scan.pages.last?.isComplete == true)
    }

    private struct ISOSubdivision: Decodable {
        let code: String
        let name: String
    }
}
