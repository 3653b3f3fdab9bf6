import ImportTestSupport
import Mapping
import Model
import StoreContract
import Testing

/// Which rows a sweep deletes, without a database.
@Suite struct SweepDecisionTests {
    private static let limit = DeletePolicy.DeletionLimit(share: 0.5, rows: 1)

    @Test func `more rows than the limit allows are not deleted`() {
        let rule = SweepRule(deletionLimit: Self.limit)
        #expect(rule.held(1, of: 1, otherOrigin: nil) == nil, "so few rows are always deleted")
        #expect(rule.held(2, of: 4, otherOrigin: nil) == nil, "the share is not exceeded")
        #expect(rule.held(3, of: 4, otherOrigin: nil) == SweepResult.LimitExceeded(gone: 3, total: 4))
        #expect(SweepRule(deletionLimit: nil).held(4, of: 4, otherOrigin: nil) == nil)
    }

    @Test func `rows of another origin are not deleted, however few they are, if there is a limit`() {
        #expect(
            SweepRule(deletionLimit: Self.limit).held(1, of: 100, otherOrigin: "elsewhere")
                == SweepResult.LimitExceeded(gone: 1, total: 100, origin: "elsewhere"))
        #expect(SweepRule(deletionLimit: Self.limit).held(0, of: 100, otherOrigin: "elsewhere") == nil)
        #expect(SweepRule(deletionLimit: nil).held(1, of: 100, otherOrigin: "elsewhere") == nil)
    }

    @Test func `a number that was agreed to covers rows of another origin`() {
        var rule = SweepRule(deletionLimit: DeletePolicy.DeletionLimit(share: 0, rows: 2))
        rule.coversOtherOrigins = true
        #expect(rule.held(2, of: 2, otherOrigin: "elsewhere") == nil)
        #expect(rule.held(3, of: 100, otherOrigin: "elsewhere") == SweepResult.LimitExceeded(gone: 3, total: 100))
    }

    @Test func `the second listing deletes only what the first one lacked too`() {
        #expect(SweepRule(deletionLimit: nil, listing: .only).confirmed([1, 2], first: []) == [1, 2])
        #expect(SweepRule(deletionLimit: nil, listing: .second).confirmed([1, 2, 3], first: [2, 3, 4]) == [2, 3])
    }

    private func step(_ end: ScanEnd, hasUnknown: Bool? = false, missing: Int = 0) -> SweepStep {
        SweepStep(end, hasUnknown: hasUnknown) { missing }
    }

    @Test func `a scan sweeps at its end only if it knows what it listed`() {
        let rule = SweepRule(deletionLimit: nil)
        #expect(step(ScanEnd()) == .none)
        #expect(step(ScanEnd(sweep: rule), hasUnknown: nil) == .none)
        #expect(step(ScanEnd(sweep: rule), hasUnknown: true) == .isUncertain)
        #expect(step(ScanEnd(sweep: rule)) == .sweeps)
        #expect(step(ScanEnd(sweep: rule, defersSweep: true)) == .waitsForParents)
        let first = SweepRule(deletionLimit: nil, listing: .first)
        #expect(step(ScanEnd(sweep: first), missing: 3) == .waitsForSecondListing(3))
        #expect(step(ScanEnd(sweep: first)) == .sweeps)
    }

    @Test func `the cursor is saved unless missing rows would be forgotten`() {
        let token = ScanCursor(token: "t", newest: nil, request: "r", fullAt: "now")
        let watermark = ScanCursor(token: nil, newest: nil, request: "r", fullAt: "now")
        #expect(SweepStep.none.savesCursor(of: ScanEnd(cursor: token), isSettled: true))
        #expect(!SweepStep.isUncertain.savesCursor(of: ScanEnd(cursor: token), isSettled: true))
        #expect(SweepStep.isUncertain.savesCursor(of: ScanEnd(cursor: watermark), isSettled: true))
        #expect(!SweepStep.waitsForSecondListing(1).savesCursor(of: ScanEnd(cursor: watermark), isSettled: true))
        #expect(!SweepStep.sweeps.savesCursor(of: ScanEnd(cursor: watermark), isSettled: false))
    }
}

/// The sweep after the scans of several parents, without a database.
@Suite struct ParentSweepTests {
    private func scope(_ parent: Int) -> ScanScope { ScanScope(entity: "City", parent: "[\(parent)]") }
    private let cursor = ScanCursor(token: "t", newest: nil, request: "r", fullAt: "now")

    @Test func `rows that no parent lists are deleted after the last one`() {
        var sweep = ParentSweep<Int>()
        let isFirstMissing = sweep.end(scope(1), absent: [12, 11], of: 5, cursor: cursor)
        let isSecondMissing = sweep.end(scope(2), absent: [], of: 5, cursor: cursor)
        #expect(isFirstMissing && !isSecondMissing)
        let decision = sweep.decide(by: SweepRule(deletionLimit: nil), otherOrigin: nil)
        #expect(decision.rows == [11, 12] && decision.held == nil)
        #expect(decision.cursors.map(\.scope) == [scope(1)], "the second cursor did not have to wait")
    }

