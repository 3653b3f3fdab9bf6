import BridgeKit
import RecordBatch
import Testing
import TestSupport

@testable import SOAPBridge

@Suite struct PageScanTests {
    private func paging(_ style: String, size: Int = 10, start: Int? = nil) throws -> SOAPPaging {
        try SOAPPaging(
            BridgeOptions {
                $0.key("style")
                $0.text(style)
                $0.key(style == "page" ? "page_element" : "offset_element")
                $0.text("at")
                $0.key("size")
                $0.int64(Int64(size))
                if let start {
                    $0.key("start")
                    $0.int64(Int64(start))
                }
            })
    }

    private func scan(
        _ style: String, size: Int = 10, cursor: String? = nil, maxPages: Int = 100
    ) throws -> PageScan {
        try PageScan(paging: paging(style, size: size), maxPages: maxPages, cursor: cursor)
    }

    /// Whether a scan ended without knowing whether its pages were all.
    private static func isUntold(_ step: PageScan.Step) -> Bool {
        step.isEnd && !step.isComplete
            && step.warning?.hasSuffix("nothing counts as deleted: name paging.total") == true
    }

    /// Whether a scan ended after the number of records had changed.
    private static func hasMoved(_ step: PageScan.Step) -> Bool {
        step.isEnd && !step.isComplete && step.warning?.contains("changed from page to page") == true
    }

    @Test func `an offset scan goes to the total and is then complete`() throws {
        var scan = try scan("offset")
        #expect(scan.positionAhead(total: nil) == nil)
        #expect(scan.positionAhead(total: 25) == 10)
        #expect(try scan.endPage(count: 10, total: 25, fingerprint: 1) == .init(isEnd: false, cursor: "10"))
        #expect(try scan.endPage(count: 10, total: 25, fingerprint: 2) == .init(isEnd: false, cursor: "20"))
        #expect(scan.positionAhead(total: 25) == nil)
        #expect(try scan.endPage(count: 5, total: 25, fingerprint: 3) == .init(isEnd: true, isComplete: true))
    }

    @Test func `a server that gives fewer than asked is followed by what it gave`() throws {
        var scan = try scan("offset")
        #expect(try scan.endPage(count: 4, total: 8, fingerprint: 1) == .init(isEnd: false, cursor: "4"))
        #expect(scan.position == 4)
        #expect(try scan.endPage(count: 4, total: 8, fingerprint: 2).isComplete)
    }

    @Test(arguments: [0, -1, 9])
    func `a total below the number of records is ignored`(total: Int64) throws {
        var scan = try scan("offset")
        #expect(try scan.endPage(count: 10, total: total, fingerprint: 1) == .init(isEnd: false, cursor: "10"))
        #expect(try scan.endPage(count: 10, total: total, fingerprint: 2) == .init(isEnd: false, cursor: "20"))
        let last = try scan.endPage(count: 5, total: total, fingerprint: 3)
        #expect(Self.isUntold(last), "\(last)")
        var empty = try self.scan("offset")
        #expect(try empty.endPage(count: 0, total: 0, fingerprint: 1) == .init(isEnd: true, isComplete: true))
    }

    @Test func `without a total a short page ends the scan, which is complete only in one page`() throws {
        var one = try scan("offset")
        #expect(try one.endPage(count: 9, total: nil, fingerprint: 1) == .init(isEnd: true, isComplete: true))
        var two = try scan("page")
        #expect(try two.endPage(count: 10, total: nil, fingerprint: 1) == .init(isEnd: false, cursor: "2/10"))
        let last = try two.endPage(count: 0, total: nil, fingerprint: 0)
        #expect(Self.isUntold(last), "\(last)")
    }

    @Test func `a listing that changed or broke off is not complete`() throws {
        var changed = try scan("offset")
        _ = try changed.endPage(count: 10, total: 12, fingerprint: 1)
        let last = try changed.endPage(count: 1, total: 11, fingerprint: 2)
        #expect(Self.hasMoved(last), "\(last)")
        var short = try scan("offset")
        let step = try short.endPage(count: 0, total: 12, fingerprint: 1)
        #expect(step.isEnd && !step.isComplete)
        #expect(step.warning?.contains("12") == true)
    }

    @Test func `other elements of the list count where the next page begins, and for the end`() throws {
        var scan = try scan("offset")
        let first = PageScan.Outcome(count: 0, others: 10, fingerprint: 1)
        #expect(try scan.endPage(first) == .init(isEnd: false, cursor: "10"))
        let again = try bridgeError { _ = try scan.endPage(first) }
        #expect(again.message.contains("the same records as an earlier page"), "\(again)")
        let rest = PageScan.Outcome(count: 3, others: 2, total: 15, fingerprint: 2)
        #expect(try scan.endPage(rest) == .init(isEnd: true, isComplete: true))
        var page = try self.scan("page")
        #expect(try page.endPage(.init(count: 4, others: 6, fingerprint: 1)) == .init(isEnd: false, cursor: "2/10"))
        // The service sends no more than the size that it is asked for.
        var sized = try PageScan(
            paging: SOAPPaging(
                (["style": "offset", "offset_element": "at", "limit_element": "size", "size": 10] as Literal).options),
            maxPages: 10, cursor: nil)
        #expect(try sized.endPage(.init(count: 10, others: 2, fingerprint: 1)) == .init(isEnd: false, cursor: "10"))
    }

