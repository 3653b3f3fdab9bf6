import BridgeKit
import RecordBatch
import Testing
import TestSupport

@testable import RESTBridge

/// How a listing is divided into windows of time and the values of lists.
@Suite struct SliceTests {
    private func slices(
        _ section: Literal, since: String? = nil, time: String? = nil, isName: Bool = false,
        now: String = "2024-03-01T00:00:00Z"
    ) throws -> [Slice] {
        let instant = try #require(TimeText.microseconds(now, now: 0))
        let known = TemplateVariables(parameters: [(["begin": "2024-02-28"] as Literal).options])
        return try SliceRule(section.options, known).slices(since: since, time: time, isName: isName, now: instant)
    }

    @Test func `without since and each there is one slice with the known value as it is`() throws {
        #expect(try slices([:], since: "abc") == [Slice(since: "abc")])
    }

    @Test func `windows meet, and leave no moment out`() throws {
        let days = try slices(["since": ["start": "2024-02-25", "format": "%Y-%m-%d", "window": "2d"]])
        #expect(
            days.map { "\($0.since ?? "") \($0.until ?? "")" } == [
                "2024-02-25 2024-02-27", "2024-02-27 2024-02-29", "2024-02-29 2024-03-01",
            ])
        let seconds = try slices(["since": ["start": "{begin}", "format": "%s", "window": "1d"]])
        #expect(
            seconds.map { "\($0.since ?? "") \($0.until ?? "")" } == ["1709078400 1709164800", "1709164800 1709251200"])
    }

    @Test func `windows with a gap do not have their bound twice, and the last one reaches the end`() throws {
        func windows(_ times: Literal, since: String? = nil, now: String = "2024-03-01T10:00:00Z") throws -> [String] {
            try slices(["since": times], since: since, now: now).map { "\($0.since ?? "") \($0.until ?? "")" }
        }
        let daily: Literal = ["start": "2024-02-28", "format": "%Y-%m-%d", "window": "1d", "gap": "1d"]
        #expect(
            try windows(daily) == ["2024-02-28 2024-02-28", "2024-02-29 2024-02-29", "2024-03-01 2024-03-01"])
        #expect(try windows(daily, since: "2024-03-01") == ["2024-03-01 2024-03-01"])
        // Nothing follows the last window, so that it ends where the listing does.
        #expect(
            try windows(["start": "2024-02-28", "until": "2024-03-01", "format": "%d", "window": "1d", "gap": "1d"])
                == ["28 28", "29 01"])
        #expect(
            try windows(["start": "2024-02-28T00:00:00Z", "format": "%ms", "window": "2d", "gap": "1ms"])
                == ["1709078400000 1709251199999", "1709251200000 1709287200000"])
    }

    @Test func `ranges of ids meet, and the last one has no end`() throws {
        func ranges(_ split: Literal) throws -> [String] {
            try slices(["split": split]).map { "\($0.values["from"] ?? "-") \($0.values["to"] ?? "-") \($0.isBounded)" }
        }
        #expect(try ranges(["end": 25, "step": 10]) == ["1 10 false", "11 20 false", "21 25 false", "26 - false"])
        #expect(try ranges(["start": 0, "end": 19, "step": 10]) == ["0 9 false", "10 19 false", "20 - false"])
        // Without the last range, what follows exists and is not listed.
        #expect(try ranges(["end": 10, "step": 10, "open": false]) == ["1 10 true"])
        for split: Literal in [["step": 10], ["end": 10], ["end": 0, "step": 1], ["end": 1_000_000, "step": 1]] {
            #expect(throws: BridgeError.self, "\(split)") { try ranges(split) }
        }
    }

    private static let bounds: [(section: Literal, isBounded: Bool)] = [
        (["query": ["from": "{since}", "to": "{until}"], "since": ["start": "2024-01-01"]], true),
        (["query": ["from": "{since}", "to": "{until}"], "since": ["start": "2024-01-01", "until": "now-5m"]], true),
        (["path": "/x{?since,until}", "since": ["start": "2024-01-01", "window": "7d"]], true),
        (["body": ["range": ["to": "|until|"]], "since": ["start": "2024-01-01", "until": "2024-02-01"]], true),
        (
            ["query": ["from": "{since}", "to": "{until}"], "since": ["start": "2024-01-01", "until": "now+1d"]], false
        ),
        (["query": ["from": "{since}"], "since": ["start": "2024-01-01"]], false),
        (["path": "/x/{+until}", "since": ["start": "2024-01-01"]], true),
        (["path": "/x{?a,until*}", "since": ["start": "2024-01-01"]], true),
        (["query": ["range": ["{since}", "{until}"]], "since": ["start": "2024-01-01"]], true),
        (["headers": ["X-To": "before {until:10}"], "since": ["start": "2024-01-01"]], true),
        (["body": ["until": "{since}", "to": "{until2}", "by": "until"], "since": ["start": "2024-01-01"]], false),
        (["query": ["to": "{funtil}"], "since": ["start": "2024-01-01"]], false),
    ]

    @Test(arguments: bounds)
    func `a scan of all up to now lacks the records that change meanwhile`(section: Literal, isBounded: Bool) throws {
        #expect(try slices(section).nonEmptyAllSatisfy { $0.isBounded == isBounded })
        #expect(try slices(section, since: "2024-02-29").nonEmptyAllSatisfy { !$0.isBounded })
    }

    @Test func `a known value precedes the start, in the format of requests`() throws {
        let found = try slices(
            ["since": ["start": "2020-01-01", "format": "%ms"]], since: "2024-02-29T23:59:59.500+01:00")
        #expect(found == [Slice(since: "1709247599500", until: "1709251200000")])
    }

    @Test func `a start that moves is reported, and a text that is not a time is sent as it is`() throws {
        #expect(
            try slices(["since": ["start": "now-1d", "format": "%Y-%m-%d"]])
                == [Slice(since: "2024-02-29", until: "2024-03-01", isMoving: true)])
        #expect(try slices(["since": ["start": "0"]]).first?.since == "0")
    }

    @Test func `each list multiplies the slices`() throws {
        let found = try slices(["each": ["kind": ["a", "b"], "state": ["open", "shut"]]])
        #expect(
            found.map(\.values) == [
                ["kind": "a", "state": "open"], ["kind": "a", "state": "shut"], ["kind": "b", "state": "open"],
                ["kind": "b", "state": "shut"],
            ])
    }

    @Test func `a complete listing up to now deletes nothing, and still has a watermark`() throws {
        let bridge = try bridge(["url": .text(RemoteServer.shared.get().url)])
        for (query, isBounded) in [("{until}", true), ("later", false)] {
            let section: Literal = [
                "path": "/zoo/told", "query": ["by": "x", "of": #"{"": {"items": [{"id": 1}]}}"#, "to": .text(query)],
                "records": "$.items", "paging": "none", "since": ["start": "2024-01-01", "window": "9999d"],
            ]
            let last = try #require(try Scan(source(bridge, section)).last)
            #expect(last.isComplete && last.skipped.isEmpty != isBounded)
        }
    }

    // MARK: Resuming

    private func scan(_ kinds: [String], cursor: String? = nil, limit: Int = 1000) throws -> Scan {
        let bridge = try bridge(["url": .text(RemoteServer.shared.get().url)])
        let section: Literal = [
            "path": "/zoo/told", "query": ["by": "page", "of": "{of}"], "records": "$.items",
            "paging": ["style": "page"],
            "each": ["of": .array(kinds.map { .text($0) })],
        ]
        return try Scan(source(bridge, section, cursor: cursor), limit: limit)
    }

    private func pages(_ first: Int) -> String {
        #"{"1": {"items": [{"id": \#(first)}]}, "2": {"items": [{"id": \#(first + 1)}]}, "3": {"items": []}}"#
    }

    @Test func `a scan of several slices resumes in the slice where it stopped`() throws {
        let kinds = [pages(10), pages(20)]
        for (limit, rest) in [(1, [11, 20, 21]), (3, [20, 21]), (4, [21])] {
            let first = try scan(kinds, limit: limit)
            let resumed = try scan(kinds, cursor: try #require(first.last?.cursor))
            #expect(resumed.ids == rest && resumed.last?.isComplete == true, "\(resumed)")
            #expect(resumed.last?.isPositional == true)
        }
    }

    @Test func `each slice but the last says that another listing begins`() throws {
        let found = try scan([pages(10), pages(10), pages(10)])
        #expect(found.pages.map(\.endsListing) == [false, false, true, false, false, true, false, false, false])
    }

    @Test func `a scan whose slices have changed begins again`() throws {
        let cursor = try #require(try scan([pages(10), pages(20)], limit: 4).last?.cursor)
        #expect(try scan([pages(10), pages(20), pages(30)], cursor: cursor).ids == [10, 11, 20, 21, 30, 31])
        #expect(try scan([pages(20)], cursor: cursor).ids == [20, 21])
        #expect(try scan([pages(10), pages(20)], cursor: "s1 p2 page:2").ids == [10, 11, 20, 21])
    }

    @Test func `a listing up to now keeps that time when it is resumed`() throws {
        let bridge = try bridge(["url": .text(RemoteServer.shared.get().url)])
        let section: Literal = [
            "path": "/zoo/told", "query": ["by": "page", "of": .text(pages(10)), "to": "{until}"],
            "records": "$.items", "paging": ["style": "page"], "since": ["start": "2024-01-01", "format": "%ms"],
        ]
        let cursor = try #require(try Scan(source(bridge, section), limit: 1).last?.cursor)
        #expect(SlicePoint(cursor)?.cursor == "p2 page:2")
        // With another time, the point would lead to the beginning.
        #expect(try Scan(source(bridge, section, cursor: cursor)).ids == [11])
    }

    @Test func `a cursor keeps the time from which its slices were derived`() throws {
        let point = SlicePoint(slice: 3, now: 1_709_251_200_000_000, digest: "5b1f", cursor: "p2 page:2")
        #expect(point.text == "s3.1709251200000000.5b1f p2 page:2" && SlicePoint(point.text) == point)
        #expect(SlicePoint("p2 page:2") == nil)
        let digests = try ["2024-03-01", "2024-03-02"].map { now in
            SlicePoint.digest(of: try slices(["since": ["start": "2024-01-01", "window": "7d"]], now: now))
        }
        #expect(digests[0] != digests[1])
    }

    @Test(arguments: ["now-99999999w", "now+521000w", "now-999999999999999999s", "9223372036854775"])
    func `what lies outside the years of a time is not a time`(text: String) throws {
        let now = try #require(TimeText.microseconds("2024-03-01", now: 0))
        #expect(TimeText.microseconds(text, now: now) == nil)
        #expect(try slices(["since": ["start": .text(text)]]).map(\.since) == [text])
    }

    @Test func `without a window, a time may have any form`() throws {
        #expect(try slices(["since": ["start": "31/12/2020"]]).map(\.since) == ["31/12/2020"])
        #expect(try slices(["since": ["start": "2024-02-01"]], since: "31/12/2020").map(\.since) == ["31/12/2020"])
    }

    @Test func `a value in a form of the remote's own is sent in the format, and divided into windows`() throws {
        let (since, time) = ("28/02/2024 00:00", "2024-02-28T00:00:00.000000Z")
        let format: Literal = ["since": ["start": "2024-01-01", "format": "%Y-%m-%d"]]
        #expect(try slices(format, since: since, time: time).map(\.since) == ["2024-02-28"])
        let windows: Literal = ["since": ["start": "2024-01-01", "format": "%Y-%m-%d", "window": "1d"]]
        #expect(try slices(windows, since: since, time: time).map(\.since) == ["2024-02-28", "2024-02-29"])
        // A number of days must not be taken for seconds.
        #expect(try slices(format, since: "2802202400", time: time).map(\.since) == ["2024-02-28"])
        // Without a format, the API takes its own form.
        let plain: Literal = ["since": ["start": "01/01/2024"]]
        #expect(try slices(plain, since: since, time: time).map(\.since) == [since])
    }

    @Test func `a value that is not a time cannot be divided into windows`() throws {
        let windows: Literal = ["since": ["start": "2024-02-01", "window": "1w"]]
        let error = try bridgeError { _ = try slices(windows, since: "31/12/2020") }
        #expect(error.code == .configuration)
        #expect(error.message.hasPrefix("the newest value is \"31/12/2020\", which is not a time"))
        // The check has only a name in place of the value.
        #expect(try slices(windows, since: "User.changed", isName: true).count == 1)
        let bad: Literal = ["since": ["start": "31/12/2020", "window": "1w"]]
        #expect(throws: BridgeError.self) { try slices(bad, since: "User.changed", isName: true) }
    }

    private static let faults: [(Literal, String)] = [
        (["since": ["window": "1d"]], "since.window needs since.start"),
        (["since": ["start": "2024-01-01", "window": "soon"]], "since.window is \"soon\""),
        (["since": ["start": "2024-01-01", "window": "99999999w"]], "since.window is \"99999999w\""),
        (["since": ["start": "2024-01-01", "gap": "1d"]], "since.gap needs since.window"),
        (["since": ["start": "2024-01-01", "window": "1d", "gap": "2d"]], "since.gap is longer than since.window"),
        (["since": ["start": "2024-01-01", "window": "1d", "gap": "P1D"]], "since.gap is \"P1D\""),
        (["since": ["start": "31/12/2020", "window": "1w"]], "since.start is \"31/12/2020\", which is not a time"),
        (["since": ["start": "2024-02-30", "window": "1w"]], "since.start is \"2024-02-30\", which is not a time"),
        (
            ["since": ["start": "2024-02-01", "until": "soon", "window": "1w"]],
            "since.until is \"soon\", which is not a time"
        ),
        (["since": ["start": "1980-01-01", "window": "1s"]], "since.window makes more than 100000 requests"),
        (["each": ["kind": []]], "each.kind has no values"), (["each": ["since": ["x"]]], "each.since has the name"),
    ]

    @Test(arguments: faults)
    func `a fault is reported with its member`(section: Literal, message: String) {
        do {
            _ = try slices(section)
            Issue.record("no fault")
        } catch {
            #expect("\(error)".contains(message), "\(error)")
        }
    }
}
