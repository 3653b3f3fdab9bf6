internal import Mapping
package import StoreContract

/// The rows of a page.
extension TablePageWriter {
    /// The row that a record was merged into.
    private struct Merged {
        var outcome: MergeOutcome
        /// The row's number; nil if the object was deleted locally and must not be restored.
        var number: Int64?
        /// The row before.
        var old: [StoredValue]?
    }

    /// Inserts or updates the objects of a batch; see `PageTransaction.merge`.
    package func merge(
        _ rows: [PageRow], outcome: (_ index: Int, _ result: Result<MergeOutcome, StoreError>) throws -> Void
    ) throws {
        var refused: Int?
        defer { logListed() }
        for (index, row) in rows.enumerated() where row.record != refused {
            let result: Result<MergeOutcome, StoreError>
            do {
                result = .success(try merge(row))
            } catch let error as StoreError where error.code == .constraint && !tables.isBroken {
                refused = row.record
                result = .failure(error)
            }
            try outcome(index, result)
        }
    }

    private func merge(_ row: PageRow) throws -> MergeOutcome {
        // Most records of most imports have not changed.
        let root = model.entities[row.entity].root
        if let number = tables.numberOfSameRow(root, as: row.cells) {
            if row.role.isOfListing, let scan {
                noteListed(number, Merged(outcome: .unchanged), row.cells, tables.layout(of: row.entity), scan)
            }
            return .unchanged
        }
        // Most other records of a first import are new, and the history says so once for all.
        if row.role == .listed, isUnrecorded(root), !due.concerns(row.entity),
            let number = try tables.insertNewRow(root, row.cells)
        {
            writer.touched.insert(root)
            if let scan {
                noteListed(number, Merged(outcome: .inserted), row.cells, tables.layout(of: row.entity), scan)
            }
            return .inserted
        }
        return try merge(row.entity, cells(of: row), as: row.role)
    }

    /// Whether inserts into a table certainly leave no records.
    private func isUnrecorded(_ root: Int) -> Bool { writer.run.run == nil || writer.run.loads[root] == .loading }

    /// Returns the cells of a row to merge: a copy of a listed object keeps what the listing brings.
    private func cells(of row: PageRow) throws -> [Cell] {
        let cells = Array(row.cells)
        let layout = tables.layout(of: row.entity)
        guard let listing = row.listing else { return cells }
        let key = layout.key.map { cells[$0].value ?? .null }
        guard !key.contains(.null), let stored = try tables.row(layout.index, key),
            let left = listing.left(of: cells, over: stored, layout), try isListed(layout.index, key)
        else { return cells }
        noteOffered(cells, layout) { left[$0].kind == .absent && cells[$0].kind != .absent }
        return left
    }

    private func merge(_ entity: Int, _ all: [Cell], as role: RowRole) throws -> MergeOutcome {
        let layout = tables.layout(of: entity)
        let merged: Merged
        if let own = try edits.merge(layout, all, as: role) {
            noteOffered(all, layout) { own.cells[$0].kind == .absent && all[$0].kind != .absent }
            merged = try mergeMembers(own.cells, layout, as: own.role)
        } else {
            noteOffered(all, layout) { _ in true }
            merged = Merged(outcome: .unchanged)
        }
        if role.isOfListing, let scan, let number = merged.number {
            noteListed(number, merged, all, layout, scan)
        }
        if merged.outcome != .unchanged, due.concerns(entity) {
            due.note(entity, layout.key.map { all[$0].value ?? .null }, writtenBy: scan?.scope)
        }
        return merged.outcome
    }

    /// Merges a row in whose column of extra members a partial record may have only some of them.
    private func mergeMembers(_ cells: [Cell], _ layout: EntityLayout, as role: RowRole) throws -> Merged {
        guard let extra = layout.extra, cells[extra].isPatch, !layout.key.isEmpty else {
            return try merge(cells, layout, as: role)
        }
        let key = layout.key.map { cells[$0].value ?? .null }
        return try cells.withUnsafeBufferPointer { cells in
            try ExtraMembers.settle(
                cells, layout, over: { key.contains(.null) ? nil : try tables.row(layout.index, key) }
            ) { try merge(Array($0), layout, as: role) }
        }
    }

