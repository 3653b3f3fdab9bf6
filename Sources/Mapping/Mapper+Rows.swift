internal import RecordBatch

/// The cells of a row that do not come from its record.
extension Mapper {
    func appendRow(_ layout: EntityLayout, record: Int, isReference: Bool, _ page: MixedPage) -> Int {
        let first = page.cells.count
        page.cells.append(contentsOf: UnsafeBufferPointer(rebasing: absentCells[..<layout.fields.count]))
        if isReference, let field = layout.discriminator {
            page.cells[first + field] = .text(page.arena.copy(layout.name))
        }
        page.rows.append(
            MixedPage.Row(entity: layout.index, firstCell: first, record: record, isReference: isReference))
        return page.rows.count - 1
    }

    /// Sets the fields whose values the configuration gives.
    func setConstants(
        _ mapping: MappingPlan, _ layout: EntityLayout, _ first: Int, _ page: MixedPage
    ) throws(Rejection) {
        for constant in mapping.constants {
            do {
                page.cells[first + constant.field] = try constant.converter.convert(constant.value, page.arena)
            } catch {
                throw Rejection(reason: "\(layout.name).\(layout.fields[constant.field].name): \(error.reason)")
            }
        }
    }

    /// Sets the reference to the parent, unless the object itself refers to another object.
    func copyKey(of parent: Parent, to first: Int, _ page: MixedPage) {
        let own = first + parent.toOne.firstField
        let isOpen = (own..<own + parent.toOne.fieldCount).allSatisfy {
            page.cells[$0].kind == .absent || page.cells[$0].kind == .null
        }
        guard isOpen else { return }
        let parentCells = page.rows[parent.row].firstCell
        for (offset, field) in parent.key.enumerated() {
            page.cells[first + parent.toOne.firstField + offset] = page.cells[parentCells + field]
        }
    }
}

extension EntityLayout {
    /// Returns the first field of the key that has no value in the row that begins at `first`.
    func missingKey(in cells: UnsafeMutableBufferPointer<Cell>, from first: Int) -> Int? {
        // By index, as an iteration retains the array.
        for index in 0..<key.count where cells[first + key[index]].isOpen { return key[index] }
        return nil
    }
}

extension Cell {
    /// Whether the cell has no value.
    fileprivate var isOpen: Bool { kind == .null || kind == .absent }
}
