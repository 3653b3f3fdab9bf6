internal import Digests
internal import Mapping
internal import Model
internal import StoreContract
internal import TextFormats
internal import WebServer

/// The place in a list after which a page starts: the key of a row, and the value that it was sorted by.
///
/// The next page starts after this place even if the row has another value by then, or is gone. Of a long value the
/// address has only a digest: that place is lost once the row has another value.
struct ListPlace: Sendable, Equatable {
    /// The parts of the row's key; empty for the first page.
    let key: [String]
    /// `=` and the value as text, an empty text for null, or the value's digest.
    ///
    /// It is nil if the key alone determines the place, or if the address was written by hand without it.
    private let value: String?

    /// The maximum size of a value in an address, in bytes.
    private static let longest = 500

    /// The maximum size of a place in an address, in bytes: half of what the server reads of a request's head.
    private static let maxBytes = 8 << 10

    /// Reads the place from an address' query: `after`, one per part of the key, and `at`.
    init(_ query: FormFields) {
        key = query.values(of: "after")
        value = query["at"]
    }

    /// Creates the place of a row in a list.
    ///
    /// - Parameter order: The field to order by; nil for the key.
    init(of row: EntityRow, in layout: EntityLayout, by order: RowQuery.Order?) {
        key = ValueText.parts(of: row.key)
        value = Self.column(of: order, in: layout).map { Self.text(row.values[$0], layout.columns[$0], layout) }
    }

    /// The names of the fields in an address' query.
    static let fields: Set<String> = ["after", "at"]

    /// The place in an address' query.
    var query: [(name: String, value: String)] {
        var query = key.map { (name: "after", value: $0) }
        if let value { query.append((name: "at", value: value)) }
        return query
    }

    /// Whether an address can hold the place: a key may have any length.
    var fitsAddress: Bool {
        let sizes = query.map { PercentEncoding.encoded($0.value).utf8.count }
        return sizes.reduce(0, +) <= Self.maxBytes
    }

    /// Returns a row at this place, in which only the key and the value to order by count; nil if the place is lost.
    ///
    /// - Throws: ``PageFailure`` and `StoreError` for texts that do not fit the entity.
    func row(in store: any Store, of layout: EntityLayout, by order: RowQuery.Order?) throws -> EntityRow? {
        let key = try storedKey(in: store, layout)
        var values = [StoredValue](repeating: .null, count: layout.columns.count)
        for (field, part) in zip(layout.keyFields, key) {
            if let place = layout.columns.firstIndex(where: { $0.name == field.name }) { values[place] = part }
        }
        guard let column = Self.column(of: order, in: layout) else { return EntityRow(key: key, values: values) }
        if let value, value.isEmpty { return EntityRow(key: key, values: values) }
        // As characters, `=` before a combining mark would be another one.
        if let value, value.utf8.first == UInt8(ascii: "=") {
            let text = String(value.unicodeScalars.dropFirst())
            values[column] = try Self.parsed(text, layout.columns[column], layout)
            return EntityRow(key: key, values: values)
        }
        guard let row = try store.rows(of: layout.index, keys: [key]).first else { return nil }
        return value == nil || value == Self.digest(of: row.values[column]) ? row : nil
    }

    private func storedKey(in store: any Store, _ layout: EntityLayout) throws -> [StoredValue] {
        // The row's number identifies it.
        if layout.key.isEmpty {
            if key.count == 1, let number = Int64(key[0]) { return [.integer(number)] }
        } else if key.count == layout.key.count {
            return try store.key(of: layout.index, from: key)
        }
        throw PageFailure(400, "The address names a row that \(layout.name) cannot have.")
    }

    /// Returns the column to order by; nil if the key has its value.
    private static func column(of order: RowQuery.Order?, in layout: EntityLayout) -> Int? {
        guard let name = order?.field, !layout.keyFields.contains(where: { $0.name == name }) else { return nil }
        return layout.columns.firstIndex { $0.name == name }
    }

    private static func text(_ value: StoredValue, _ field: EntityLayout.Field, _ layout: EntityLayout) -> String {
        guard value != .null else { return "" }
        let text = value.description
        // An address cannot have the character U+0000.
        guard text.utf8.count <= longest, !text.utf8.contains(0), let read = try? parsed(text, field, layout) else {
            return digest(of: value)
        }
        // Decimals are sorted by value: 2.50 is 2.5.
        let isSame = field.type == .decimal ? read.asDecimal == value.asDecimal : read == value
        return isSame ? "=" + text : digest(of: value)
    }

    private static func parsed(
        _ text: String, _ field: EntityLayout.Field, _ layout: EntityLayout
    ) throws -> StoredValue {
        try LocalCondition(field: field.name, comparison: .equal, value: text).operand(for: field, of: layout)
    }

    private static func digest(of value: StoredValue) -> String {
        let digest = MessageDigest(.sha256)
        if case .bytes(let bytes) = value.form { digest.add(bytes) } else { digest.add(Array(value.description.utf8)) }
        return digest.hexadecimal()
    }
}
