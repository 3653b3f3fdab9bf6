/// A date or time in ISO 8601.
///
/// Reads the profile of RFC 3339, also with a space for `T`, without seconds, with a comma, or without a zone, which means
/// UTC. The year is from 0001 to 9999.
package struct ISODate: Sendable {
    /// The microseconds since 1970-01-01T00:00:00Z; of a date, its midnight.
    package let microseconds: Int64
    /// `YYYY-MM-DD` as written, if the text has no time or the time is midnight.
    package let day: String?
    /// Whether the second is the leap second 60, which is not the midnight that the microseconds say.
    package let isLeapSecond: Bool

    /// Reads a text; nil if it is not a date or time.
    package init?(_ text: String) {
        var scanner = DigitScanner(text)
        guard let year = scanner.number(digits: 4), scanner.skip("-"), let month = scanner.number(digits: 2),
            scanner.skip("-"), let day = scanner.number(digits: 2), (1...12).contains(month), year >= 1,
            day >= 1, day <= Self.days(of: month, year)
        else { return nil }
        let days = Timestamp.days(year: year, month: month, day: day)
        var seconds: Int64 = 0
        var fraction: Int64 = 0
        var isLeapSecond = false
        if scanner.skip("T") || scanner.skip("t") || scanner.skip(" ") {
            guard let hour = scanner.number(digits: 2), scanner.skip(":"), let minute = scanner.number(digits: 2),
                hour <= 24, minute <= 59
            else { return nil }
            var second: Int64 = 0
            if scanner.skip(":") {
                guard let value = scanner.number(digits: 2), value <= 60 else { return nil }
                second = value
                if scanner.skip(".") || scanner.skip(",") {
                    guard let value = scanner.microseconds() else { return nil }
                    fraction = value
                }
            }
            isLeapSecond = second == 60
            seconds = hour * 3600 + minute * 60 + second
            guard hour < 24 || (seconds == 86_400 && fraction == 0) else { return nil }
        }
        guard let offset = scanner.zone(), scanner.isAtEnd else { return nil }
        let microseconds = (days * 86_400 + seconds - offset) * 1_000_000 + fraction
        guard Timestamp.range.contains(microseconds) else { return nil }
        self.microseconds = microseconds
        self.isLeapSecond = isLeapSecond
        self.day = seconds == 0 && fraction == 0 ? String(text.prefix(10)) : nil
    }

    /// Returns the number of days of a month, which is from 1 to 12.
    package static func days(of month: Int64, _ year: Int64) -> Int64 {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        switch month {
        case 2: return isLeap ? 29 : 28
        case 4, 6, 9, 11: return 30
        default: return 31
        }
    }
}

/// Reads digits and separators from left to right.
private struct DigitScanner {
    private let bytes: [UInt8]
    private var index = 0

    init(_ text: String) { bytes = Array(text.utf8) }

    var isAtEnd: Bool { index == bytes.count }

    mutating func skip(_ mark: Character) -> Bool {
        guard index < bytes.count, bytes[index] == mark.asciiValue else { return false }
        index += 1
        return true
    }

    mutating func number(digits: Int) -> Int64? {
        guard index + digits <= bytes.count else { return nil }
        var value: Int64 = 0
        for byte in bytes[index..<index + digits] {
            guard (48...57).contains(byte) else { return nil }
            value = value * 10 + Int64(byte - 48)
        }
        index += digits
        return value
    }

    /// Reads the decimals of a second; digits below a microsecond are truncated.
    mutating func microseconds() -> Int64? {
        var value: Int64 = 0
        var count = 0
        while index < bytes.count, (48...57).contains(bytes[index]) {
            if count < 6 { value = value * 10 + Int64(bytes[index] - 48) }
            count += 1
            index += 1
        }
        guard count > 0 else { return nil }
        for _ in count..<max(count, 6) { value *= 10 }
        return value
    }

    /// Reads a zone in seconds east of UTC; a missing zone is UTC.
    mutating func zone() -> Int64? {
        if isAtEnd || skip("Z") || skip("z") { return 0 }
        let sign: Int64
        if skip("+") { sign = 1 } else if skip("-") { sign = -1 } else { return nil }
        guard let hours = number(digits: 2), hours <= 23 else { return nil }
        _ = skip(":")
        guard !isAtEnd else { return sign * hours * 3600 }
        guard let minutes = number(digits: 2), minutes <= 59 else { return nil }
        return sign * (hours * 3600 + minutes * 60)
    }
}
