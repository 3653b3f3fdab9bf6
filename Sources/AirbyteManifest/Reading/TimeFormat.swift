internal import TextFormats

/// Patterns of Python's strptime and strftime, and the CDK's own ones.
enum TimeFormat {
    /// Formats of numbers since 1970.
    static let epochs: Set<String> = ["%s", "%s_as_float", "%ms", "%epoch_microseconds"]

    /// Whether all values of a format are ISO 8601 times or dates, which a column of times reads as they are.
    static func isISO(_ format: String) -> Bool {
        let pattern = /%Y-%m-%d([T ]%H:%M(:%S([.,](%f|%_ms|0+))?)?)?(%z|Z|[+-]\d\d:?\d\d)?/
        return format.wholeMatch(of: pattern) != nil
    }

    /// Whether `transform: {format: ...}` reads values of a format: the C library has no fractions of seconds, and the
    /// format must determine a date.
    static func isReadable(_ format: String) -> Bool {
        !epochs.contains(format) && !["%f", "%_ms", "%s"].contains(where: format.contains)
            && TimePattern(format).fault == nil
    }

    /// Whether a format has a time of the day.
    static func hasTime(_ format: String) -> Bool { !letters(format).isDisjoint(with: hours) }

    /// Returns what a time loses that is written in one format and then sent in another: `the day`; nil for nothing.
    ///
    /// Less than a minute counts as nothing.
    static func loss(in format: String, before other: String) -> String? {
        let (own, sent) = (letters(format), letters(other))
        let parts: [(name: String, letters: Set<Character>)] = [
            ("the year", ["Y", "y", "G", "F", "D", "c", "x", "s"]),
            ("the month", ["m", "b", "B", "h", "j", "F", "D", "c", "x", "s"]),
            ("the day", ["d", "e", "j", "F", "D", "c", "x", "s"]),
            ("the hour", hours), ("the minute", ["M", "T", "R", "X", "c", "r", "s"]),
        ]
        return parts.first { own.isDisjoint(with: $0.letters) && !sent.isDisjoint(with: $0.letters) }?.name
    }

    private static let hours: Set<Character> = ["H", "I", "T", "R", "X", "c", "r", "s"]

    /// The letters of a format's conversions; `s` for a number since 1970.
    private static func letters(_ format: String) -> Set<Character> {
        if epochs.contains(format) { return ["s"] }
        var letters: Set<Character> = []
        var rest = format[...]
        while let character = rest.popFirst() {
            guard character == "%" else { continue }
            while let flag = rest.first, "-_0^#".contains(flag) { rest.removeFirst() }
            if let letter = rest.popFirst() { letters.insert(letter) }
        }
        return letters
    }
}
