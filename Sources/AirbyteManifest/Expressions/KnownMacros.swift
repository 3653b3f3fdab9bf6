internal import Model
internal import TextFormats

/// Airbyte's macros for times and numbers that are known.
enum KnownMacros {
    /// Returns the result of a call, or nil if it is not known, or an error in Python.
    static func call(_ name: String, _ arguments: [ConfigValue]) -> ConfigValue? {
        switch (name, arguments.count) {
        case ("max", 1), ("min", 1): return extreme(arguments[0].array ?? [], isLargest: name == "max")
        case ("max", 2...), ("min", 2...): return extreme(arguments, isLargest: name == "max")
        case ("timestamp", 1):
            switch arguments[0] {
            case .int: return arguments[0]
            case .double(let number): return Int64(exactly: number.rounded(.towardZero)).map { .int($0) }
            default: return microseconds(arguments[0]).map { .double(Double($0) / 1_000_000) }
            }
        case ("format_datetime", 2):
            var time = microseconds(arguments[0])
            if case .int(let seconds) = arguments[0] { time = microseconds(seconds: seconds) }
            return time.flatMap { text($0, arguments[1]) }
        case ("format_datetime", 3):
            guard let given = arguments[0].string, let format = arguments[2].string,
                let time = ManifestTime.iso(given, format: format)
            else { return nil }
            return microseconds(.string(time)).flatMap { text($0, arguments[1]) }
        default: return nil
        }
    }

    /// Calls a method of a time that `str_to_datetime` has made of a text.
    static func method(_ name: String, of value: ConfigValue, _ arguments: [ConfigValue]) -> ConfigValue? {
        guard let time = microseconds(value) else { return nil }
        switch (name, arguments.count) {
        case ("strftime", 1): return text(time, arguments[0])
        // Python writes fractions only where there are some.
        case ("isoformat", 0) where time % 1_000_000 == 0:
            return text(time, .string("%Y-%m-%dT%H:%M:%S+00:00"))
        case ("isoformat", 0): return text(time, .string("%Y-%m-%dT%H:%M:%S.%f+00:00"))
        case ("timestamp", 0): return .double(Double(time) / 1_000_000)
        default: return nil
        }
    }

    /// Returns a time in a format of the CDK; nil for one that Python and the C library may write differently.
    static func text(_ microseconds: Int64, _ format: ConfigValue) -> ConfigValue? {
        guard let format = format.string, format.utf8.count < 200, Timestamp.range.contains(microseconds) else {
            return nil
        }
        let fraction = (microseconds % 1_000_000 + 1_000_000) % 1_000_000
        let digits = String(String(fraction + 1_000_000).dropFirst())
        switch format {
        case "%s": return .string(String((microseconds - fraction) / 1_000_000))
        case "%ms": return .string(String((microseconds - fraction % 1000) / 1000))
        case "%epoch_microseconds": return .string(String(microseconds))
        default: break
        }
        var pattern = format
        for (code, value) in [("%_ms", String(digits.prefix(3))), ("%f", digits), ("%z", "+0000"), ("%Z", "UTC")] {
            pattern = pattern.replacing(code, with: value)
        }
        guard !pattern.contains("%s"), !pattern.contains("%ms"), !pattern.contains("%e") else { return nil }
        return .string(Timestamp.text(microseconds: microseconds, pattern: pattern))
    }

    private static func microseconds(_ value: ConfigValue) -> Int64? {
        value.string.flatMap { ISODate($0)?.microseconds }
    }

    private static func microseconds(seconds: Int64) -> Int64? {
        let (time, isOver) = seconds.multipliedReportingOverflow(by: 1_000_000)
        return isOver ? nil : time
    }

    private static func extreme(_ values: [ConfigValue], isLargest: Bool) -> ConfigValue? {
        let texts = values.compactMap(\.string)
        if texts.count == values.count { return (isLargest ? texts.max() : texts.min()).map { .string($0) } }
        guard var result = values.first else { return nil }
        for value in values.dropFirst() {
            guard let isMore = Functions.operation(">", value, result)?.bool else { return nil }
            if isMore == isLargest { result = value }
        }
        return result
    }

    /// Returns a part of a text or a list, as Python takes it.
    static func slice(_ value: ConfigValue, from start: ConfigValue, to end: ConfigValue) -> ConfigValue? {
        func bounds(_ count: Int) -> Range<Int>? {
            func place(_ index: ConfigValue, _ absent: Int) -> Int? {
                if index == .null { return absent }
                guard let number = index.int else { return nil }
                let (moved, isOver) = number.addingReportingOverflow(number < 0 ? Int64(count) : 0)
                return isOver ? nil : Int(min(max(moved, 0), Int64(count)))
            }
            guard let lower = place(start, 0), let upper = place(end, count) else { return nil }
            return lower..<max(lower, upper)
        }
        if let list = value.array { return bounds(list.count).map { .array(Array(list[$0])) } }
        guard let text = value.string else { return nil }
        // Python counts code points.
        let scalars = Array(text.unicodeScalars)
        return bounds(scalars.count).map { range in
            var view = String.UnicodeScalarView()
            view.append(contentsOf: scalars[range])
            return .string(String(view))
        }
    }
}