    @Test(arguments: [true, false])
    func `a row that moved to another parent is not missing`(listedFirst: Bool) {
        var sweep = ParentSweep<Int>()
        if listedFirst { sweep.noteListed(11, refersElsewhere: true) }
        _ = sweep.end(scope(1), absent: [11], of: 1, cursor: nil)
        if !listedFirst { sweep.noteListed(11, refersElsewhere: false) }
        #expect(sweep.decide(by: SweepRule(deletionLimit: nil), otherOrigin: nil).rows.isEmpty)
    }

    @Test func `a parent's scan that is rolled back deletes nothing`() {
        var sweep = ParentSweep<Int>()
        _ = sweep.end(scope(1), absent: [11], of: 1, cursor: cursor)
        sweep.takeBack(scope(1), of: 0, repeated: 0)
        let decision = sweep.decide(by: SweepRule(deletionLimit: nil), otherOrigin: nil)
        #expect(decision.rows.isEmpty && decision.cursors.isEmpty)
    }

    @Test func `the second listing of a parent confirms what the first one lacked`() {
        var sweep = ParentSweep<Int>()
        _ = sweep.end(scope(1), absent: [11, 12], of: 3, cursor: nil, first: [12])
        #expect(sweep.decide(by: SweepRule(deletionLimit: nil), otherOrigin: nil).rows == [12])
    }

    @Test func `the limit holds for one parent and for all of them`() {
        let rule = SweepRule(deletionLimit: DeletePolicy.DeletionLimit(share: 0.5, rows: 1))
        var sweep = ParentSweep<Int>()
        _ = sweep.end(scope(1), absent: [11, 12], of: 2, cursor: cursor)
        _ = sweep.end(scope(2), absent: [21], of: 8, cursor: cursor)
        let one = sweep.decide(by: rule, otherOrigin: nil)
        #expect(one.rows == [21] && !one.preventsAll)
        #expect(one.held == SweepResult.LimitExceeded(gone: 2, total: 2, scopes: 1))
        #expect(one.cursors.map(\.scope) == [scope(2)])
        _ = sweep.end(scope(3), absent: [31, 32, 33, 34, 35], of: 5, cursor: cursor)
        let all = sweep.decide(by: rule, otherOrigin: nil)
        #expect(all.preventsAll && all.rows.isEmpty)
        #expect(all.held == SweepResult.LimitExceeded(gone: 8, total: 15, scopes: 3))
    }

    @Test func `a row that two parents list is shared`() {
        var sweep = ParentSweep<Int>()
        sweep.noteTaken(11, by: [2], from: [1])
        #expect(sweep.shared == nil, "the first parent's scan has not ended: the row may have moved")
        _ = sweep.end(scope(1), absent: [], of: 1, cursor: nil)
        sweep.noteTaken(11, by: [2], from: [1])
        #expect(sweep.shared?.row == 11 && sweep.shared?.parents == [[1], [2]] && sweep.sharedCount == 1)
    }
}

/// The objects that a scan skipped, without a database.
@Suite struct SparedRowTests {
    @Test func `rows match by value and by prefix`() {
        let matcher = SparedRowMatcher([
            SkippedRows(field: 2, value: "docs/", isPrefix: true), SkippedRows(field: 0, value: "7", isPrefix: false),
        ])
        #expect(matcher.fields == [0, 2])
        func matches(_ values: StoredValue...) -> Bool { matcher.matches { values[$0] } }
        #expect(matches(7, "x"))
        #expect(matches(1, "docs/a"))
        #expect(!matches(1, "doc"))
        #expect(!matches(.null, .null))
    }

    @Test func `a value matches byte by byte`() {
        let matcher = SparedRowMatcher([SkippedRows(field: 0, value: "caf\u{E9}", isPrefix: false)])
        #expect(matcher.matches { _ in "caf\u{E9}" })
        #expect(!matcher.matches { _ in "cafe\u{301}" })
    }

    @Test func `a prefix is a range of texts`() {
        func range(_ value: String, isPrefix: Bool, _ type: AttributeType) -> [StoredValue]? {
            SkippedRows(field: 0, value: value, isPrefix: isPrefix).range(of: type).map { [$0.low, $0.high] }
        }
        #expect(range("a/", isPrefix: true, .text) == ["a/", "a0"])
        #expect(range("a", isPrefix: false, .text) == ["a", "a"])
        #expect(range("7", isPrefix: false, .integer) == [7, 7])
        #expect(range("7", isPrefix: true, .integer) == nil)
        #expect(range("\u{D7FF}", isPrefix: true, .text) == ["\u{D7FF}", "\u{E000}"])
        #expect(range("", isPrefix: true, .text) == nil)
    }
}
