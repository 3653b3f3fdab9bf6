import ImportTestSupport
import Mapping
import Model
import Testing
import TestLiterals

/// Timestamps and dates in all the ways that remotes write them.
@Suite struct TemporalTests {
    @Test(arguments: [
        ("2024-02-29T12:34:56Z", "2024-02-29T12:34:56.000000Z"),
        ("2024-02-29t12:34:56z", "2024-02-29T12:34:56.000000Z"),
        ("2024-02-29T12:34:56+02:00", "2024-02-29T10:34:56.000000Z"),
        ("2024-03-01T00:30:00+01:00", "2024-02-29T23:30:00.000000Z"),
        ("2024-02-29T12:34:56-0330", "2024-02-29T16:04:56.000000Z"),
        ("2024-02-29T12:34:56+02", "2024-02-29T10:34:56.000000Z"),
        ("2024-02-29T12:34:56", "2024-02-29T12:34:56.000000Z"),
        ("2024-02-29 12:34", "2024-02-29T12:34:00.000000Z"),
        ("2024-02-29", "2024-02-29T00:00:00.000000Z"),
        ("2024-02-29T24:00:00Z", "2024-03-01T00:00:00.000000Z"),
        ("2024-12-31T23:59:60Z", "2025-01-01T00:00:00.000000Z"),
        ("2024-02-29T12:34:56.5Z", "2024-02-29T12:34:56.500000Z"),
        ("2024-02-29T12:34:56,123456789Z", "2024-02-29T12:34:56.123456Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00.000000Z"),
        ("9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999999Z"),
        ("1969-12-31T23:59:59.9Z", "1969-12-31T23:59:59.900000Z"),
    ])
    func `a timestamp is ISO 8601`(text: String, expected: String) throws {
        #expect(try local(.text(text), as: .timestamp) == "'\(expected)'")
    }

