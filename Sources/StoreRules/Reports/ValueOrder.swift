package import Mapping

/// The order and comparison of values, as SQL databases define it.
package enum ValueOrder {
    /// Returns a negative number, zero or a positive number: null, then numbers, then text by its bytes, then bytes.
    package static func compare(_ left: StoredValue, _ right: StoredValue) -> Int {
        let (first, second) = (rank(left), rank(right))
        guard first == second else { return first - second }
        return switch (left.form, right.form) {
        case (.integer(let left), .integer(let right)): left < right ? -1 : left > right ? 1 : 0
        case (.text(let left), .text(let right)): order(left.utf8, right.utf8)
        case (.bytes(let left), .bytes(let right)): order(left, right)
        case (.null, .null): 0
        default: order(number(left) ?? 0, number(right) ?? 0)
        }
    }

    /// Returns whether a key comes before another.
    package static func precedes(_ left: RowKey, _ right: RowKey) -> Bool {
        for (left, right) in zip(left, right) {
            let order = compare(left, right)
            if order != 0 { return order < 0 }
        }
        return left.count < right.count
    }

    /// Returns the order of two values of a column: decimals by their numbers, with all digits; others as
    /// ``compare(_:_:)`` does.
    package static func compare(_ left: StoredValue, _ right: StoredValue, isDecimal: Bool) -> Int {
        guard isDecimal, case .text(let first) = left.form, case .text(let second) = right.form else {
            return compare(left, right)
        }
        return DecimalOrder.compare(first, second)
    }

    /// Returns whether text matches a pattern in which `%` matches any text and `_` one character; ASCII letters match
    /// in either case.
    package static func matches(_ text: String, _ pattern: String) -> Bool {
        let text = Array(text.unicodeScalars), pattern = Array(pattern.unicodeScalars)
        var (place, part) = (0, 0)
        var retry: (place: Int, part: Int)?
        while place < text.count {
            if part < pattern.count, pattern[part] == "%" {
                retry = (place, part)
                part += 1
            } else if part < pattern.count, pattern[part] == "_" || folded(pattern[part]) == folded(text[place]) {
                place += 1
                part += 1
            } else if let (start, percent) = retry {
                retry = (start + 1, percent)
                (place, part) = (start + 1, percent + 1)
            } else {
                return false
            }
        }
        return pattern[part...].allSatisfy { $0 == "%" }
    }

    /// Returns a value's text, as a pattern sees it; nil for null.
    package static func text(_ value: StoredValue) -> String? {
        switch value.form {
        case .null: nil
        case .integer, .real, .text: value.description
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        }
    }

    private static func folded(_ scalar: Unicode.Scalar) -> UInt32 {
        ("A"..."Z").contains(scalar) ? scalar.value + 32 : scalar.value
    }

    private static func rank(_ value: StoredValue) -> Int {
        switch value.form {
        case .null: 0
        case .integer, .real: 1
        case .text: 2
        case .bytes: 3
        }
    }

    private static func number(_ value: StoredValue) -> Double? {
        switch value.form {
        case .integer(let value): Double(value)
        case .real(let value): value
        default: nil
        }
    }

    private static func order(_ left: Double, _ right: Double) -> Int { left < right ? -1 : left > right ? 1 : 0 }

    private static func order(_ left: some Sequence<UInt8>, _ right: some Sequence<UInt8>) -> Int {
        left.lexicographicallyPrecedes(right) ? -1 : right.lexicographicallyPrecedes(left) ? 1 : 0
    }
}
