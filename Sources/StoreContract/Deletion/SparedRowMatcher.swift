package import Mapping
package import Model

/// A filter for the objects that a scan skipped, which compares each row with all selections in one pass.
package struct SparedRowMatcher {
    /// The fields whose values ``matches(_:)`` takes, in order.
    package let fields: [Int]
    private let exact: Set<ExactText>
    /// The prefixes, by field and length.
    private let prefixes: [Int: [Int: Set<[UInt8]>]]

    /// Creates a filter for several selections.
    package init(_ skipped: [SkippedRows]) {
        fields = Set(skipped.map(\.field)).sorted()
        exact = Set(skipped.filter { !$0.isPrefix }.map { ExactText("\($0.field) \($0.value)") })
        var prefixes: [Int: [Int: Set<[UInt8]>]] = [:]
        for objects in skipped where objects.isPrefix {
            prefixes[objects.field, default: [:]][objects.value.utf8.count, default: []].insert(
                Array(objects.value.utf8))
        }
        self.prefixes = prefixes
    }

    /// Returns whether a row is among the selections.
    ///
    /// - Parameter value: Returns the row's value of a field, by its position in ``fields``.
    package func matches(_ value: (_ position: Int) -> StoredValue) -> Bool {
        fields.enumerated().contains { position, field in
            let value = value(position)
            guard value != .null else { return false }
            let text = value.description
            if exact.contains(ExactText("\(field) \(text)")) { return true }
            let bytes = Array(text.utf8)
            return (prefixes[field] ?? [:]).contains { $0 <= bytes.count && $1.contains(Array(bytes.prefix($0))) }
        }
    }
}

extension SkippedRows {
    /// Returns the bounds of the selected values, where values of this type have an order that fits.
    ///
    /// The upper bound is inclusive, or exclusive for a prefix.
    package func range(of type: AttributeType) -> (low: StoredValue, high: StoredValue)? {
        switch type {
        case .integer where !isPrefix:
            return Int64(value).map { (.integer($0), .integer($0)) }
        case .text, .url, .uuid:
            let low = StoredValue(.text(value), as: type)
            guard isPrefix else { return (low, low) }
            guard let last = value.unicodeScalars.last,
                // The least text after all texts with this prefix, whose last scalar is the next one.
                let next = Unicode.Scalar(last.value == 0xD7FF ? 0xE000 : last.value + 1)
            else { return nil }
            let end = String(String.UnicodeScalarView(value.unicodeScalars.dropLast() + [next]))
            return (low, StoredValue(.text(end), as: type))
        default: return nil
        }
    }
}
