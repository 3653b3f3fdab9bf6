import Model
import Testing

@testable import AirbyteManifest

/// Durations and formats of cursors.
@Suite
struct CursorTests {
    private static func translated(
        _ members: String, format: String = "%Y-%m-%dT%H:%M:%SZ", start: String = "2024-01-01T00:00:00Z",
        set: [(name: String, value: String)] = []
    ) throws -> Translated {
        try Translated(
            stream: """
                    incremental_sync:
                      type: DatetimeBasedCursor
                      cursor_field: updated_at
                      datetime_format: "\(format)"
                      start_datetime: "\(start)"
                      start_time_option: {type: RequestOption, inject_into: request_parameter, field_name: from}
                      \(members)
                """, set: set)
    }

    @Test func `a duration from an input is known, taken from the manifest's default, or a doubt`() throws {
        let known = try Self.translated("lookback_window: \"P{{ config.get('days', 3) }}D\"")
        known.expect("lookback: '3d'")
        #expect(known.verdict == .carried)
        let taken = try Self.translated("lookback_window: \"P{{ config.get('window', 3) }}D\"")
        taken.expect("lookback: '3d'", "is taken as P3D: give its input with --set")
        #expect(taken.verdict == .doubtful)
        let tested = "lookback_window: \"{{ 'P' ~ (config['window'] if config.get('window') else 5) ~ 'D' }}\""
        try Self.translated(tested).expect("lookback: '5d'")
        let given = try Self.translated(tested, set: [("window", "7")])
        given.expect("lookback: '7d'")
        #expect(given.verdict == .carried)
        let lost = try Self.translated("lookback_window: \"P{{ config['window'] }}D\"")
        #expect(lost.verdict == .doubtful && !lost.text.contains("lookback:"))
    }

    @Test func `a step that is not known, or cannot be read, is a doubt`() throws {
        let lost = try Self.translated("step: \"P{{ config['window'] }}D\"")
        lost.expect("step P{{ config['window'] }}D is not known: one request has the whole time")
        #expect(lost.verdict == .doubtful)
        let given = try Self.translated("step: \"P{{ config['window'] }}D\"", set: [("window", "30")])
        given.expect("window: '30d'")
        #expect(given.verdict == .carried)
        #expect(try Self.translated("step: 30 days").verdict == .doubtful)
        #expect(try Self.translated("step: P0D").verdict == .carried)
    }

    @Test(arguments: [
        ("%Y%m%d", "20240131", "2024-01-31T00:00:00Z"), ("%Y-%m", "2024-02", "2024-02-01T00:00:00Z"),
        ("%Y", "2024", "2024-01-01T00:00:00Z"), ("%d/%m/%Y %H:%M", "31/01/2024 10:05", "2024-01-31T10:05:00Z"),
        ("%Y%m%d", "2024-01-31", "2024-01-31"),
        ("%Y/%m/%dT%H:%M:%S.%f%z", "2024/01/31T10:05:09.5+0000", "2024-01-31T10:05:09Z"),
    ])
    func `a start in the format of the requests becomes a time that the section takes`(
        format: String, start: String, expected: String
    ) throws {
        let formats = "cursor_datetime_formats: [\"%Y-%m-%dT%H:%M:%SZ\"]"
        let translated = try Self.translated("step: P30D\n      \(formats)", format: format, start: start)
        translated.expect("start: '\(expected)'", "window: '30d'")
        #expect(translated.verdict == .carried, "\(translated.report.text)")
    }

    @Test(arguments: [
        ("{{ timestamp('2024-01-02') }}", "%s", "2024-01-02T00:00:00Z"),
        ("{{ timestamp('1970-01-02') | int }}", "%s", "1970-01-02T00:00:00Z"),
        ("{{ timestamp('2024-01-02') | int }}", "%s", "1704153600"),
        ("{{ format_datetime('2024-01-02', '%Y%m%d') }}", "%Y%m%d", "2024-01-02T00:00:00Z"),
        ("{{ config['start_date'][:10] }}", "%Y-%m-%d", "2024-01-01"),
        ("{{ max('2023-01-01', '2024-01-02') }}", "%Y-%m-%d", "2024-01-02"),
    ])
    func `a start that a macro computes is a time that the section takes`(
        start: String, format: String, expected: String
    ) throws {
        let translated = try Self.translated("step: P30D", format: format, start: start)
        translated.expect("start: '\(expected)'", "window: '30d'")
        #expect(translated.verdict == .carried, "\(translated.report.text)")
    }

    @Test func `a start that bmo does not read is a doubt`() throws {
        let translated = try Self.translated("step: P30D", format: "%d %b %Y", start: "31 Jan 2024")
        translated.expect("bmo does not read a time in the format %d %b %Y", "without a start")
        #expect(translated.verdict == .doubtful && !translated.text.contains("window:"))
    }