    @Test func `the same page again is an error`() throws {
        var scan = try scan("page")
        _ = try scan.endPage(count: 10, total: nil, fingerprint: 5)
        let error = try bridgeError { _ = try scan.endPage(count: 10, total: nil, fingerprint: 5) }
        #expect(error.code == .malformed)
        #expect(error.remedy == "check paging.page_element")
    }

    @Test func `a cursor continues, also with another size of page`() throws {
        var offset = try scan("offset", cursor: "20")
        #expect(offset.position == 20)
        #expect(try offset.endPage(count: 5, total: 25, fingerprint: 1) == .init(isEnd: true))
        #expect(try scan("page", cursor: "3/10").position == 3)
        // Pages 1 and 2 of 10 are records 0 to 19; with 8 on a page, the third begins at record 16.
        #expect(try scan("page", size: 8, cursor: "3/10").position == 3)
        #expect(try scan("page", size: 30, cursor: "3/10").position == 1)
        for cursor in ["x", "-1", "", "1/2", "99999999999999999999"] {
            #expect(try bridgeError { _ = try scan("offset", cursor: cursor) }.code == .configuration)
        }
        #expect(try bridgeError { _ = try scan("page", cursor: "3") }.code == .configuration)
    }

    @Test func `max_pages stops with a warning and a cursor`() throws {
        var scan = try scan("offset", maxPages: 1)
        #expect(scan.positionAhead(total: 100) == nil)
        let step = try scan.endPage(count: 10, total: 100, fingerprint: 1)
        #expect(step.isEnd && !step.isComplete)
        #expect(step.cursor == "10")
        #expect(step.warning?.contains("max_pages") == true)
    }

    private func token(cursor: String? = nil, maxPages: Int = 1000) throws -> PageScan {
        let options: Literal = [
            "style": "token", "token_element": "q/locator", "limit_element": "q/size", "token": "R/locator",
            "done": "R/done",
            "operation": "More", "input": ["keep": "1"],
        ]
        return try PageScan(paging: SOAPPaging(options.options), maxPages: maxPages, cursor: cursor)
    }

    private func outcome(_ count: Int, _ token: String?, more: Bool? = nil, total: Int64? = nil) -> PageScan.Outcome {
        .init(count: count, total: total, fingerprint: UInt64.random(in: .min ... .max), token: token, hasMore: more)
    }

