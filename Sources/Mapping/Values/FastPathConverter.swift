internal import Model
internal import RecordBatch
internal import TextFormats

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Musl)
internal import Musl
#else
internal import Glibc
#endif

/// A fast path that converts the most common value forms to cells without creating a String.
///
/// Its results equal those of ``ValueConverter``. Nil is not an error: it defers the value to the converter.
enum FastPathConverter {
    static func cell(of value: BatchValue, as type: AttributeType, _ arena: Arena) -> Cell? {
        switch (type, value.tag) {
        case (.json, _): nil
        case (_, .null): .null
        case (.text, .text): .text(value.rawBytes)
        case (.integer, .int64): .integer(value.int64)
        case (.boolean, .bool): .boolean(value.bool)
        case (.real, .int64): .real(Double(value.int64))
        case (.real, .double): value.double.isFinite ? .real(value.double) : nil
        case (.real, .decimal): real(value.rawBytes)
        case (.decimal, .decimal): isPlainDecimal(value.rawBytes) ? .decimal(value.rawBytes) : nil
        // The texts of formats that have no numbers, such as CSV and XML.
        case (.integer, .text): integer(value.rawBytes).map { .integer($0) }
        case (.real, .text): isPlainNumber(value.rawBytes) ? real(value.rawBytes) : nil
        case (.decimal, .text): isPlainNumber(value.rawBytes) ? .decimal(value.rawBytes) : nil
        case (.date, .text): isDate(value.rawBytes) ? .date(value.rawBytes) : nil
        case (.timestamp, .text): timestamp(value.rawBytes, arena).map { .timestamp($0) }
        case (.timestamp, .timestamp):
            Timestamp.range.contains(value.int64) ? .timestamp(arena.timestamp(value.int64)) : nil
        default: nil
        }
    }