    @Test(arguments: [("P1D", "%Y-%m-%d", "1d"), ("PT1S", "%s", "1s"), ("PT0.001S", "%ms", "1ms")])
    func `a window ends before the next one by the granularity, where its end is sent`(
        granularity: String, format: String, gap: String
    ) throws {
        let end = "end_time_option: {type: RequestOption, inject_into: request_parameter, field_name: to}"
        let step = "step: P1D\n      cursor_granularity: \(granularity)"
        let both = try Self.translated("\(step)\n      \(end)", format: format)
        both.expect("window: '1d', gap: '\(gap)'}")
        #expect(both.verdict == .carried, "\(both.report.text)")
        #expect(try !Self.translated(step, format: format).text.contains("gap:"))
    }

    @Test func `the present in a request with windows is a doubt`() throws {
        let now = "        request_parameters: {to: \"{{ now_utc().strftime('%s') }}\"}"
        func verdict(_ step: String) throws -> ConnectorReport.Verdict? {
            try Translated(
                stream: """
                        incremental_sync:
                          type: DatetimeBasedCursor
                          cursor_field: updated_at
                          datetime_format: "%s"
                          start_datetime: "2024-01-01T00:00:00Z"
                          start_time_option: {type: RequestOption, inject_into: request_parameter, field_name: from}
                          \(step)
                    """, requester: now
            ).verdict
        }
        #expect(try verdict("") == .carried)
        #expect(try verdict("step: P1D") == .doubtful)
    }

    @Test func `a granularity that does not fit the windows is a doubt, and so are months in records`() throws {
        let end = "end_time_option: {type: RequestOption, inject_into: request_parameter, field_name: to}"
        for granularity in ["P2D", "a day"] {
            let translated = try Self.translated("step: P1D\n      cursor_granularity: \(granularity)\n      \(end)")
            #expect(translated.verdict == .doubtful && !translated.text.contains("gap:"))
        }
        let months = try Self.translated(
            """
            step: P1M
                  cursor_granularity: P1D
                  \(end)
                transformations:
                  - {type: AddFields, fields: [{path: [month], value: "{{ stream_interval.start_time }}"}]}
            """)
        months.expect("window: '30d', gap: '1d'", "step P1M: windows of 30d")
        #expect(months.verdict == .doubtful)
    }

    @Test(arguments: [
        ("{{ day_delta(-30) }}", "now-30d", nil),
        ("{{ day_delta(-30, format='%Y-%m-%dT%H:%M:%SZ') }}", "now-30d", nil), ("{{ day_delta(0) }}", "now", nil),
        ("{{ now_utc() - duration('PT0S') }}", "now", nil),
        ("{{ day_delta(-30, '%Y-%m-01T00:00:00Z') }}", "now-30d", "leaves out the day of the time"),
        ("{{ format_datetime(day_delta(-3), '%Y-%m-%dT00:00:00Z') }}", "now-3d", "leaves out the hour of the time"),
        ("{{ now_utc().strftime('%Y-01-01T00:00:00Z') }}", "now", "leaves out the month of the time"),
        ("{{ today_utc() }}", "now", "leaves out the hour of the time"),
        (
            "{{ (now_utc() - duration('P1M')).strftime('%Y-%m-%dT%H:%M:%SZ') }}", "now-30d",
            "a month is taken as 30 days"
        ),
    ])
    func `a relative start that bmo has no exact words for is a doubt`(
        start: String, expected: String, doubt: String?
    ) throws {
        let translated = try Self.translated("step: P30D", start: start)
        translated.expect("since: {start: \(expected), ", doubt ?? "window:")
        #expect(translated.verdict == (doubt == nil ? .carried : .doubtful), "\(translated.report.text)")
        // Requests that send days lose no hours.
        let days = try Self.translated("step: P30D", format: "%Y-%m-%d", start: start)
        #expect(!days.report.text.contains("leaves out the hour"))
    }

    @Test(arguments: [
        ("%Y-%m-%dT%H:%M:%SZ', '%Y-%m-%d", "timestamp", true), ("%d/%m/%Y", "date", true),
        ("%Y-%m-%d %I:%M %p", "timestamp", true), ("%a, %d %b %Y %H:%M:%S %z", "timestamp", true),
        ("%Y-%m-%dT%H:%M:%SZ', '%d/%m/%Y", "text", false), ("%d/%m/%Y', '%Y-%m-%d", "text", false),
        ("%s', '%Y-%m-%d", "json", false), ("%s', '%ms", "json", false), ("%d/%m/%Y %H:%M:%S.%f", "text", false),
    ])
    func `values in several forms, or in one that bmo does not read, have no incremental`(
        formats: String, type: String, isCompared: Bool
    ) throws {
        let translated = try Self.translated("cursor_datetime_formats: ['\(formats)']")
        #expect(translated.text.contains("incremental: {field: updated_at}") == isCompared)
        let column =
            translated.text.contains("updated_at: \(type)\n") || translated.text.contains("updated_at: {type: \(type),")
        #expect(column, "\(translated.text)")
        #expect(translated.verdict == (isCompared ? .carried : .doubtful), "\(translated.report.text)")
    }

    @Test func `a lookback of months is as long as any month`() throws {
        try Self.translated("lookback_window: P2M").expect("lookback: '62d'")
    }
}