    @Test func `a locator is followed by the other operation until the service is done`() throws {
        var scan = try token()
        let constant = InputValue.object([.init(name: "query", value: .text("all"))])
        #expect(!scan.isFurther)
        #expect(
            try scan.input(constant, at: scan.position)
                == constant.setting(["q", "size"], to: "1000"))
        #expect(try scan.endPage(outcome(5, "a/b", more: true)) == .init(isEnd: false, cursor: "5/a/b"))
        #expect(scan.isFurther)
        #expect(
            try scan.input(constant, at: scan.position)
                == InputValue.object([.init(name: "keep", value: .text("1"))]).setting(["q", "locator"], to: "a/b"))
        // An empty page is none of its ends, and the last token need not be gone.
        #expect(try scan.endPage(outcome(0, "c", more: true)) == .init(isEnd: false, cursor: "5/c"))
        #expect(try scan.endPage(outcome(2, "d", more: false)) == .init(isEnd: true, isComplete: true))
        var resumed = try token(cursor: "5/a/b")
        #expect(resumed.isFurther && resumed.token == "a/b")
        #expect(try resumed.endPage(outcome(2, nil)) == .init(isEnd: true))
        #expect(try bridgeError { _ = try token(cursor: "5/") }.code == .configuration)
    }

    @Test func `a token that comes again, is missing, or leads nowhere is an error`() throws {
        var again = try token()
        _ = try again.endPage(outcome(1, "a"))
        _ = try again.endPage(outcome(1, "b"))
        #expect(try bridgeError { _ = try again.endPage(outcome(1, "a")) }.message.contains("repeats an earlier token"))
        var missing = try token()
        #expect(
            try bridgeError { _ = try missing.endPage(outcome(1, nil, more: true)) }.message.contains("gives no token"))
        var empty = try token()
        let error = try bridgeError { for page in 0..<200 { _ = try empty.endPage(outcome(0, "\(page)")) } }
        #expect(error.message.contains("100 pages in a row"))
    }

    @Test func `more decides where the size of a page does not`() throws {
        var scan = try scan("offset")
        #expect(try scan.endPage(outcome(3, nil, more: true)) == .init(isEnd: false, cursor: "3"))
        #expect(try scan.endPage(outcome(10, nil, more: false)).isEnd)
        var stuck = try self.scan("offset")
        #expect(try bridgeError { _ = try stuck.endPage(outcome(0, nil, more: true)) }.code == .malformed)
    }

    @Test func `a page without records is not the end if the page before said that there is more`() throws {
        var scan = try token()
        _ = try scan.endPage(outcome(5, "a", more: true))
        let step = try scan.endPage(outcome(0, nil))
        #expect(step.isEnd && !step.isComplete)
        #expect(step.warning?.contains("the page after record 5 has no record, although the page before said") == true)
        // A flag, a total that was reached, and a token without a flag before are ends.
        var flagged = try token()
        _ = try flagged.endPage(outcome(5, "a", more: true))
        #expect(try flagged.endPage(outcome(0, nil, more: false)) == .init(isEnd: true, isComplete: true))
        var counted = try token()
        _ = try counted.endPage(outcome(5, "a", more: true, total: 5))
        #expect(try counted.endPage(outcome(0, nil)) == .init(isEnd: true, isComplete: true))
        var plain = try token()
        _ = try plain.endPage(outcome(5, "a"))
        #expect(try plain.endPage(outcome(0, nil)) == .init(isEnd: true, isComplete: true))
    }

    @Test func `a short first page of a usual size needs a second one`() throws {
        var all = try scan("page", size: 1000)
        #expect(try all.endPage(count: 100, total: nil, fingerprint: 1) == .init(isEnd: false, cursor: "2/1000"))
        #expect(try all.endPage(count: 0, total: nil, fingerprint: 0) == .init(isEnd: true, isComplete: true))
        var cut = try scan("offset", size: 1000)
        #expect(try cut.endPage(count: 100, total: nil, fingerprint: 1) == .init(isEnd: false, cursor: "100"))
        #expect(try cut.endPage(count: 100, total: nil, fingerprint: 2) == .init(isEnd: false, cursor: "200"))
        let last = try cut.endPage(count: 0, total: nil, fingerprint: 0)
        #expect(Self.isUntold(last), "\(last)")
        // The service ignores the number of the page.
        var stuck = try scan("page", size: 1000)
        _ = try stuck.endPage(count: 100, total: nil, fingerprint: 1)
        let step = try stuck.endPage(count: 100, total: nil, fingerprint: 1)
        #expect(step.isEnd && !step.isComplete && step.warning?.contains("paging.page_element") == true)
        var told = try scan("offset", size: 1000)
        #expect(try told.endPage(count: 100, total: 100, fingerprint: 1) == .init(isEnd: true, isComplete: true))
    }

    @Test func `a fault after a short first page of a usual size ends the scan`() throws {
        var first = try scan("page", size: 1000)
        #expect(!first.isCheck)
        #expect(first.endAtFault(isEmpty: true) == .init(isEnd: true, isComplete: true))
        #expect(!first.isPositional)
        var all = try scan("page", size: 1000)
        _ = try all.endPage(count: 100, total: nil, fingerprint: 1)
        #expect(all.isCheck)
        #expect(all.endAtFault(isEmpty: true) == .init(isEnd: true, isComplete: true))
        #expect(all.isPositional)
        var open = try scan("offset", size: 1000)
        _ = try open.endPage(count: 100, total: nil, fingerprint: 1)
        #expect(open.endAtFault(isEmpty: false) == .init(isEnd: true))
        // The first of these pages is not the first of the listing.
        var resumed = try scan("offset", size: 1000, cursor: "100")
        _ = try resumed.endPage(count: 100, total: nil, fingerprint: 1)
        #expect(resumed.endAtFault(isEmpty: true) == .init(isEnd: true))
        // A full page, and a third one, are requested anyway.
        var full = try scan("offset", size: 100)
        _ = try full.endPage(count: 100, total: nil, fingerprint: 1)
        #expect(!full.isCheck)
        #expect(full.endAtFault(isEmpty: true) == .init(isEnd: true))
        var third = try scan("offset", size: 1000)
        _ = try third.endPage(count: 100, total: nil, fingerprint: 1)
        _ = try third.endPage(count: 100, total: nil, fingerprint: 2)
        #expect(!third.isCheck)
        #expect(third.endAtFault(isEmpty: true) == .init(isEnd: true))
    }

    @Test func `paging that makes no sense is named`() throws {
        let noElement = try bridgeError {
            _ = try SOAPPaging(
                BridgeOptions {
                    $0.key("style")
                    $0.text("offset")
                })
        }
        #expect(noElement.message == "paging.offset_element is missing")
        let wrong = try bridgeError {
            _ = try SOAPPaging(
                BridgeOptions {
                    $0.key("style")
                    $0.text("none")
                    $0.key("page_element")
                    $0.text("p")
                })
        }
        #expect(wrong.message.contains("page_element"))
    }
}

extension PageScan {
    fileprivate mutating func endPage(count: Int, total: Int64?, fingerprint: UInt64) throws -> Step {
        try endPage(Outcome(count: count, total: total, fingerprint: fingerprint))
    }
}
