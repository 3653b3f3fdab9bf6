internal import Model
internal import RecordBatch
internal import TextFormats

/// A parser for timestamps and dates.
///
/// Accepts ISO 8601 in the profile of RFC 3339 (also with a space for `T`, without seconds, with a comma, or without a
/// zone, which means UTC), a number of units since 1970, or text in a strftime format.
struct TemporalParser: Sendable {
    private static let calendarDays = TimePatternReader("%Y%m%d")

    private let unit: TimeUnit
    /// Whether digits may be a calendar date, because no unit says that they are a time since 1970.
    private let mayBeCalendar: Bool
    private let format: TimePatternReader?

    init(_ transformers: [Transformer]) {
        var unit: TimeUnit?
        var format: String?
        for transformer in transformers {
            if case .unit(let value) = transformer { unit = value }
            if case .format(let value) = transformer { format = value }
        }
        self.unit = unit ?? .seconds
        mayBeCalendar = unit == nil
        self.format = format.map { TimePatternReader($0) }
    }

    /// Returns a timestamp as `YYYY-MM-DDTHH:MM:SS.ffffffZ` in UTC.
    func timestamp(_ scalar: RemoteScalar) throws(ValueConverter.Misfit) -> String {
        Timestamp.text(microseconds: try microseconds(scalar))
    }

    /// Returns a date as `YYYY-MM-DD`.
    func date(_ scalar: RemoteScalar) throws(ValueConverter.Misfit) -> String {
        // xs:date may have a zone; the day stays as written.
        if format == nil, case .text(let text) = scalar, let day = ISODate(text)?.day { return day }
        if format == nil, case .int(let value) = scalar, let format = Self.calendarFormat(of: String(value)) {
            throw Self.calendarDate(scalar, format)
        }
        let microseconds = try microseconds(scalar)
        guard microseconds % 86_400_000_000 == 0, !isLeapSecond(scalar) else {
            throw ValueConverter.Misfit(reason: "\(scalar.shown) is not a date: it has a time; use type timestamp")
        }
        return String(Timestamp.text(microseconds: microseconds).prefix { $0 != "T" })
    }

    /// Whether a time is the second before the midnight that its microseconds say.
    private func isLeapSecond(_ scalar: RemoteScalar) -> Bool {
        guard let text = scalar.text else { return false }
        guard let format else { return ISODate(text)?.isLeapSecond ?? false }
        return format.isLeapSecond(text)
    }

    private func microseconds(_ scalar: RemoteScalar) throws(ValueConverter.Misfit) -> Int64 {
        if case .timestamp(let value) = scalar, Timestamp.range.contains(value) { return value }
        if let format {
            if let text = scalar.text, let value = format.microseconds(text) { return value }
            throw ValueConverter.Misfit(reason: "\(scalar.shown) is not \(format.expectation)")
        }
        switch scalar {
        case .text(let text):
            if let value = ISODate(text)?.microseconds { return value }
            if mayBeCalendar, let format = Self.calendarFormat(of: text) { throw Self.calendarDate(scalar, format) }
            if let value = number(text) { return value }
        case .int(let value):
            if mayBeCalendar, Self.isCalendarDay(value) { throw Self.calendarDate(scalar, "%Y%m%d") }
            if let value = number(String(value)) { return value }
        case .decimal(let text):
            if mayBeCalendar, let value = Int64(text), Self.isCalendarDay(value) {
                throw Self.calendarDate(scalar, "%Y%m%d")
            }
            if let value = number(text) { return value }
        case .double(let double):
            if let value = number("\(double)") { return value }
        default: break
        }
        throw ValueConverter.Misfit(
            reason: "\(scalar.shown) is not an ISO 8601 time or a number of \(unit.rawValue)" + (hint(scalar) ?? ""))
    }

    /// Returns the format of digits that are a day or a year of these centuries, which as seconds would be in 1970; nil
    /// for other text.
    private static func calendarFormat(of digits: String) -> String? {
        guard [4, 8].contains(digits.utf8.count), digits.utf8.allSatisfy({ (48...57).contains($0) }),
            ("1800"..."2199").contains(String(digits.prefix(4)))
        else { return nil }
        guard digits.utf8.count == 8 else { return "%Y" }
        return calendarDays.microseconds(digits) == nil ? nil : "%Y%m%d"
    }

    /// Returns whether a number is a day from 1900 to 2100, as `YYYYMMDD`; as seconds it would be in August 1970.
    private static func isCalendarDay(_ number: Int64) -> Bool {
        (19_000_101...21_001_231).contains(number) && calendarDays.microseconds(String(number)) != nil
    }

    /// Returns the error for digits that seem to be a calendar date of a format.
    private static func calendarDate(_ scalar: RemoteScalar, _ format: String) -> ValueConverter.Misfit {
        ValueConverter.Misfit(
            reason: "\(scalar.shown) seems to be a calendar date: add transform: {format: \"\(format)\"}")
    }

    /// Returns a hint about a finer unit for a number that is out of range in the configured unit.
    private func hint(_ scalar: RemoteScalar) -> String? {
        guard let text = scalar.text, let number = DecimalText(text),
            let whole = Int64(number.plain.prefix { $0 != "." })
        else { return nil }
        let finer: [(TimeUnit, Int64)] = [(.milliseconds, 1000), (.microseconds, 1)]
        for (unit, factor) in finer where unit != self.unit {
            let (microseconds, overflow) = whole.multipliedReportingOverflow(by: factor)
            guard !overflow, Timestamp.range.contains(microseconds) else { continue }
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
        return Int64(digits).flatMap { Timestamp.range.contains($0) ? $0 : nil }
    }
}
