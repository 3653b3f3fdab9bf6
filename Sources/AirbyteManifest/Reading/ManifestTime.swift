/// Converts a time that a manifest writes in a format of its own to ISO 8601, as the section's `since` takes it.
enum ManifestTime {
    /// Returns the time, or nil if it does not have the format, or that has other parts than numbers of a date and time.
    ///
    /// - Parameter format: A pattern of Python's strptime.
    static func iso(_ text: String, format: String) -> String? {
        var parts: [Character: Int] = [:]
        var rest = text[...]
        var pattern = format.replacing("%_ms", with: "%f")[...]
        while let character = pattern.popFirst() {
            guard character == "%" else {
                guard rest.popFirst() == character else { return nil }
                continue
            }
            guard let letter = pattern.popFirst() else { return nil }
            if letter == "z" || letter == "Z" {
                // Another zone would need a conversion.
                guard let zone = ["+00:00", "+0000", "UTC", "Z"].first(where: rest.hasPrefix) else { return nil }
                rest = rest.dropFirst(zone.count)
                continue
            }
            guard let width = widths[letter] else { return nil }
            let digits = rest.prefix(width).prefix { $0.isASCII && $0.isNumber }
            guard let number = Int(digits) else { return nil }
            rest = rest.dropFirst(digits.count)
            parts[letter] = number
        }
        let (month, day) = (parts["m"] ?? 1, parts["d"] ?? 1)
        let (hour, minute, second) = (parts["H"] ?? 0, parts["M"] ?? 0, parts["S"] ?? 0)
        guard rest.isEmpty, let year = parts["Y"], (1...9999).contains(year), (1...12).contains(month),
            (1...31).contains(day), hour < 24, minute < 60, second < 60
        else { return nil }
        let date = "\(padded(year, 4))-\(padded(month, 2))-\(padded(day, 2))"
        return date + "T\(padded(hour, 2)):\(padded(minute, 2)):\(padded(second, 2))Z"
    }

    private static let widths: [Character: Int] = ["Y": 4, "m": 2, "d": 2, "H": 2, "M": 2, "S": 2, "f": 6]

    private static func padded(_ number: Int, _ width: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
