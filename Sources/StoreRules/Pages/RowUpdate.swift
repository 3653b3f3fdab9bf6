package import Mapping

extension ListingContent {
    /// Returns what is left of the cells of a copy where the entity's own listing has included the object; nil if nothing
    /// differs.
    package func left(of cells: [Cell], over stored: [StoredValue], _ layout: EntityLayout) -> [Cell]? {
        var left = cells
        var differs = false
        for (index, cell) in cells.enumerated() where cell.kind != .absent && !cell.equals(stored[index]) {
            guard fields[index] || index == layout.discriminator && !specifies(cell, stored[index], layout) else {
                continue
            }
            left[index] = .absent
            differs = true
        }
        return differs ? left : nil
    }

    /// Whether a copy only says more exactly what the object is.
    private func specifies(_ cell: Cell, _ stored: StoredValue, _ layout: EntityLayout) -> Bool {
        guard case .text(let new)? = cell.value, case .text(let old) = stored else { return true }
        return layout.becomes(new, from: old, isReference: true)
    }
}

/// The fields that a record changes in the stored row.
package struct RowUpdate {
    /// The fields whose values the record changes.
    package private(set) var changed: [Int] = []
    /// The fields that another source has set to the value that the record has, too, and which this source now answers for.
    package private(set) var confirmed: [Int] = []
    /// Whether a source of higher precedence had set a value that the record also has.
    package private(set) var isOverruled = false
    /// The fields of the record that the object does not have, as it stays another sub-entity.
    package private(set) var refused: [Int] = []
    /// The lists that the object no longer has, as it became another sub-entity.
    package private(set) var lostLists: [Int] = []

    /// Compares a record with the stored row.
    ///
    /// - Parameters:
    ///   - cells: One cell per field; an absent cell keeps the stored value.
    ///   - stored: The stored values.
    ///   - layout: The layout of the table.
    ///   - isReference: Whether the record only refers to the object.
    ///   - isStub: Whether nothing but references is known of the object.
    ///   - contested: The fields that several sources have.
    ///   - isOfOthers: Returns whether another source set a field's value, which then neither a null nor the value of a
    ///     source of lower precedence replaces.
    package init(
        _ cells: [Cell], over stored: [StoredValue], _ layout: EntityLayout, isReference: Bool,
        isStub: Bool = false, contested: Set<Int> = [], isOfOthers: (_ field: Int) throws -> Bool
    ) rethrows {
        for (index, cell) in cells.enumerated() where cell.kind != .absent {
            if cell.equals(stored[index]) {
                guard contested.contains(index), !cell.isFallback, cell.kind != .null, try isOfOthers(index) else {
                    continue
                }
                confirmed.append(index)
                continue
            }
            // A source of higher precedence has set the value, unless it is this source's own of before.
            if cell.isFallback, index != layout.discriminator, stored[index] != .null,
                try isOfOthers(index)
            {
                isOverruled = true
                continue
            }
            if cell.kind == .null, try isOfOthers(index) { continue }
            changed.append(index)
        }
        // An object keeps its entity unless the new one is more specific.
        guard let field = layout.discriminator, changed.contains(field),
            case .text(let old) = stored[field], case .text(let new)? = cells[field].value
        else { return }
        let isExpected = isReference || cells[field].isFallback && !isStub
        guard layout.becomes(new, from: old, isReference: isExpected) else {
            // Nor does it get values that only objects of the other entity have.
            let lacking = cells[field].isFallback ? layout.lacking(in: old) : []
            refused = changed.filter(lacking.contains)
            changed.removeAll { $0 == field || lacking.contains($0) }
            return
        }
        let lost = layout.lost(becoming: new, from: old)
        let cleared = lost.fields.filter { stored[$0] != .null && !changed.contains($0) }
        if !cleared.isEmpty { changed = (changed + cleared).sorted() }
        lostLists = lost.lists
    }
}