    @Test(arguments: [
        "2023-02-29T00:00:00Z", "1900-02-29", "2024-13-01", "2024-00-01", "2024-01-32", "2024-04-31", "0000-01-01",
        "2024-01-01T25:00:00Z", "2024-01-01T24:00:01Z", "2024-01-01T24:00:00.1Z", "2024-01-01T00:60:00Z",
        "2024-01-01T00:00:61Z", "2024-01-01T00:00:00.Z", "2024-01-01T00:00:00+24:00", "2024-01-01T00:00:00+1:00",
        "2024-01-01T", "2024-01-01T12", "2024-01-01T00:00:00Z ", "2024-1-1", "24-01-01", "yesterday", "",
        "2024-01-01Z\u{0}",
        "0001-01-01T00:00:00+01:00", "9999-12-31T23:59:59-01:00",
    ])
    func `any other text is not a timestamp`(text: String) throws {
        let message = try local(.text(text), as: .timestamp)
        #expect(
            message.hasPrefix("! the text ") && message.hasSuffix(" is not an ISO 8601 time or a number of seconds"))
    }

    @Test func `a number is a time in its unit`() throws {
        #expect(try local(1_700_000_000, as: .timestamp) == "'2023-11-14T22:13:20.000000Z'")
        #expect(try local("1700000000.25", as: .timestamp) == "'2023-11-14T22:13:20.250000Z'")
        #expect(try local(1_700_000_000.5, as: .timestamp) == "'2023-11-14T22:13:20.500000Z'")
        #expect(try local(.decimal("1.7e9"), as: .timestamp) == "'2023-11-14T22:13:20.000000Z'")
        #expect(try local(-1, as: .timestamp) == "'1969-12-31T23:59:59.000000Z'")
        #expect(try local("-0.5", as: .timestamp) == "'1969-12-31T23:59:59.500000Z'")
        #expect(try local(1_700_000_000_123, as: .timestamp, .unit(.milliseconds)) == "'2023-11-14T22:13:20.123000Z'")
        #expect(
            try local("1700000000123.4567", as: .timestamp, .unit(.milliseconds)) == "'2023-11-14T22:13:20.123456Z'")
        #expect(try local(1, as: .timestamp, .unit(.microseconds)) == "'1970-01-01T00:00:00.000001Z'")
        #expect(
            try local(.timestamp(microseconds: 1), as: .timestamp, .unit(.milliseconds))
                == "'1970-01-01T00:00:00.000001Z'", "a point in time of the bridge needs no unit")
        #expect(
            try local(.integer(.max), as: .timestamp)
                == "! the number 9223372036854775807 is not an ISO 8601 time or a number of seconds")
        #expect(
            try local(253_402_300_800, as: .timestamp)
                == "! the number 253402300800 is not an ISO 8601 time or a number of seconds since 1970; it may be one of "
                + "milliseconds: transform: {unit: milliseconds}", "the year 10000")
        #expect(
            try local("x", as: .timestamp, .unit(.milliseconds))
                == "! the text \"x\" is not an ISO 8601 time or a number of milliseconds")
        #expect(
            try local(true, as: .timestamp)
                == "! the boolean true is not an ISO 8601 time or a number of seconds")
    }

    @Test(arguments: [
        ("29.02.2024 13:05", "%d.%m.%Y %H:%M", "2024-02-29T13:05:00.000000Z"),
        ("29.02.2024 13:05 +0200", "%d.%m.%Y %H:%M %z", "2024-02-29T11:05:00.000000Z"),
        ("Feb 29 2024 1:05 PM", "%b %d %Y %I:%M %p", "2024-02-29T13:05:00.000000Z"),
        ("1700000000", "%s", "2023-11-14T22:13:20.000000Z"),
        ("2024-02", "%Y-%m", "2024-02-01T00:00:00.000000Z"),
        ("2024", "%Y", "2024-01-01T00:00:00.000000Z"),
        ("31.12.2024 23:59:60", "%d.%m.%Y %H:%M:%S", "2025-01-01T00:00:00.000000Z"),
        ("2024-366", "%Y-%j", "2024-12-31T00:00:00.000000Z"),
        ("Sat 2026-325 07:08", "%a %Y-%j %H:%M", "2026-11-21T07:08:00.000000Z"),
        ("11/21/26", "%x", "2026-11-21T00:00:00.000000Z"),
        ("Sat Nov 21 07:08:09 2026", "%c", "2026-11-21T07:08:09.000000Z"),
        ("2026-11-21 07:08:09 PM", "%F %r", "2026-11-21T19:08:09.000000Z"),
        ("PM 07:08 2026-11-21", "%p %I:%M %F", "2026-11-21T19:08:00.000000Z"),
        ("01.01.0026", "%d.%m.%Y", "0026-01-01T00:00:00.000000Z"),
        ("21.11.26", "%d.%m.%y", "2026-11-21T00:00:00.000000Z"),
        ("Sat, 21 Nov 2026 07:08:08 GMT", "%a, %d %b %Y %H:%M:%S %Z", "2026-11-21T07:08:08.000000Z"),
        ("2026-11-21 07:08 UTC", "%Y-%m-%d %H:%M %Z", "2026-11-21T07:08:00.000000Z"),
        ("2026-11-21T07:08z", "%Y-%m-%dT%H:%M%Z", "2026-11-21T07:08:00.000000Z"),
        ("2026-11-21 07:08 +0100 CET", "%Y-%m-%d %H:%M %z %Z", "2026-11-21T06:08:00.000000Z"),
    ])
    func `a format reads a timestamp`(text: String, format: String, expected: String) throws {
        #expect(try local(.text(text), as: .timestamp, .format(format)) == "'\(expected)'")
    }

    @Test(arguments: [
        ("31.02.2024", "%d.%m.%Y"), ("29.02.2023", "%d.%m.%Y"), ("01.01.0000", "%d.%m.%Y"), ("01.01.2024x", "%d.%m.%Y"),
        ("01.01", "%d.%m.%Y"), ("", "%d.%m.%Y"), ("2024-01-01T00:00:00Z", "%d.%m.%Y"),
        ("01.01.2024\u{0}", "%d.%m.%Y"), ("67000000000000000", "%s"), ("99999999999999999999", "%s"),
        ("2026-366", "%Y-%j"), ("2026-000", "%Y-%j"), ("2026-53-6", "%Y-%U-%w"), ("2026-00-0", "%Y-%U-%w"),
        ("21.11.26", "%d.%m.%Y"), ("21.11.026", "%d.%m.%Y"), ("26-11-21", "%F"), ("2026-11-21 07:08:61", "%F %T"),
        ("07:08", "%H:%M"), ("2026-W47-6", "%G-W%V-%u"), ("21/11/2026 07:08 PM", "%d/%m/%Y %H:%M %p"),
        ("2026-11-21 07:08 +9959", "%F %H:%M %z"), ("2026-11-21 07:08 -2400", "%F %H:%M %z"),
    ])
    func `what does not fit the format is refused`(text: String, format: String) throws {
        let message = try local(.text(text), as: .timestamp, .format(format))
        #expect(message.hasPrefix("! the text ") && message.hasSuffix(" is not a time of the format \(format)"))
    }

    @Test(arguments: ["07:08 EST", "07:08 +02:00", "07:08 UTC+2", "07:08 Zulu", "07:08 ", "07:08"])
    func `a name of a zone other than UTC is refused`(time: String) throws {
        #expect(
            try local(.text("2026-11-21 \(time)"), as: .timestamp, .format("%Y-%m-%d %H:%M %Z"))
                == "! the text \"2026-11-21 \(time)\" is not a time of the format %Y-%m-%d %H:%M %Z, whose zone is one "
                + "of UTC, GMT, UT, Z; use %z for an offset")
    }

    @Test func `a format reads numbers too`() throws {
        #expect(try local(20_240_229, as: .date, .format("%Y%m%d")) == "'2024-02-29'")
        #expect(try local(.decimal("20240229"), as: .date, .format("%Y%m%d")) == "'2024-02-29'")
        #expect(try local(20_240_231, as: .date, .format("%Y%m%d")).hasPrefix("! the number 20240231 is not a time"))
    }

    @Test(arguments: [
        ("2024-02-29", "2024-02-29"), ("2024-02-29Z", "2024-02-29"), ("2024-02-29+14:00", "2024-02-29"),
        ("2024-02-29-05:00", "2024-02-29"), ("2024-02-29T00:00:00", "2024-02-29"),
        ("2024-02-29T00:00:00+02:00", "2024-02-29"), ("2024-02-28T24:00:00Z", "2024-02-29"),
    ])
    func `a date is the day that was written`(text: String, expected: String) throws {
        #expect(try local(.text(text), as: .date) == "'\(expected)'")
    }

    @Test func `the leap second at the end of a day is not a date`() throws {
        for text in ["2020-12-31T23:59:60Z", "2020-12-31T23:59:59Z"] {
            #expect(
                try local(.text(text), as: .date)
                    == "! the text \"\(text)\" is not a date: it has a time; use type timestamp")
        }
        let format = Transformer.format("%d.%m.%Y %H:%M:%S")
        #expect(try local("31.12.2024 23:59:60", as: .date, format).hasPrefix("! "))
        #expect(try local("31.12.2024 00:00:00", as: .date, format) == "'2024-12-31'")
    }

    @Test(arguments: [.min, .max, -62_135_596_800_000_001, 253_402_300_800_000_000] as [Int64])
    func `a bridges point in time is of the years 1 to 9999`(microseconds: Int64) throws {
        for type in [AttributeType.timestamp, .date] {
            let message = try local(.timestamp(microseconds: microseconds), as: type)
            #expect(message.hasPrefix("! the timestamp \""))
        }
    }

    @Test func `digits that are a calendar date are not taken for seconds`() throws {
        for type in [AttributeType.timestamp, .date] {
            #expect(
                try local("20240310", as: type)
                    == "! the text \"20240310\" seems to be a calendar date: add transform: {format: \"%Y%m%d\"}")
            #expect(
                try local("2024", as: type)
                    == "! the text \"2024\" seems to be a calendar date: add transform: {format: \"%Y\"}")
        }
        #expect(try local(20_240_310, as: .date).contains("add transform: {format: \"%Y%m%d\"}"))
        let hint = "! the number 20240310 seems to be a calendar date: add transform: {format: \"%Y%m%d\"}"
        #expect(try local(20_240_310, as: .timestamp) == hint)
        #expect(try local(.decimal("20240310"), as: .timestamp) == hint)
        #expect(try local(20_240_230, as: .timestamp) == "'1970-08-23T06:17:10.000000Z'", "it is not a day")
        #expect(try local(18_991_231, as: .timestamp) == "'1970-08-08T19:20:31.000000Z'")
        #expect(try local(2024, as: .timestamp) == "'1970-01-01T00:33:44.000000Z'")
        for value: Literal in [20_240_310, "20240310"] {
            #expect(
                try local(value, as: .timestamp, .unit(.seconds)) == "'1970-08-23T06:18:30.000000Z'", "a unit says so")
        }
        #expect(try local("20249999", as: .timestamp) == "'1970-08-23T08:59:59.000000Z'")
        #expect(try local("1710037800", as: .timestamp) == "'2024-03-10T02:30:00.000000Z'")
        #expect(try local("1000", as: .timestamp, .unit(.milliseconds)) == "'1970-01-01T00:00:01.000000Z'")
    }

    @Test func `a date has no time`() throws {
        #expect(
            try local("2024-02-29T12:00:00Z", as: .date)
                == "! the text \"2024-02-29T12:00:00Z\" is not a date: it has a time; use type timestamp")
        #expect(try local(86_400, as: .date) == "'1970-01-02'")
        #expect(try local(-86_400, as: .date) == "'1969-12-31'")
        #expect(try local(1, as: .date) == "! the number 1 is not a date: it has a time; use type timestamp")
        #expect(try local("29.2.2024", as: .date, .format("%d.%m.%Y")) == "'2024-02-29'")
        #expect(
            try local("29.2.2024 1", as: .date, .format("%d.%m.%Y %H"))
                == "! the text \"29.2.2024 1\" is not a date: it has a time; use type timestamp")
        #expect(try local(nil, as: .date) == "null")
        #expect(try local(nil, as: .timestamp, .format("%Y")) == "null")
    }
}
