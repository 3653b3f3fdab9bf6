internal import BridgeKit
internal import Glibc
internal import TextFormats

/// Reads and writes times in the formats that APIs use in requests.
enum TimeText {
    /// Returns a time as microseconds since 1970; nil if the text is not a time.
    ///
    /// The text is an ISO 8601 time or date, seconds or milliseconds since 1970, `now`, or a text such as `now-30d`.
    ///
    /// A time without a zone counts as UTC. A time outside the years 1 to 9999 is not one.
    static func microseconds(_ text: String, now: Int64) -> Int64? {
        if text.hasPrefix("now") {
            let rest = text.dropFirst(3)
            if rest.isEmpty { return now }
            guard let sign = rest.first, "+-".contains(sign), let span = seconds(rest.dropFirst()) else { return nil }
            let time = now + (sign == "-" ? -span : span) * 1_000_000
            return Timestamp.range.contains(time) ? time : nil
        }
        if text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int64(text), text.utf8.count > 8 {
            let (value, overflow) = number.multipliedReportingOverflow(by: number < 100_000_000_000 ? 1_000_000 : 1000)
            return overflow || !Timestamp.range.contains(value) ? nil : value
        }
        return ISODate(text.hasSuffix(" UTC") ? String(text.dropLast(4)) : text)?.microseconds
    }

    /// Returns the seconds of a span such as `30d`, of 10,000 years at most; the units are s, m, h, d and w.
    static func seconds(_ text: some StringProtocol) -> Int64? {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800]
        guard let last = text.last, let unit = units[last], let count = Int64(text.dropLast()), count > 0,
            count <= 315_576_000_000 / unit
        else { return nil }
        return count * unit
    }

    /// Returns the microseconds of a span such as `1d` or `1ms`; the units are also ms and us.
    static func span(_ text: String) -> Int64? {
        for (unit, length) in [("ms", 1000 as Int64), ("us", 1)] where text.hasSuffix(unit) {
            guard let count = Int64(text.dropLast(2)), (1...1_000_000_000).contains(count) else { return nil }
            return count * length
        }
        return seconds(text).map { $0 * 1_000_000 }
    }

    /// Writes a time by a strftime pattern.
    ///
    /// Besides strftime's conversions, the pattern may have `%f` (six digits of the second), `%_ms` (three digits),
    /// `%s` (seconds since 1970), `%ms` (milliseconds since 1970), `%epoch_microseconds` and `%s_as_float`.
    static func text(_ microseconds: Int64, format: String) -> String {
        let seconds = microseconds / 1_000_000 - (microseconds % 1_000_000 < 0 ? 1 : 0)
        let fraction = microseconds - seconds * 1_000_000
        func padded(_ number: Int64, _ width: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
        /// What a conversion of these is replaced with; a longer one is before its beginning.
        func replacement(_ rest: Substring) -> (length: Int, text: String)? {
            if rest.hasPrefix("%epoch_microseconds") { return (19, String(microseconds)) }
            if rest.hasPrefix("%s_as_float") { return (11, "\(seconds).\(padded(fraction, 6))") }
            if rest.hasPrefix("%_ms") { return (4, padded(fraction / 1000, 3)) }
            if rest.hasPrefix("%ms") { return (3, String(microseconds / 1000)) }
            if rest.hasPrefix("%f") { return (2, padded(fraction, 6)) }
            if rest.hasPrefix("%s") { return (2, String(seconds)) }
            if rest.hasPrefix("%z") { return (2, "+0000") }
            return rest.hasPrefix("%Z") ? (2, "UTC") : nil
        }
        var pattern = ""
        var rest = format[...]
        while let mark = rest.firstIndex(of: "%") {
            pattern += rest[..<mark]
            rest = rest[mark...]
            let (length, text) = replacement(rest) ?? (2, String(rest.prefix(2)))
            pattern += text
            rest = rest.dropFirst(length)
        }
        pattern += rest
        return Timestamp.text(microseconds: microseconds, pattern: pattern)
    }

    /// Returns the smallest step of a format, in microseconds, which is the least length of a window.
    static func step(of format: String?) -> Int64 {
        guard let format else { return 1_000_000 }
        if ["%f", "%epoch_microseconds", "%s_as_float"].contains(where: format.contains) { return 1 }
        if ["%_ms", "%ms"].contains(where: format.contains) { return 1000 }
        if ["%s", "%S", "%T", "%X"].contains(where: format.contains) { return 1_000_000 }
        return ["%H", "%M", "%R"].contains(where: format.contains) ? 60_000_000 : 86_400_000_000
    }

    /// The present, in microseconds since 1970.
    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }
}
