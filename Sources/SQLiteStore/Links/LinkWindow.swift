internal import StoreContract
internal import Mapping

/// A merge of a list that is complete only between the least and the greatest value of an attribute of its objects.
///
/// Examples are a page of a conversation and the events of a week.
final class LinkWindow {
    private let lookUp: RawStatement

    init(_ attribute: String, of target: EntityLayout, on connection: OpaquePointer?) throws {
        let quoted = SchemaBuilder.quoted
        let key = target.key.map { "\(quoted(target.fields[$0].name)) = ?" }
        lookUp = try RawStatement(
            "SELECT \(quoted(attribute)) FROM \(quoted(target.table)) WHERE \(key.joined(separator: " AND "))",
            on: connection)
    }

    /// Returns the merged list in the order of the attribute; objects without a value come last and are always kept.
    func merge(_ new: [[StoredValue]], into old: [[StoredValue]]) throws -> [[StoredValue]] {
        let listed = Set(new)
        let values = try new.map(value)
        let inside = values.filter { $0 != .null }.sorted { $0.precedes($1) }
        var merged = Array(zip(new, values))
        for key in old where !listed.contains(key) {
            let value = try value(of: key)
            let isInside =
                if let least = inside.first, let greatest = inside.last, value != .null {
                    !value.precedes(least) && !greatest.precedes(value)
                } else {
                    false
                }
            if !isInside { merged.append((key, value)) }
        }
        // Equal values keep the order of the new list, then that of the old one.
        return merged.enumerated().sorted { left, right in
            if left.element.1.precedes(right.element.1) { return true }
            return !right.element.1.precedes(left.element.1) && left.offset < right.offset
        }.map(\.element.0)
    }

    private func value(of key: [StoredValue]) throws -> StoredValue {
        for (index, part) in key.enumerated() { lookUp.bind(part, at: Int32(index + 1)) }
        defer { lookUp.reset() }
        return try lookUp.step() ? lookUp.value(0) : .null
    }
}

extension StoredValue {
    /// Orders values of one type as SQLite does; null comes last.
    fileprivate func precedes(_ other: StoredValue) -> Bool {
        switch (self.form, other.form) {
        case (.null, _): false
        case (_, .null): true
        case (.integer(let left), .integer(let right)): left < right
        case (.real(let left), .real(let right)): left < right
        case (.text(let left), .text(let right)): left.utf8.lexicographicallyPrecedes(right.utf8)
        case (.bytes(let left), .bytes(let right)): left.lexicographicallyPrecedes(right)
        default: false
        }
    }
}
