package import Mapping
internal import Model

/// The merge of a list into the stored one: pure decisions.
package struct ListUpdate {
    private let relationship: EntityLayout.ToMany
    private let value: (RowKey) throws -> StoredValue

    /// Prepares the merge.
    ///
    /// - Parameter value: Returns the value that orders an object in a relationship with a window.
    package init(_ relationship: EntityLayout.ToMany, value: @escaping (RowKey) throws -> StoredValue) {
        self.relationship = relationship
        self.value = value
    }

    /// Returns the list to store.
    package func merged(_ new: [RowKey], into old: [RowKey]) throws -> [RowKey] {
        var wanted: [RowKey]
        switch relationship.merge {
        case .replace: wanted = relationship.window == nil ? new : try inWindow(new, into: old)
        case .append:
            let known = Set(old)
            wanted = old + new.filter { !known.contains($0) }
        case .insertAtBeginning:
            let seen = Set(new)
            wanted = new + old.filter { !seen.contains($0) }
        }
        if !relationship.isOrdered {
            // Existing targets keep their positions.
            let kept = Set(wanted)
            let known = Set(old)
            wanted = old.filter(kept.contains) + wanted.filter { !known.contains($0) }
        }
        return wanted
    }

    /// Merges a list that is complete only between the least and the greatest value of an attribute of its objects.
    ///
    /// The result is in the order of the attribute; objects without a value come last and are always kept.
    private func inWindow(_ new: [RowKey], into old: [RowKey]) throws -> [RowKey] {
        let listed = Set(new)
        let values = try new.map(value)
        let inside = values.filter { $0 != .null }.sorted { Self.precedes($0, $1) }
        var merged = Array(zip(new, values))
        for key in old where !listed.contains(key) {
            let value = try value(key)
            let isInside =
                if let least = inside.first, let greatest = inside.last, value != .null {
                    !Self.precedes(value, least) && !Self.precedes(greatest, value)
                } else {
                    false
                }
            if !isInside { merged.append((key, value)) }
        }
        // Equal values keep the order of the new list, then that of the old one.
        return merged.enumerated().sorted { left, right in
            if Self.precedes(left.element.1, right.element.1) { return true }
            return !Self.precedes(right.element.1, left.element.1) && left.offset < right.offset
        }.map(\.element.0)
    }

    /// Orders values of one type; null comes last.
    private static func precedes(_ left: StoredValue, _ right: StoredValue) -> Bool {
        switch (left.form, right.form) {
        case (.null, _): false
        case (_, .null): true
        default: ValueOrder.compare(left, right) < 0
        }
    }
}
