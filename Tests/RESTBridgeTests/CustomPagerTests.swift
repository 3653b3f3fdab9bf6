import BridgeKit
import BridgePaging
import RESTBridge
import RecordBatch
import TestSupport
import Testing

/// Paging by code of the program that the bridge is linked into.
@Suite struct CustomPagerTests {
    private struct Lost: Error, CustomStringConvertible {
        let description = "the code is lost"
    }

    private let server: RemoteServer
    private let bridge: RESTBridge

    /// Pages of ten by their numbers, of which the first one is not requested by its number.
    private static let numbers = CustomPager("numbers/1") { page in
        page.count < 10 ? nil : String((Int(page.position ?? "1") ?? 1) + 1)
    }

    init() throws {
        server = try RemoteServer.fixture()
        bridge = try RESTBridgeTests.bridge(["url": "\(server.url)"])
        CustomPager.register(
            Self.numbers, CustomPager("lost/1") { _ in throw Lost() }, CustomPager("circle/1") { _ in "2" })
    }

    private func scan(_ code: String, cursor: String? = nil) throws -> Scan {
        try Scan(
            source(
                bridge,
                [
                    "path": "/users/page", "records": "$.items",
                    "paging": [
                        "style": "code", "code": .init(stringLiteral: code), "parameter": "page",
                        "size_parameter": "per_page", "size": 10,
                    ],
                ], cursor: cursor))
    }

    @Test func `a paginator is tested alone`() throws {
        #expect(try Self.numbers.next(.init(count: 10)) == "2")
        #expect(try Self.numbers.next(.init(count: 10, position: "7")) == "8")
        #expect(try Self.numbers.next(.init(count: 3, position: "8")) == nil)
    }

    @Test func `code says which page is next, until there is none`() throws {
        let scan = try scan("numbers/1")
        #expect(scan.ids == Array(1...25))
        #expect(scan.pages.map(\.isPageEnd) == [true, true, true])
        #expect(scan.last?.isComplete == true)
        let requests = try server.events().filter { $0.event == "begin" }
        #expect(requests.map(\.path) == ["", "page=2&", "page=3&"].map { "/users/page?\($0)per_page=10" })
    }

    @Test func `a scan continues where an earlier one stopped`() throws {
        let cursor = try #require(try scan("numbers/1").pages.first?.cursor)
        #expect(try scan("numbers/1", cursor: cursor).ids == Array(11...25))
    }

    @Test func `code that throws fails its scan, and circles end`() throws {
        let lost = try #require(throws: BridgeError.self) { try scan("lost/1") }
        #expect(lost.code == .malformed && lost.message.hasSuffix("the paginator \"lost/1\" failed: the code is lost"))
        let circle = try #require(throws: BridgeError.self) { try scan("circle/1") }
        #expect(circle.message.contains("paging loops"))
    }

    @Test func `a name that the program has not registered is a fault of the section`() throws {
        let error = try #require(throws: BridgeError.self) { try scan("unknown/1") }
        #expect(error.code == .configuration)
        #expect(error.message == "User: paging.code: this program has no paginator \"unknown/1\"")
        #expect(error.remedy?.hasPrefix("use one of: ") == true)
    }
}