    /// Converts a number whose JSON grammar the batch validation has checked.
    private static func real(_ bytes: UnsafeRawBufferPointer) -> Cell? {
        if let number = shortDecimal(bytes) { return .real(number) }
        guard bytes.count < 64 else { return nil }
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text -> Cell? in
            UnsafeMutableRawBufferPointer(text).copyMemory(from: bytes)
            text[bytes.count] = 0
            guard let start = text.baseAddress else { return nil }
            let number = strtod(start, nil)
            return number.isFinite ? .real(number) : nil
        }
    }

    /// Converts a number of at most 15 digits without an exponent; returns nil for any other.
    ///
    /// The digits and the power of ten are exact doubles, so that a single division rounds correctly (W. D. Clinger,
    /// How to read floating point numbers accurately, 1990).
    private static func shortDecimal(_ bytes: UnsafeRawBufferPointer) -> Double? {
        guard bytes.count <= 16 else { return nil }
        var digits: Int64 = 0
        var point: Int?
        let isNegative = bytes.first == UInt8(ascii: "-")
        for index in (isNegative ? 1 : 0)..<bytes.count {
            let digit = bytes[index] &- 48
            if digit < 10 {
                digits = digits &* 10 &+ Int64(digit)
            } else if bytes[index] == UInt8(ascii: "."), point == nil {
                point = index
            } else {
                return nil
            }
        }
        // All 16 bytes may be digits.
        guard digits < 1_000_000_000_000_000 else { return nil }
        let number = Double(digits) / powersOfTen[point.map { bytes.count - 1 - $0 } ?? 0]
        return isNegative ? -number : number
    }

    private static let powersOfTen = [
        1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
    ]

    /// Returns whether the text has neither sign nor exponent, and so already is the plain form.
    private static func isPlainDecimal(_ bytes: UnsafeRawBufferPointer) -> Bool {
        bytes.count < DecimalText.maximumDigits && bytes.allSatisfy { (48...57).contains($0) || $0 == 46 }
    }

    /// Converts a text of at most 18 digits, and perhaps a minus sign; returns nil for any other.
    private static func integer(_ text: UnsafeRawBufferPointer) -> Int64? {
        let isNegative = text.first == UInt8(ascii: "-")
        let first = isNegative ? 1 : 0
        guard text.count > first, text.count - first <= 18 else { return nil }
        var number: Int64 = 0
        for index in first..<text.count {
            let digit = text[index] &- 48
            guard digit < 10 else { return nil }
            number = number &* 10 &+ Int64(digit)
        }
        return isNegative ? -number : number
    }

    /// Returns whether a text is a number in the form that ``DecimalText/plain`` gives it: digits on both sides of the
    /// point, if there is one, no zero before another digit, no exponent, and a minus sign only before another number
    /// than zero.
    private static func isPlainNumber(_ text: UnsafeRawBufferPointer) -> Bool {
        let first = text.first == UInt8(ascii: "-") ? 1 : 0
        guard text.count > first, text.count < DecimalText.maximumDigits else { return false }
        var point: Int?
        var hasNonzero = false
        for index in first..<text.count {
            let digit = text[index] &- 48
            if digit < 10 {
                hasNonzero = hasNonzero || digit > 0
            } else if text[index] == UInt8(ascii: "."), point == nil {
                point = index
            } else {
                return false
            }
        }
        let end = point ?? text.count
        guard end > first, end != text.count - 1, end == first + 1 || text[first] != UInt8(ascii: "0") else {
            return false
        }
        return first == 0 || hasNonzero
    }

    /// Returns whether the text is a calendar day, as `YYYY-MM-DD`.
    private static func isDate(_ bytes: UnsafeRawBufferPointer) -> Bool { bytes.count == 10 && isDay(bytes) }

    /// Converts `YYYY-MM-DDTHH:MM:SSZ` with up to six decimals of a second to the local text, which has all six.
    private static func timestamp(_ bytes: UnsafeRawBufferPointer, _ arena: Arena) -> UnsafeRawBufferPointer? {
        guard bytes.count >= 20, bytes.count <= Timestamp.textLength, isDay(bytes), bytes[10] == UInt8(ascii: "T"),
            bytes[13] == UInt8(ascii: ":"), bytes[16] == UInt8(ascii: ":"), bytes[bytes.count - 1] == UInt8(ascii: "Z"),
            let hour = twoDigits(bytes, 11), let minute = twoDigits(bytes, 14), let second = twoDigits(bytes, 17),
            hour < 24, minute < 60, second < 60
        else { return nil }
        if bytes.count > 20 {
            let digits = bytes.count - 21
            guard bytes[19] == UInt8(ascii: "."), digits > 0,
                bytes[20..<20 + digits].allSatisfy({ (48...57).contains($0) })
            else { return nil }
        }
        guard bytes.count < Timestamp.textLength else { return bytes }
        let text = arena.room(for: Timestamp.textLength)
        text.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[..<(bytes.count - 1)]))
        text[19] = UInt8(ascii: ".")
        for index in max(20, bytes.count - 1)..<26 { text[index] = UInt8(ascii: "0") }
        text[26] = UInt8(ascii: "Z")
        return UnsafeRawBufferPointer(text)
    }

    /// Returns whether the first ten bytes are a calendar day, as `YYYY-MM-DD`.
    private static func isDay(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes[4] == UInt8(ascii: "-"), bytes[7] == UInt8(ascii: "-"), let century = twoDigits(bytes, 0),
            let yearOfCentury = twoDigits(bytes, 2), let month = twoDigits(bytes, 5), let day = twoDigits(bytes, 8)
        else { return false }
        let year = century * 100 + yearOfCentury
        return year >= 1 && (1...12).contains(month) && day >= 1 && day <= ISODate.days(of: month, year)
    }

    @inline(__always)
    private static func twoDigits(_ bytes: UnsafeRawBufferPointer, _ start: Int) -> Int64? {
        let (tens, ones) = (bytes[start] &- 48, bytes[start + 1] &- 48)
        return tens < 10 && ones < 10 ? Int64(tens * 10 + ones) : nil
    }
}

extension Arena {
    /// Returns the text of an instant in the years 1 to 9999.
    func timestamp(_ microseconds: Int64) -> UnsafeRawBufferPointer {
        let bytes = room(for: Timestamp.textLength)
        Timestamp.write(microseconds: microseconds, to: bytes)
        return UnsafeRawBufferPointer(bytes)
    }
}
