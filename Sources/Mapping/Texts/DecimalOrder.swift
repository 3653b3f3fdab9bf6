/// The order of decimals in the form in which they are stored, by all their digits: a `Double` keeps only 15 to 17.
package enum DecimalOrder {
    /// Returns a negative number, zero or a positive number, as the left decimal is less than, equal to or greater than
    /// the right one.
    ///
    /// A text that is not such a decimal, which another program has stored, comes before all decimals.
    package static func compare(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        switch (Digits(left), Digits(right)) {
        case (let left?, let right?): left.order(to: right)
        case (nil, .some): -1
        case (.some, nil): 1
        case (nil, nil): order(left, right)
        }
    }

    /// Returns the order of two decimals in text form.
    package static func compare(_ left: String, _ right: String) -> Int {
        var (left, right) = (left, right)
        return left.withUTF8 { left in
            right.withUTF8 { right in compare(UnsafeRawBufferPointer(left), UnsafeRawBufferPointer(right)) }
        }
    }

    private static func order(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Int {
        for index in 0..<min(left.count, right.count) where left[index] != right[index] {
            return left[index] < right[index] ? -1 : 1
        }
        return left.count - right.count
    }

    /// The significant digits of a decimal.
    private struct Digits {
        private let isNegative: Bool
        /// The digits before the point, without zeros at the start.
        private let whole: UnsafeRawBufferPointer
        /// The digits after the point, without zeros at the end.
        private let fraction: UnsafeRawBufferPointer

        init?(_ text: UnsafeRawBufferPointer) {
            let isSigned = text.first == UInt8(ascii: "-")
            var place = isSigned ? 1 : 0
            func takeDigits() -> Range<Int> {
                let start = place
                while place < text.count, (48...57).contains(text[place]) { place += 1 }
                return start..<place
            }
            var before = takeDigits()
            guard !before.isEmpty else { return nil }
            var after = place..<place
            if place < text.count, text[place] == UInt8(ascii: ".") {
                place += 1
                after = takeDigits()
            }
            guard place == text.count else { return nil }
            let zero = UInt8(ascii: "0")
            while let first = before.first, text[first] == zero { before.removeFirst() }
            while let last = after.last, text[last] == zero { after.removeLast() }
            isNegative = isSigned && !(before.isEmpty && after.isEmpty)
            whole = UnsafeRawBufferPointer(rebasing: text[before])
            fraction = UnsafeRawBufferPointer(rebasing: text[after])
        }

        func order(to other: Digits) -> Int {
            guard isNegative == other.isNegative else { return isNegative ? -1 : 1 }
            return isNegative ? other.sizeOrder(to: self) : sizeOrder(to: other)
        }

        private func sizeOrder(to other: Digits) -> Int {
            guard whole.count == other.whole.count else { return whole.count - other.whole.count }
            let order = DecimalOrder.order(whole, other.whole)
            return order != 0 ? order : DecimalOrder.order(fraction, other.fraction)
        }
    }
}
