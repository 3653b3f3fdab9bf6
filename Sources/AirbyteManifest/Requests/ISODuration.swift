/// Converts durations from ISO 8601 (`P30D`, `PT1H`) to the form that a configuration has.
enum ISODuration {
    /// Returns the seconds; a month counts as 30 days, a year as 365.
    ///
    /// - Parameter isLongest: Whether a month counts as 31 days, and a year as 366.
    static func seconds(_ text: String, isLongest: Bool = false) -> Int64? {
        whole(text, perSecond: 1, extraDays: isLongest ? 1 : 0)
    }

    /// Returns the microseconds, likewise.
    static func microseconds(_ text: String) -> Int64? { whole(text, perSecond: 1_000_000) }

    private static func whole(_ text: String, perSecond: Double, extraDays: Double = 0) -> Int64? {
        guard text.hasPrefix("P") else { return nil }
        var total: Int64 = 0
        var digits = ""
        var isTime = false
        for character in text.dropFirst() {
            if character.isASCII, character.isNumber || character == "." {
                digits.append(character)
                continue
            }
            if character == "T" {
                isTime = true
                continue
            }
            guard let value = Double(digits), value < 1e9 else { return nil }
            let unit: Double
            switch character {
            case "Y": unit = (365 + extraDays) * 86_400
            case "M": unit = isTime ? 60 : (30 + extraDays) * 86_400
            case "W": unit = 7 * 86_400
            case "D": unit = 86_400
            case "H": unit = 3600
            case "S": unit = 1
            default: return nil
            }
            guard let part = Int64(exactly: (value * unit * perSecond).rounded(.towardZero)) else { return nil }
            let (sum, isOver) = total.addingReportingOverflow(part)
            guard !isOver else { return nil }
            total = sum
            digits = ""
        }
        return digits.isEmpty ? total : nil
    }

    /// Whether a duration has months or years, whose lengths differ.
    static func hasMonths(_ text: String) -> Bool { text.prefix { $0 != "T" }.contains { "YM".contains($0) } }

    /// Returns a span such as `1ms` or `1d`.
    static func span(microseconds: Int64) -> String {
        if microseconds % 1_000_000 == 0 { return span(microseconds / 1_000_000) }
        return microseconds % 1000 == 0 ? "\(microseconds / 1000)ms" : "\(microseconds)us"
    }

    /// Returns a span such as `30d`.
    static func span(_ seconds: Int64) -> String {
        for (unit, length) in [("d", 86_400 as Int64), ("h", 3600), ("m", 60)]
        where seconds > 0 && seconds % length == 0 {
            return "\(seconds / length)\(unit)"
        }
        return "\(seconds)s"
    }
}
