#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// Points in time as microseconds since 1970-01-01T00:00:00Z, and their text.
package enum Timestamp {
    /// The times of the years 0001 to 9999, which the text can represent.
    package static var range: ClosedRange<Int64> { -62_135_596_800_000_000...253_402_300_799_999_999 }

    /// Returns text such as `2026-11-21T07:08:08.000000Z`: UTC, always with six decimals, so that text sorts like time.
    package static func text(microseconds: Int64) -> String {
        if range.contains(microseconds) {
            return String(unsafeUninitializedCapacity: textLength) { bytes in
                write(microseconds: microseconds, to: UnsafeMutableRawBufferPointer(bytes))
                return textLength
            }
        }
        let second = 1_000_000 as Int64
        let seconds = microseconds / second - (microseconds % second < 0 ? 1 : 0)
        let fraction = (microseconds % second + second) % second
        let days = seconds / 86_400 - (seconds % 86_400 < 0 ? 1 : 0)
        let time = seconds - days * 86_400
        let (year, month, day) = civil(days: days)
        return
            "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))T\(padded(time / 3600, 2)):"
            + "\(padded(time / 60 % 60, 2)):\(padded(time % 60, 2)).\(padded(fraction, 6))Z"
    }

    /// Returns the time of a text in the form of ``text(microseconds:)``; nil for any other text.
    package static func microseconds(_ text: String) -> Int64? {
        var text = text
        return text.withUTF8 { microseconds(utf8: UnsafeRawBufferPointer($0)) }
    }

    /// Returns the time of a text in the form of ``text(microseconds:)``; nil for any other text.
    package static func microseconds(utf8 text: UnsafeRawBufferPointer) -> Int64? {
        guard text.count == textLength, let days = days(utf8: UnsafeRawBufferPointer(rebasing: text[..<10])),
            text[10] == UInt8(ascii: "T"), text[13] == UInt8(ascii: ":"), text[16] == UInt8(ascii: ":"),
            text[19] == UInt8(ascii: "."), text[26] == UInt8(ascii: "Z"),
            let hour = number(text[11..<13]), let minute = number(text[14..<16]), let second = number(text[17..<19]),
            let fraction = number(text[20..<26]), hour < 24, minute < 60, second < 60
        else { return nil }
        return ((days * 24 + hour) * 3600 + minute * 60 + second) * 1_000_000 + fraction
    }

    /// Returns the days since 1970-01-01 of a text `YYYY-MM-DD`; nil for any other text.
    package static func days(utf8 text: UnsafeRawBufferPointer) -> Int64? {
        guard text.count == 10, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-"),
            let year = number(text[0..<4]), let month = number(text[5..<7]), let day = number(text[8..<10]),
            year >= 1, (1...12).contains(month), day >= 1, day <= ISODate.days(of: month, year)
        else { return nil }
        return days(year: year, month: month, day: day)
    }

    /// Returns the number that digits are.
    private static func number(_ digits: Slice<UnsafeRawBufferPointer>) -> Int64? {
        var number: Int64 = 0
        for digit in digits {
            guard (48...57).contains(digit) else { return nil }
            number = number * 10 + Int64(digit - 48)
        }
        return number
    }

    /// Returns text in a strftime pattern, in UTC; empty if the pattern gives none, or more than a kilobyte.
    package static func text(microseconds: Int64, pattern: String) -> String {
        var seconds = time_t(microseconds / 1_000_000 - (microseconds % 1_000_000 < 0 ? 1 : 0))
        var parts = tm()
        gmtime_r(&seconds, &parts)
        // glibc writes the year 26 as `26`.
        let year = Int64(parts.tm_year) + 1900
        let pattern = (0..<1000).contains(year) ? Self.pattern(pattern, year: padded(year, 4)) : pattern
        var bytes = [CChar](repeating: 0, count: 1024)
        // strftime returns 0 for a full buffer, too.
        let count = strftime(&bytes, bytes.count, pattern, &parts)
        return String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    private static func pattern(_ pattern: String, year: String) -> String {
        TimePattern(TimePattern(pattern).replacing("F", with: "%Y-%m-%d")).replacing("Y", with: year)
    }

    /// The length in bytes of the text for a year from 0 to 9999.
    package static let textLength = 27

    /// Writes the text for a year from 0 to 9999 to the first ``textLength`` bytes of `bytes`.
    package static func write(microseconds: Int64, to bytes: UnsafeMutableRawBufferPointer) {
        let day: Int64 = 86_400_000_000
        let days = microseconds / day - (microseconds % day < 0 ? 1 : 0)
        let time = microseconds - days * day
        let (year, month, dayOfMonth) = civil(days: days)
        func put(_ value: Int64, _ start: Int, _ width: Int, _ mark: UInt8) {
            var rest = value
            for index in (start..<start + width).reversed() {
                bytes[index] = 48 + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            }
            bytes[start + width] = mark
        }
        put(year, 0, 4, UInt8(ascii: "-"))
        put(month, 5, 2, UInt8(ascii: "-"))
        put(dayOfMonth, 8, 2, UInt8(ascii: "T"))
        put(time / 3_600_000_000, 11, 2, UInt8(ascii: ":"))
        put(time / 60_000_000 % 60, 14, 2, UInt8(ascii: ":"))
        put(time / 1_000_000 % 60, 17, 2, UInt8(ascii: "."))
        put(time % 1_000_000, 20, 6, UInt8(ascii: "Z"))
    }

    /// Returns the days since 1970-01-01 of a date in the proleptic Gregorian calendar.
    ///
    /// Source: Howard Hinnant, "chrono-compatible low-level date algorithms", days_from_civil.
    package static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
    }

    /// Returns the date of a number of days since 1970-01-01.
    ///
    /// Source: as ``days(year:month:day:)``, civil_from_days.
    package static func civil(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shiftedMonth = (5 * dayOfYear + 2) / 153
        let month = shiftedMonth + (shiftedMonth < 10 ? 3 : -9)
        let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
    }

    private static func padded(_ value: Int64, _ width: Int) -> String {
        let digits = String(value.magnitude)
        return (value < 0 ? "-" : "") + String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
