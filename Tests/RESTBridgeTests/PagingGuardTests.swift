import BridgeKit
import Foundation
import RESTBridge
import RecordBatch
import Synchronization
import TestSupport
import Testing

/// Ways in which paging goes wrong, ends early or never ends; resuming; what runs ahead.
@Suite struct PagingGuardTests {
    let server: RemoteServer
    let bridge: RESTBridge

    init() throws {
        server = try RemoteServer.fixture()
        bridge = try RESTBridgeTests.bridge(["url": "\(server.url)"])
    }

    private func scan(_ section: Literal, cursor: String? = nil) throws -> Scan {
        try Scan(source(bridge, section, cursor: cursor))
    }

    private func requests() throws -> [RemoteServer.Event] { try server.events().filter { $0.event == "begin" } }

    @Test func `a next URL that was read before is an error`() throws {
        let error = try bridgeError {
            _ = try scan(["path": "/loop/next", "records": "$.items", "paging": ["style": "next_url"]])
        }
        #expect(error.code == .malformed)
        #expect(error.message.hasPrefix("page 2 of User: paging loops"))
    }

    @Test func `a cursor that was read before is an error`() throws {
        let error = try bridgeError {
            _ = try scan([
                "path": "/loop/cursor", "records": "$.items", "paging": ["style": "cursor", "path": "$.next_cursor"],
            ])
        }
        #expect(error.code == .malformed)
        #expect(error.message.hasPrefix("page 2 of User: paging loops"))
    }

    @Test func `a server that ignores the page number is found out`() throws {
        let error = try bridgeError {
            _ = try scan(["path": "/loop/page", "records": "$.items", "paging": ["style": "page", "size": 10]])
        }
        #expect(error.code == .malformed)
        #expect(error.message.contains("two pages in a row hold the same records"))
    }

