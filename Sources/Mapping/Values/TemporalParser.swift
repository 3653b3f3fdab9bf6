internal import Glibc
internal import CTime
internal import Model
internal import RecordBatch
internal import TextFormats

/// A parser for timestamps and dates.
///
/// Accepts ISO 8601 in the profile of RFC 3339 (also with a space for `T`, without seconds, with a comma, or without a
/// zone, which means UTC), a number of units since 1970, or text in a strftime format.
struct TemporalParser: Sendable {
    private let unit: TimeUnit
    private let format: String?

    init(_ transformers: [Transformer]) {
        var unit = TimeUnit.seconds
        var format: String?
        for transformer in transformers {
            if case .unit(let value) = transformer { unit = value }
            if case .format(let value) = transformer { format = value }
        }
        self.unit = unit
        self.format = format
    }

    /// Returns a timestamp as `YYYY-MM-DDTHH:MM:SS.ffffffZ` in UTC.
    func timestamp(_ scalar: RemoteScalar) throws(ValueConverter.Misfit) -> String {
        Timestamp.text(microseconds: try microseconds(scalar))
    }

    /// Returns a date as `YYYY-MM-DD`.
    func date(_ scalar: RemoteScalar) throws(ValueConverter.Misfit) -> String {
        // xs:date may have a zone; the day stays as written.
        if format == nil, case .text(let text) = scalar, let day = ISODate(text)?.day { return day }
        let microseconds = try microseconds(scalar)
        guard microseconds % 86_400_000_000 == 0 else {
            throw ValueConverter.Misfit(reason: "\(scalar.shown) is not a date: it has a time; use type timestamp")
        }
        return String(Timestamp.text(microseconds: microseconds).prefix { $0 != "T" })
    }

    private func microseconds(_ scalar: RemoteScalar) throws(ValueConverter.Misfit) -> Int64 {
        if case .timestamp(let value) = scalar, Self.isInRange(value) { return value }
        if let format {
            if let text = scalar.text, let value = Self.parse(text, format) { return value }
            throw ValueConverter.Misfit(reason: "\(scalar.shown) is not a time of the format \(format)")
        }
        switch scalar {
        case .text(let text):
            if let value = ISODate(text)?.microseconds { return value }
            if let value = number(text) { return value }
        case .int(let value):
            if let value = number(String(value)) { return value }
        case .decimal(let text):
            if let value = number(text) { return value }
        case .double(let double):
            if let value = number("\(double)") { return value }
        default: break
        }
        throw ValueConverter.Misfit(
            reason: "\(scalar.shown) is not an ISO 8601 time or a number of \(unit.rawValue)" + (hint(scalar) ?? ""))
    }

    /// Returns a hint about a finer unit for a number that is out of range in the configured unit.
    private func hint(_ scalar: RemoteScalar) -> String? {
        guard let text = scalar.text, let number = DecimalText(text),
            let whole = Int64(number.plain.prefix { $0 != "." })
        else { return nil }
        let finer: [(TimeUnit, Int64)] = [(.milliseconds, 1000), (.microseconds, 1)]
        for (unit, factor) in finer where unit != self.unit {
            let (microseconds, overflow) = whole.multipliedReportingOverflow(by: factor)
            guard !overflow, Self.isInRange(microseconds) else { continue }
            return " since 1970; it may be one of \(unit.rawValue): transform: {unit: \(unit.rawValue)}"
        }
        return nil
    }

    /// Returns the microseconds of a number in the configured unit.
    ///
    /// Digits below a microsecond are truncated.
    private func number(_ text: String) -> Int64? {
        guard let number = DecimalText(text) else { return nil }
        let decimals =
            switch unit {
            case .seconds: 6
            case .milliseconds: 3
            case .microseconds: 0
            }
        let parts = number.plain.split(separator: ".")
        let fraction = parts.count > 1 ? parts[1].prefix(decimals) : ""
        let digits = parts[0] + fraction + String(repeating: "0", count: decimals - fraction.count)
        return Int64(digits).flatMap { TemporalParser.isInRange($0) ? $0 : nil }
    }

    /// Returns whether an instant is in the years 0001 to 9999, the range of the text form.
    static func isInRange(_ microseconds: Int64) -> Bool {
        (-62_135_596_800_000_000...253_402_300_799_999_999).contains(microseconds)
    }

    private static func parse(_ text: String, _ format: String) -> Int64? {
        var time = tm()
        // Fields that the format omits default to the first: `%Y-%m` is the first day of the month.
        time.tm_year = 70
        time.tm_mday = 1
        let isWhole = text.withCString { start in
            // Text may contain NUL, where C sees the end.
            bmo_strptime(start, format, &time).map { UnsafePointer($0) - start == text.utf8.count } ?? false
        }
        // strptime accepts 31 February, which timegm would convert to a day in March.
        guard isWhole,
            time.tm_mday <= ISODate.days(of: Int64(time.tm_mon) + 1, Int64(time.tm_year) + 1900)
        else { return nil }
        let offset = Int64(time.tm_gmtoff)
        let (microseconds, overflow) = (Int64(timegm(&time)) - offset).multipliedReportingOverflow(by: 1_000_000)
        return !overflow && isInRange(microseconds) ? microseconds : nil
    }
}

/// The parts of an ISO 8601 date or time.
struct ISODate {
    let microseconds: Int64
    /// `YYYY-MM-DD` as written, if the text has no time or the time is midnight.
    let day: String?

    init?(_ text: String) {
        var scanner = DigitScanner(text)
        guard let year = scanner.number(digits: 4), scanner.skip("-"), let month = scanner.number(digits: 2),
            scanner.skip("-"), let day = scanner.number(digits: 2), (1...12).contains(month), year >= 1,
            day >= 1, day <= Self.days(of: month, year)
        else { return nil }
        let days = Timestamp.days(year: year, month: month, day: day)
        var seconds: Int64 = 0
        var fraction: Int64 = 0
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
            seconds = hour * 3600 + minute * 60 + second
            guard hour < 24 || (seconds == 86_400 && fraction == 0) else { return nil }
        }
        guard let offset = scanner.zone(), scanner.isAtEnd else { return nil }
        let microseconds = (days * 86_400 + seconds - offset) * 1_000_000 + fraction
        guard TemporalParser.isInRange(microseconds) else { return nil }
        self.microseconds = microseconds
        self.day = seconds == 0 && fraction == 0 ? String(text.prefix(10)) : nil
    }

    static func days(of month: Int64, _ year: Int64) -> Int64 {
        let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
        return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][Int(month - 1)]
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