    private func merge(_ cells: [Cell], _ layout: EntityLayout, as role: RowRole) throws -> Merged {
        let root = layout.index
        let key = layout.key.map { cells[$0].value ?? .null }
        guard !key.contains(.null) else {
            throw StoreError(.constraint, "a row of \(layout.name) has no value for its key")
        }
        guard !key.isEmpty, let stored = try tables.row(root, key) else {
            let key = key.isEmpty ? [.integer(try tables.nextNumber(in: root))] : key
            try insert(key, cells, layout, as: role)
            return Merged(outcome: .inserted, number: try tables.number(of: key, in: root))
        }
        let number = try tables.number(of: key, in: root)
        let contested = contestedFields(of: root)
        let isExpected = layout.discriminator.map { cells[$0].isFallback } ?? false
        let isStub = try isExpected && tables.isStub(root, key)
        var known: [ProvenanceRecord]?
        let update = try RowUpdate(
            cells, over: stored, layout, isReference: role == .reference, isStub: isStub, contested: contested
        ) { field in
            guard contested.contains(field), role != .reference else { return false }
            let records = try known ?? tables.provenance(root, key)
            known = records
            return !Provenance.isOwn(layout.fields[field].name, records, as: role, from: writer.source)
        }
        let changed = update.changed
        if update.isOverruled { noteOffered(cells, layout) { cells[$0].isFallback } }
        if !update.refused.isEmpty { noteOffered(cells, layout, where: update.refused.contains) }
        var values = stored
        for field in changed { values[field] = cells[field].value ?? .null }
        if !changed.isEmpty {
            noteReplaced(changed, stored, layout)
            try tables.write(root, key, values)
            writer.touched.insert(root)
        }
        let wasStub = try role != .reference && tables.setStub(root, key, false)
        if wasStub {
            let lost = Set(zip(layout.fields, stored).filter { $1 == .null }.map(\.0.name))
            let sources = try tables.provenance(root, key).filter { !$0.columns.isDisjoint(with: lost) }
            try writer.askAgain(sources.map(\.scan))
        }
        if role == .listed { try noteListed(root, key) }
        try writer.removeLinks(of: key, in: root, update.lostLists)
        guard wasStub || !changed.isEmpty else {
            if !update.confirmed.isEmpty { try noteUpdate(key, update.confirmed, layout, as: role, wasUnlisted: false) }
            return Merged(outcome: .unchanged, number: number, old: stored)
        }
        writer.touched.insert(root)
        // The row's own listing lacks it, if it was marked as deleted.
        let isRevived = role == .listedElsewhere && layout.deletion.map(changed.contains) == true
        let wasUnlisted = try wasStub || isRevived || role == .reference && tables.isStub(root, key)
        try noteUpdate(key, changed + update.confirmed, layout, as: role, wasUnlisted: wasUnlisted)
        if writer.run.records(root) {
            func content(_ values: [StoredValue]) -> ChangeRecord.Content {
                .columns(changed.map { (name: layout.fields[$0].name, value: values[$0]) })
            }
            try writer.record(
                root, key: key, wasStub ? .inserted : .updated, old: content(stored), new: content(values))
        }
        return Merged(outcome: wasStub ? .inserted : .updated, number: number, old: stored)
    }

    private func insert(_ key: RowKey, _ cells: [Cell], _ layout: EntityLayout, as role: RowRole) throws {
        let root = layout.index
        let isRecorded = try writer.recordsInsert(root)
        let values = cells.map { $0.value ?? .null }
        try tables.write(root, key, values)
        writer.touched.insert(root)
        if role == .reference { _ = try tables.setStub(root, key, true) }
        try noteInsert(key, cells, layout, as: role)
        guard isRecorded else { return }
        try writer.record(
            root, key: key, role == .reference ? .stubbed : .inserted, old: nil,
            new: writer.present(values, of: root))
    }

    /// Adds stubs for objects that do not exist; see `PageTransaction.ensure`.
    package func ensure(_ references: [PageReference], created: (_ index: Int) -> Void) throws {
        for (index, reference) in references.enumerated() {
            if try ensure(reference.entity, reference.key.map { $0.value ?? .null }) { created(index) }
        }
    }

    private func ensure(_ entity: Int, _ key: RowKey) throws -> Bool {
        let layout = tables.layout(of: entity)
        guard try tables.row(layout.index, key) == nil else { return false }
        let isRecorded = try writer.recordsInsert(layout.index)
        var values = Array(repeating: StoredValue.null, count: layout.fields.count)
        for (field, value) in zip(layout.key, key) { values[field] = value }
        if let field = layout.discriminator { values[field] = .text(model.entities[entity].name) }
        try tables.write(layout.index, key, values)
        _ = try tables.setStub(layout.index, key, true)
        writer.touched.insert(layout.index)
        if isRecorded {
            try writer.record(
                layout.index, key: key, .stubbed, old: nil, new: writer.present(values, of: layout.index))
        }
        return true
    }

