internal import CTime
internal import TextFormats

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A reader of times in a strptime pattern.
///
/// strptime checks neither that a day exists nor that a year is written in full, and it skips the names of zones.
struct TimePatternReader: Sendable {
    private static let zones = TimePattern.namesOfUTC.joined(separator: ", ")

    private let pattern: TimePattern
    /// What strptime reads with; none if the pattern does not determine a time.
    private let alternatives: [String]

    init(_ pattern: String) {
        self.pattern = TimePattern(pattern)
        alternatives = self.pattern.fault == nil ? self.pattern.alternatives : []
    }

    /// What a text is that can be read, for a message.
    var expectation: String {
        let time = "a time of the format \(pattern.text)"
        return pattern.isLimitedToUTC ? "\(time), whose zone is one of \(Self.zones); use %z for an offset" : time
    }

    /// Returns the microseconds since 1970 of a text; nil if it does not fit the pattern, or is not of the years 1 to
    /// 9999.
    func microseconds(_ text: String) -> Int64? {
        guard var time = fields(text) else { return nil }
        let offset = Int64(time.tm_gmtoff)
        let (microseconds, overflow) = (Int64(timegm(&time)) - offset).multipliedReportingOverflow(by: 1_000_000)
        return !overflow && Timestamp.range.contains(microseconds) ? microseconds : nil
    }

    /// Whether a text has the leap second 60, which is not the midnight that its microseconds may say.
    func isLeapSecond(_ text: String) -> Bool { fields(text)?.tm_sec == 60 }

    private func fields(_ text: String) -> tm? {
        for alternative in alternatives {
            if let time = Self.fields(of: text, alternative) { return existing(time, text) }
        }
        return nil
    }

    private static func fields(of text: String, _ pattern: String) -> tm? {
        var time = tm()
        // Fields that the pattern omits default to the first: `%Y-%m` is the first day of the month.
        time.tm_year = 70
        time.tm_mday = 1
        // Not every C library sets it: then no day of the year is accepted.
        time.tm_yday = -1
        let isWhole = text.withCString { start in
            // Text may contain NUL, where C sees the end.
            bmo_strptime(start, pattern, &time).map { UnsafePointer($0) - start == text.utf8.count } ?? false
        }
        return isWhole ? time : nil
    }

    /// Returns the fields of a time whose day exists; nil for others, which timegm would convert to another day.
    private func existing(_ time: tm, _ text: String) -> tm? {
        var time = time
        let year = Int64(time.tm_year) + 1900
        // An offset is less than a day, as in ISO 8601.
        guard Self.isInFull(year, text), time.tm_sec <= 60, time.tm_gmtoff.magnitude < 86_400 else { return nil }
        guard pattern.isDayOfYear else {
            let isDay =
                (0...11).contains(time.tm_mon) && time.tm_mday <= ISODate.days(of: Int64(time.tm_mon) + 1, year)
            return isDay ? time : nil
        }
        // The months but February have 337 days.
        guard time.tm_yday >= 0, Int64(time.tm_yday) < 337 + ISODate.days(of: 2, year) else { return nil }
        // strptime sets the month and the day from `%j` only where no weekday is read, and timegm from any day.
        time.tm_mon = 0
        time.tm_mday = time.tm_yday + 1
        return time
    }

    /// Whether a year is in a text with four digits: `%Y` reads fewer, and takes `26` for the year 26.
    private static func isInFull(_ year: Int64, _ text: String) -> Bool {
        let digits = String(year)
        return digits.count >= 4 || text.contains(String(repeating: "0", count: 4 - digits.count) + digits)
    }
}
