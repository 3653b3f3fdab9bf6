internal import Model
internal import RecordBatch

extension Mapper {
    /// Sets the fields that a listed record leaves out to null where the absence rule says so, and notes its members.
    ///
    /// Applies to top-level records, and to nested objects with a position as their key: another nested object may be a
    /// summary.
    ///
    /// - Parameters:
    ///   - row: The index of the record's row.
    ///   - first: The index of the row's first cell.
    ///   - hasList: Whether the record has the to-many relationship with this index.
    func settleAbsence(
        _ plan: MappingPlan, row: Int, first: Int, _ extent: RecordExtent, _ page: MixedPage, hasList: (Int) -> Bool
    ) {
        guard !plan.members.isEmpty else { return }
        let ledger = ledgers[plan.index] ?? beginLedger(of: plan)
        let slots = ledger.slots
        // Members that no earlier record had. Noted after the loop over the cells, where a null would look present.
        var news: [Int] = []
        page.cells.withUnsafeMutableBufferPointer { cells in
            for index in slots.indices where slots[index].count > 0 {
                let field = first + slots[index].first
                if cells[field].kind != .absent {
                    if !slots[index].isSeen { news.append(index) }
                } else if Self.isNull(slots[index], extent) {
                    for offset in 0..<slots[index].count { cells[field + offset] = .null }
                }
            }
        }
        if ledger.hasLists {
            for (index, slot) in slots.enumerated() where slot.count == 0 {
                if hasList(slot.first) {
                    if !slot.isSeen { news.append(index) }
                } else if Self.isNull(slot, extent) {
                    page.links.append(
                        MixedPage.Link(
                            row: row, relationship: slot.first, firstCell: page.linkCells.count, count: 0))
                }
            }
        }
        for index in news {
            slots[index].isSeen = true
            slots[index].isKnown = true
            newMembers.append(ListedMember(entity: plan.entity, path: plan.members[index].path))
        }
    }

    private static func isNull(_ slot: MemberLedger.Slot, _ extent: RecordExtent) -> Bool {
        switch slot.rule {
        case .null: true
        case .keep: false
        case .auto: extent == .whole && slot.isKnown
        }
    }

    private func beginLedger(of plan: MappingPlan) -> MemberLedger {
        let ledger = MemberLedger(plan, known: knownMembers)
        ledgers[plan.index] = ledger
        newMembers.append(ListedMember(entity: plan.entity, path: ""))
        return ledger
    }
}

extension BatchValue {
    /// Whether the value says, in the place of an object, that there is none: null, false or an empty text.
    var standsForNothing: Bool {
        switch tag {
        case .null: true
        case .bool: !bool
        case .text: rawBytes.isEmpty
        default: false
        }
    }
}

extension MappingPlan {
    /// Returns the cell of the column of extra members: all of them, or those that a partial record sets.
    ///
    /// - Parameter members: The record's members that nothing reads, as JSON; null without any.
    func extra(_ members: Cell, of extent: RecordExtent) -> Cell {
        let isAll =
            switch (extent, absent) {
            case (.part, _), (_, .keep), (.changes, .auto): false
            case (_, .null), (.whole, .auto): true
            }
        if isAll { return members }
        return members.kind == .null ? .absent : members.asPatch
    }
}