    // MARK: - References

    /// Notes the objects that the row no longer refers to; each is checked at the end of the page.
    private func noteReplaced(_ changed: [Int], _ stored: [StoredValue], _ layout: EntityLayout) {
        for toOne in layout.toOne {
            let fields = toOne.firstField..<toOne.firstField + toOne.fieldCount
            if changed.contains(where: fields.contains) { writer.noteOffered(toOne.target, Array(stored[fields])) }
        }
    }

    /// Notes the objects that the cells refer to through fields that are not written.
    private func noteOffered(_ cells: [Cell], _ layout: EntityLayout, where isLeft: (Int) -> Bool) {
        for toOne in layout.toOne {
            let fields = toOne.firstField..<toOne.firstField + toOne.fieldCount
            guard fields.contains(where: isLeft) else { continue }
            writer.noteOffered(toOne.target, fields.map { cells[$0].value ?? .null })
        }
    }

    // MARK: - Sources

    private func noteListed(_ root: Int, _ key: RowKey) throws {
        var records = try tables.provenance(root, key)
        guard records.contains(where: { !$0.isListed }) else { return }
        for index in records.indices { records[index].isListed = true }
        try tables.setProvenance(root, key, records)
    }

    private func noteInsert(_ key: RowKey, _ cells: [Cell], _ layout: EntityLayout, as role: RowRole) throws {
        // A row without a key cannot be queried, and no listing can lack it.
        guard !layout.key.isEmpty else { return }
        // Records about a deleted object say nothing about a new object with the same key.
        let records = try tables.provenance(layout.index, key)
        try writer.askAgain(records.filter { !$0.columns.isEmpty }.map(\.scan))
        guard role.isUnlisted else {
            if !records.isEmpty { try tables.setProvenance(layout.index, key, []) }
            return
        }
        // What a listing wrote has no record.
        let columns = zip(layout.fields, cells).filter { role == .nested && $1.kind != .absent }.map(\.0.name)
        let run = try writer.runIDIfAny()
        try tables.setProvenance(
            layout.index, key,
            [
                ProvenanceRecord(
                    bridge: writer.source?.bridge ?? "", scan: writer.source?.scan ?? "", columns: Set(columns),
                    firstRun: run, lastRun: run, location: writer.source?.location, isListed: false)
            ])
    }

    private func noteUpdate(
        _ key: RowKey, _ changed: [Int], _ layout: EntityLayout, as role: RowRole, wasUnlisted: Bool
    ) throws {
        let records = try tables.provenance(layout.index, key)
        guard !role.isOfListing || role == .listedElsewhere && wasUnlisted || !records.isEmpty else { return }
        let run = role == .listed ? nil : try writer.runIDIfAny()
        try tables.setProvenance(
            layout.index, key,
            Provenance.updated(
                records, wrote: Set(changed.map { layout.fields[$0].name }), as: role, wasUnlisted: wasUnlisted,
                from: writer.source, in: run))
    }

    // MARK: - The scan's log

    /// Adds the rows of a batch to the scan's log: one look-up of the log for all.
    private func logListed() {
        if let scan { scans.logs[scan.scope]?.append(listed) }
        batches?.note(listed.map(\.number))
        listed.removeAll(keepingCapacity: true)
    }

    private func noteListed<Cells: RandomAccessCollection<Cell>>(
        _ number: Int64, _ merged: Merged, _ cells: Cells, _ layout: @autoclosure () -> EntityLayout, _ scan: ScanTarget
    ) where Cells.Index == Int {
        guard scan.isListing else { return }
        listed.append((number, merged.outcome == .updated))
        guard let parent = scan.parent else { return }
        guard scans.logs[scan.scope] != nil else { return }
        let toOne = layout().toOne[parent.relationship]
        let fields = toOne.firstField..<toOne.firstField + toOne.fieldCount
        let refersElsewhere = zip(parent.key, fields).contains { $0 != cells[$1].value }
        if !refersElsewhere, let old = merged.old, merged.outcome == .updated, Array(old[fields]) != parent.key {
            scans.parents[scan.entity]?.noteTaken(number, by: parent.key, from: Array(old[fields]))
        }
        scans.parents[scan.entity]?.noteListed(number, refersElsewhere: refersElsewhere)
    }
}
