public import Mapping
public import Model
internal import TextFormats

/// A condition on rows, with values of the columns' types.
public typealias RowPredicate = QueryPredicate<StoredValue>

extension LocalCondition {
    /// Returns the condition as a predicate, for rows that have a value: SQL's `!=` is not true of null.
    ///
    /// - Throws: ``StoreError`` of the code `request` for a missing field, or a value that is not of the field's type.
    package func predicate(on layout: EntityLayout) throws -> RowPredicate {
        let field = layout.columns[try layout.columnPlace(of: self.field)]
        let isNull = RowPredicate.isNull(field.name)
        switch try operand(for: field, of: layout) {
        case .null: return comparison == .notEqual ? .not(isNull) : isNull
        case let value where comparison == .notEqual:
            return .all([.compare(field.name, .notEqual, value), .not(isNull)])
        case let value: return .compare(field.name, comparison, value)
        }
    }

    /// Returns whether a text is a year or a month, such as `2026` or `2026-01`.
    private static func isPeriod(_ text: String) -> Bool {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(\.utf8)
        return parts.allSatisfy { $0.allSatisfy { (48...57).contains($0) } }
            && (parts.map(\.count) == [4] || parts.map(\.count) == [4, 2])
    }

    /// Returns the value to compare with, as a field's type stores it; null if there is none.
    ///
    /// - Throws: ``StoreError`` of the code `request` for a value that is not of the field's type: SQL would read "abc" as
    ///   the number 0.
    package func operand(for field: EntityLayout.Field, of layout: EntityLayout) throws -> StoredValue {
        guard let text = value else { return .null }
        guard comparison != .like else {
            guard field.type != .data else {
                throw StoreError(
                    .request, "\(layout.name).\(field.name) has bytes, and `~` compares texts",
                    remedy: "give `=` or another comparison, and the bytes in base64")
            }
            return .text(text)
        }
        let wanted: String
        switch field.type {
        case .integer:
            // A whole number in another form, such as 1.0, is the same key.
            if let value = Int64(text) ?? DecimalText(text)?.integer { return .integer(value) }
            if let value = Double(text), value.isFinite { return .real(value) }
            wanted = "an integer"
        case .real:
            let value = Double(text)
            if let value, value.isFinite { return .real(value) }
            wanted = value?.isInfinite == true ? "a number between -1.7e308 and 1.7e308" : "a number"
        case .decimal:
            // Every digit counts: a `Double` keeps only the first 15 to 17.
            if DecimalText(text) != nil { return StoredValue.text(text).asDecimal }
            let isNumber = Double(text) != nil && !text.contains { $0.isLetter && $0.lowercased() != "e" }
            let limit = DecimalText.maximumDigits
            wanted = "a number" + (isNumber ? " of at most \(limit) digits, with an exponent of at most \(limit)" : "")
        case .boolean:
            if ["true", "1"].contains(text.lowercased()) { return .boolean(true) }
            if ["false", "0"].contains(text.lowercased()) { return .boolean(false) }
            wanted = "true or false"
        case .data:
            if let bytes = Base64.decode(text) { return .bytes(bytes) }
            wanted = "bytes in base64"
        case .timestamp, .date, .uuid:
            // A year or a month comes before all of its days, as text too.
            if field.type != .uuid, Self.isPeriod(text) { return StoredValue(.text(text), as: field.type) }
            // As an import stores it: databases compare these as texts.
            let isNumber = field.type != .uuid && Double(text) != nil
            if !isNumber, let value = try? StoredValueConverter(from: .text, to: field.type).convert(.text(text)) {
                return value
            }
            wanted =
                switch field.type {
                case .date: "a date such as 2026-01-31"
                case .timestamp: "a time such as 2026-01-31T10:00:00Z, or a date"
                default: "a UUID"
                }
        case .text, .json, .url: return StoredValue(.text(text), as: field.type)
        }
        throw StoreError(
            .request, "\(layout.name).\(field.name) is compared with \"\(text)\"", remedy: "give \(wanted)")
    }
}
