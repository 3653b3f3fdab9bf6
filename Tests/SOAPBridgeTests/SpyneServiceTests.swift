import BridgeKit
import Foundation
import RecordBatch
import TestSupport
import Testing

@testable import SOAPBridge

/// Against spyne, a SOAP stack in Python that validates what it gets with libxml2's own schemas.
@Suite struct SpyneServiceTests {
    private let server: RemoteServer
    private static let count = 10_000

    init() async throws { server = try await RemoteServer.spyne("spyne-shop.py") }

    private func options(_ version: String, key: String = "sesame") -> Literal {
        [
            "wsdl": .text("\(server.url)/\(version)/?wsdl"), "wsdl_cache": "",
            "soap_headers": ["Login": ["user": "u", "key": .text(key)]],
        ]
    }

    private let listing: Literal = [
        "operation": "ListProducts", "records": "ListProductsResponse/ListProductsResult/products",
        "paging": [
            "style": "offset", "offset_element": "offset", "limit_element": "limit", "size": 2500,
            "total": "ListProductsResponse/ListProductsResult/total",
        ],
    ]

    private func expected(_ index: Int) -> String {
        let image = Data([0, 0xFF] + Array("\(index)".utf8)).base64EncodedString()
        let price = ["", ".25", ".5", ".75"][index % 4]
        let day = Calendar(identifier: .gregorian)
        var start = DateComponents()
        (start.year, start.month, start.day) = (2020, 1, 1 + index % 365)
        start.timeZone = TimeZone(secondsFromGMT: 0)
        let made = ISO8601DateFormatter.string(
            from: day.date(from: start) ?? .distantPast, timeZone: TimeZone(secondsFromGMT: 0) ?? .current,
            formatOptions: [.withFullDate])
        let type = index % 3 == 0 ? #""@xsi:type":"{urn:shop}Book","# : ""
        let tags =
            index % 3 == 0
            ? #""tags":{}"# : #""tags":{"string":[\#((0..<index % 3).map { "\"t\($0)\"" }.joined(separator: ","))]}"#
        let pages = index % 3 == 0 ? #","pages":\#(index * 10)"# : ""
        return
            #"{\#(type)"id":\#(index),"name":"Product & <\#(index)> é","price":\#(index / 4)\#(price),"made":"\#(made)","#
            + #""changed":"2021-02-03T04:05:06","active":\#(index % 2 == 0),"image":"\#(image)",\#(tags),"#
            + #""note":\#(index % 2 == 1 ? "null" : "\"n\(index)\"")\#(pages)}"#
    }

    @Test(arguments: ["v11", "v12"])
    func `ten thousand records come typed, with derived types, in both versions`(version: String) throws {
        let scan = try Scan.run(options(version), listing)
        #expect(scan.records.count == Self.count)
        #expect(scan.records == (0..<Self.count).map(expected))
        #expect(scan.pages.last?.isComplete == true)
        #expect(scan.pages.nonEmptyAllSatisfy { $0.warnings.isEmpty }, "\(scan.pages.flatMap(\.warnings).prefix(3))")
    }

    @Test func `what a wrapper holds may be read as a plain list, empty where the wrapper is`() throws {
        let scan = try Scan.run(options("v11"), listing.adding(["wrapped_lists": "plain"]))
        #expect(scan.records.count == Self.count)
        for index in 0..<Self.count {
            let plain = expected(index).replacing(#""tags":{}"#, with: #""tags":[]"#)
                .replacing(#""tags":{"string":["#, with: #""tags":["#).replacing(#"]},"note""#, with: #"],"note""#)
            guard scan.records[index] == plain else {
                Issue.record("\(scan.records[index]) is not \(plain)")
                return
            }
        }
    }

    @Test(arguments: ["v11", "v12"])
    func `a locator leads from page to page, and a scan resumes at one`(version: String) throws {
        let section: Literal = [
            "operation": "WalkProducts", "records": "WalkProductsResponse/WalkProductsResult/products",
            "paging": [
                "style": "token", "token_element": "locator", "limit_element": "limit", "size": 3000,
                "token": "WalkProductsResponse/WalkProductsResult/next",
            ],
        ]
        let begin = try Scan.run(options(version), section, pages: 2)
        #expect(begin.records.count == 6000)
        let cursor = try #require(begin.pages.last?.cursor)
        let rest = try Scan.run(options(version), section, cursor: cursor)
        #expect(begin.records + rest.records == (0..<Self.count).map(expected))
        #expect(try Scan.run(options(version), section).pages.last?.isComplete == true)
    }

    @Test(arguments: ["v11", "v12"])
    func `one object is got by its key, and a fault is what a rule makes of it`(version: String) throws {
        let section: Literal = [
            "operation": "GetProduct", "records": "GetProductResponse/GetProductResult", "input": ["id": 4711],
        ]
        #expect(try Scan.run(options(version), section).records == [expected(4711)])
        let missing: Literal = [
            "operation": "GetProduct", "records": "GetProductResponse/GetProductResult", "input": ["id": 99999],
        ]
        let plain = try bridgeError { _ = try Scan.run(options(version), missing) }
        #expect(plain.code == .remote)
        let code = version == "v11" ? "Client" : "Sender"
        #expect(plain.remote?.contains("\(code).NotFound: no such product; detail: id: 99999") == true, "\(plain)")
        for rule: Literal in [
            ["code": "NotFound", "action": "not_found"], ["detail": "UnknownProduct", "action": "not_found"],
            ["detail": "id=99999", "action": "not_found"], ["reason": "NO SUCH", "action": "not_found"],
        ] {
            let ruled = try bridgeError {
                _ = try Scan.run(
                    options(version).adding(["faults": .array([rule])]), missing)
            }
            #expect(ruled.code == .notFound, "\(rule)")
        }
        let none = try Scan.run(
            options(version), missing.adding(["faults": .array([["code": "NotFound", "action": "empty"]])]))
        #expect(none.records.isEmpty)
        #expect(none.pages.last?.isComplete == true)
    }

    @Test(arguments: ["v11", "v12"])
    func `a wrong header is refused by the service`(version: String) throws {
        let error = try bridgeError { _ = try Scan.run(options(version, key: "wrong"), listing) }
        #expect(error.remote?.contains("who are you?") == true, "\(error)")
    }
}
