import Testing
import TextFormats

@Suite struct TimePatternTests {
    @Test(arguments: [
        "%d.%m.%Y", "%d.%m.%Y %H:%M:%S", "%Y%m%d", "%Y-%m", "%Y", "%y%m%d", "%Y-%j", "%a %Y-%j", "%s", "%F %T%z", "%D",
        "%x", "%c", "%x %X", "%x %r", "%b %d %Y %I:%M %p", "%a, %d %b %Y %H:%M:%S GMT", "%e %B %Y, %l:%M %p", "%C%y-%h",
        "%Y-%U-%w", "%Y-W%W-%u", "%-d.%-m.%Y", "%Od.%m.%EY", "%4Y", "100%% %Y", "%Y-%m-%d %Z", "%G-W%V-%u %F",
        "%FT%H:%M:%S%z (%Z", "%p %I:%M %F",
    ])
    func `a pattern with a year determines a date`(text: String) {
        #expect(TimePattern(text).fault?.reason == nil)
    }

    @Test(arguments: [
        ("%H:%M", "has no year"), ("%r", "has no year"), ("%m-%d", "has no year"), ("%j", "has no year"),
        ("%C", "has no year"), ("day", "has no year"), ("%%Y", "has no year"), ("%d %", "has no year"),
        ("%-", "has no year"), ("%G-W%V-%u", "does not determine a date: %G, %g and %V are skipped"),
        ("%Y-W%V-%u", "does not determine a date: %G, %g and %V are skipped"),
        ("%g-%m-%d", "does not determine a date: %G, %g and %V are skipped"),
        ("%Y-%d", "has a day without a month"), ("%e %y", "has a day without a month"),
        ("%Y-%U", "does not determine a day: it has only a week or a weekday"),
        ("%A %Y-%m", "does not determine a day: it has only a week or a weekday"),
        ("%F %H:%M %p", "has %p without %I: %p applies only to %I"),
        ("%F %T%p", "has %p without %I: %p applies only to %I"),
        ("%F %I:%M", "has %I without %p, morning or afternoon"),
        ("%s %z", "has %z beside %s, which is in UTC already"),
    ])
    func `a pattern that determines no time is a fault`(text: String, reason: String) {
        #expect(TimePattern(text).fault?.reason == reason)
    }

    @Test(arguments: [
        ("%F %T.%f", "%f"), ("%F %T.%L", "%L"), ("%F %T.%3N", "%3N"), ("%Q-%m-%d %Y", "%Q"), ("%F %I:%M %P", "%P"),
        ("%+4Y-%m-%d", "%+4Y"), ("%Ey-%m-%d", "%Ey"), ("%Y-%m-%Ed", "%Ed"), ("%OY-%m-%d", "%OY"), ("%F %é", "%é"),
        ("%4-Y", "%4-Y"), ("%f", "%f"),
    ])
    func `a conversion that strptime does not know is a fault, which names it`(text: String, conversion: String) {
        #expect(TimePattern(text).fault?.reason.hasPrefix("has \(conversion), which cannot be read") == true)
    }

    @Test(arguments: [
        "%A %a %B %b %C %c %D %d %e %F %G %g %H %h %I %j %k %l %M %m %n %p %R",
        "%r %S %T %t %U %u %V %W %w %X %x %Y %y %Z %z %%", "%EY %EC %Ec %EX %Ex %F",
        "%OB %Ob %Od %Oe %OH %Oh %OI %p %OM %Om %OS %OU %OV %OW %Ow %Oy", "%04Y %-12d %_m %^b %#a", "%4EY-%02Om-%0-9d",
        "%s",
    ])
    func `what strptime knows is none`(text: String) {
        #expect(TimePattern(text).fault?.reason == nil)
    }

    @Test(arguments: ["%F %", "%F %-", "%F %E"])
    func `a pattern ends with a conversion that is whole`(text: String) {
        #expect(TimePattern(text).fault?.reason.hasPrefix("ends in %") == true)
    }

    @Test(arguments: [
        ("%Y-%j", true), ("%a %j %y", true), ("%Y-%m %j", true), ("%Y-%U-%a", true), ("%W %Y %u", true),
        ("%F %j", false), ("%Y-%U", false), ("%Y-%m", false), ("%s %j", false),
    ])
    func `a date is a day of the year where the month or the day lacks`(text: String, isDayOfYear: Bool) {
        #expect(TimePattern(text).isDayOfYear == isDayOfYear)
    }

    @Test func `a zone without an offset is a name of UTC`() {
        #expect(TimePattern("%F %T").alternatives == ["%F %T"])
        #expect(TimePattern("%F %T %z %Z").alternatives == ["%F %T %z %Z"], "the offset says the zone")
        #expect(
            TimePattern("%T%Z %%Z %F").alternatives
                == ["UTC", "GMT", "UT", "Z", "utc", "gmt", "ut", "z"].map { "%T \($0) %%Z %F" })
    }

    @Test(
        arguments: [
            (-62_135_596_800_000_000, "%d.%m.%Y", "01.01.0001"), (-62_135_596_800_000_000, "%F %%Y", "0001-01-01 %Y"),
            (0, "%F %Y", "1970-01-01 1970"),
        ] as [(Int64, String, String)])
    func `a year is written with four digits`(microseconds: Int64, pattern: String, expected: String) {
        #expect(Timestamp.text(microseconds: microseconds, pattern: pattern) == expected)
    }
}
