/// Converts durations from ISO 8601 (`P30D`, `PT1H`) to the form that a configuration has.
enum ISODuration {
    /// Returns the seconds; a month counts as 30 days, a year as 365.
    static func seconds(_ text: String) -> Int64? {
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
            case "Y": unit = 365 * 86_400
            case "M": unit = isTime ? 60 : 30 * 86_400
            case "W": unit = 7 * 86_400
            case "D": unit = 86_400
            case "H": unit = 3600
            case "S": unit = 1
            default: return nil
            }
            guard let part = Int64(exactly: (value * unit).rounded(.towardZero)) else { return nil }
            let (sum, isOver) = total.addingReportingOverflow(part)
            guard !isOver else { return nil }
            total = sum
            digits = ""
        }
        return digits.isEmpty ? total : nil
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