    @Test func `a server that gives smaller pages than asked for is read to its end`() throws {
        // It answers 10 records where 100 are asked for, because it doesn't know the parameter.
        let scan = try scan([
            "path": "/users/page", "records": "$.items", "paging": ["style": "page", "size": 100],
        ])
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.isComplete == true)
    }

    @Test func `offsets follow what a server really gives`() throws {
        let scan = try scan([
            "path": "/users/offset?", "records": "$.items",
            "paging": ["style": "offset", "size": 100, "limit_parameter": "unknown"],
        ])
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.isComplete == true)
    }

    @Test func `a path that the reply lacks does not prove a complete listing`() throws {
        let scan = try scan([
            "path": "/users/next", "records": "$.items", "paging": ["style": "next_url", "path": "$.nxt"],
        ])
        #expect(scan.ids == Array(1...10))
        #expect(scan.last?.isComplete == false)
        #expect(scan.warnings.count == 1)
        #expect(scan.warnings.first?.contains("$.nxt") == true)
    }

    @Test func `an empty page before the last one that the reply promises does not prove a complete listing`() throws {
        let scan = try scan([
            "path": "/users/page?total&claim=5", "records": "$.items",
            "paging": ["style": "page", "pages": "$.meta.pages"],
        ])
        #expect(scan.ids == Array(1...25))
        #expect(scan.last?.isComplete == false)
        #expect(
            scan.warnings
                == ["the reply says 5 pages, but page 4 has no records: the listing is not complete"])
    }

    /// A scan over pages that the zoo serves as they are written here.
    private func told(by parameter: String, _ pages: String, paging: Literal) throws -> Scan {
        try scan([
            "path": "/zoo/told", "query": ["by": .text(parameter), "of": .text(pages)], "records": "$.items",
            "paging": paging,
        ])
    }

    @Test(arguments: ["{}", #"{"total":0}"#])
    func `a page without a place for records in the middle of a scan does not prove its end`(page: String) throws {
        let paging: Literal = ["style": "cursor", "path": "$.next", "total": "$.total"]
        let cut = try told(by: "cursor", #"{"": {"items": [{"id": 1}], "next": "2"}, "2": \#(page)}"#, paging: paging)
        #expect(cut.ids == [1])
        #expect(cut.last?.isComplete == false)
        #expect(cut.warnings.count == 1 && cut.warnings[0].hasPrefix("page 2 has no member for records"))
        let whole = try told(
            by: "cursor", #"{"": {"items": [{"id": 1}], "next": "2", "total": 1}, "2": \#(page)}"#, paging: paging)
        #expect(whole.ids == [1] && whole.last?.isComplete == true && whole.warnings.isEmpty)
        let empty = try told(by: "cursor", #"{"": \#(page)}"#, paging: ["style": "keyset"])
        #expect(empty.records.isEmpty && empty.last?.isComplete == true && empty.warnings.isEmpty)
    }

    @Test(arguments: ["keyset", "page"])
    func `a page that no longer says has_more ends a scan only where the total is reached`(style: String) throws {
        let (parameter, first, second) = style == "page" ? ("page", "1", "2") : ("after", "", "1")
        let paging: Literal = ["style": .text(style), "has_more": "$.has_more", "total": "$.total"]
        for (total, isComplete) in [(3, false), (2, true)] {
            let scan = try told(
                by: parameter,
                #"{"\#(first)": {"items": [{"id": 1}], "has_more": true, "total": \#(total)}, "#
                    + #""\#(second)": {"items": [{"id": 2}]}}"#, paging: paging)
            #expect(scan.ids == [1, 2])
            #expect(scan.last?.isComplete == isComplete)
            #expect(
                scan.warnings == (isComplete ? [] : ["the reply says 3 records, but its pages held 2: not complete"]))
        }
    }

    @Test func `a cursor that is an object goes into the template`() throws {
        let scan = try scan([
            "path": #"/zoo/told"#, "body": [:], "records": "$.items",
            "query": [
                "by": "q",
                "of": #"{"": {"items": [{"id": 1}], "next": {"at": 2}}, "from {\"at\":2}": {"items": [{"id": 2}]}}"#,
            ],
            "paging": ["style": "cursor", "path": "$.next", "parameter": "q", "template": "from {value}"],
        ])
        #expect(scan.ids == [1, 2])
        #expect(scan.last?.isComplete == true)
    }

    @Test func `max_pages ends a scan as incomplete`() throws {
        let scan = try scan([
            "path": "/users/next", "records": "$.items", "paging": ["style": "next_url", "max_pages": 2],
        ])
        #expect(scan.ids == Array(1...20))
        #expect(scan.last?.isComplete == false)
        #expect(scan.warnings == ["stopped after paging.max_pages = 2: the listing is not complete"])
        #expect(try requests().count == 2)
    }

    @Test(arguments: [
        ("page", "/users/page"), ("offset", "/users/offset"), ("next_url", "/users/next"), ("cursor", "/users/cursor"),
        ("link_header", "/users/link"),
    ])
    func `a scan goes on from each page's cursor`(style: String, path: String) throws {
        var paging: Literal = ["style": .text(style)]
        if style == "page" || style == "offset" { paging = ["style": .text(style), "size": 10] }
        if style == "cursor" { paging = ["style": "cursor", "path": "$.next_cursor"] }
        let section: Literal = [
            "path": .text(path), "records": .text(style == "link_header" ? "$" : "$.items"), "paging": paging,
        ]
        let first = try Scan(source(bridge, section), limit: 2)
        #expect(first.ids == Array(1...20))
        let rest = try scan(section, cursor: try #require(first.last?.cursor))
        #expect(rest.ids == Array(21...25))
        // It tells of all after its cursor; the host knows what came before.
        #expect(rest.last?.isComplete == true)
        #expect(rest.last?.isEnd == true)
    }

    @Test func `a cursor of another paging style is refused`() throws {
        let error = try bridgeError {
            _ = try scan(["path": "/users/page", "paging": ["style": "page"]], cursor: "offset:20")
        }
        #expect(error.code == .configuration)
        #expect(error.remedy == "the config changed since the last run: sync this entity with --restart")
    }

    @Test(arguments: [
        #"{"items":[{"id":1}],"offset":9223372036854775807,"limit":1,"total":3}"#,
        #"{"items":[{"id":1}],"page":9223372036854775807,"has_more":true}"#,
        #"{"items":[{"id":1}],"page":9223372036854775807,"total_pages":9223372036854775807}"#,
        #"{"items":[{"id":1}],"startIndex":9223372036854775807,"itemsPerPage":9223372036854775807}"#,
    ])
    func `a page number beyond any listing does not trap`(body: String) throws {
        let path = "/say?body=\(body.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")"
        // It ends, or is refused for its circles: either is well.
        let ids = (try? scan(["path": .text(path)]).ids) ?? [1]
        #expect(Set(ids) == [1])
    }

    @Test(arguments: [
        ("page", "page:9223372036854775807"), ("page", "page:-9223372036854775808"),
        ("page", "p9223372036854775807 page:1"), ("offset", "p3 offset:9223372036854775807"),
        ("offset", "p3 offset:-9223372036854775808"),
    ])
    func `a stored page number beyond any listing does not trap`(style: String, cursor: String) throws {
        let section: Literal = [
            "path": "/loop/page", "records": "$.items", "paging": ["style": .text(style), "size": 9],
        ]
        let error = try bridgeError { _ = try scan(section, cursor: cursor) }
        #expect(error.message.contains("two pages in a row hold the same records"))
    }

    @Test(arguments: ["-9223372036854775808", "9223372036854775807"])
    func `a page in the query beyond any listing does not trap`(page: String) throws {
        let items = #"{"items":[{"id":1}],"total":9223372036854775807}"#
            .addingPercentEncoding(withAllowedCharacters: .alphanumerics)
        let error = try bridgeError { _ = try scan(["path": .text("/say?page=\(page)&body=\(items ?? "")")]) }
        #expect(error.message.contains("two pages in a row hold the same records"))
    }

    @Test(arguments: ["start", "size", "max_pages"])
    func `a number of the config that no listing has is refused by name`(name: String) throws {
        let error = try bridgeError {
            _ = try scan(["path": "/users/page", "paging": ["style": "page", name: 9_223_372_036_854_775_807]])
        }
        #expect(error.code == .configuration)
        #expect(error.message == "User: paging.\(name) is 9223372036854775807")
    }

    @Test func `a page that fails leaves the pages before it, and can be asked for again`() throws {
        let scanner = try source(bridge, ["path": "/flaky/x", "records": "$.items", "paging": ["style": "page"]])
        let scan = try Scan(scanner, limit: 2)
        #expect(scan.ids == Array(1...20))
        for _ in 0..<2 {
            let error = try bridgeError { _ = try scanner.next(into: RecordBatchWriter()) }
            #expect(error.code == .malformed)
            #expect(error.message.hasPrefix("page 3 of User is not JSON"))
            #expect(error.location == server.url + "/flaky/x?page=3")
        }
    }

    @Test func `the next page is asked for before this one is handed out`() async throws {
        let scanner = try source(
            bridge, ["path": "/users/next?delay=0.2", "records": "$.items", "paging": ["style": "next_url"]])
        _ = try scanner.next(into: RecordBatchWriter())
        // `next` is not called again: the server hears of the second page all the same.
        try await eventually("the second page is requested") { try requests().count == 2 }
        #expect(try requests().map(\.path).last == "/users/next?after=10&count=25")
    }

    @Test func `numbered pages run at the same time where the total is known`() throws {
        let scan = try scan([
            "path": "/users/page?total=1&count=90&delay=0.2", "records": "$.items",
            "paging": ["style": "page", "size_parameter": "per_page", "size": 10, "total": "$.meta.total"],
        ])
        #expect(scan.ids == Array(1...90))
        let events = try server.events()
        var running = 0
        var most = 0
        for event in events.sorted(by: { $0.time < $1.time }) {
            running += event.event == "begin" ? 1 : -1
            most = max(most, running)
        }
        #expect(most >= 3)
    }

    @Test func `cancel ends a scan that waits, within a second`() async throws {
        let driven = Driven(try source(bridge, ["path": "/slow?seconds=30"]))
        let thread = Thread { driven.drive() }
        thread.start()
        try await eventually("the server is asked") { try requests().count == 1 }
        let cancelled = ContinuousClock.now
        driven.source.cancel()
        try await eventually("the scan ends") { driven.error != nil }
        #expect(driven.error?.code == .cancelled)
        #expect(ContinuousClock.now - cancelled < .seconds(20))
        #expect(try bridgeError { _ = try driven.source.next(into: RecordBatchWriter()) }.code == .cancelled)
    }

    /// A source that another thread drives.
    private final class Driven: @unchecked Sendable {
        // One thread at a time drives the source, `cancel` is allowed from any, and the error is locked.
        let source: any RecordSource
        private let failure = Mutex<BridgeError?>(nil)

        init(_ source: any RecordSource) { self.source = source }

        var error: BridgeError? { failure.withLock { $0 } }

        func drive() {
            do {
                _ = try source.next(into: RecordBatchWriter())
            } catch {
                failure.withLock { $0 = error as? BridgeError }
            }
        }
    }
}
