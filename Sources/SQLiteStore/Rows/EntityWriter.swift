internal import StoreContract
internal import StoreRules
internal import Mapping

/// The writer of one entity's table, which looks up, compares and writes rows.
///
/// For an unchanged row, looking up and comparing in place costs a quarter less than a guarded upsert, and most rows of
/// most syncs are unchanged. Rows that arrive in table order cost even less: see ``RowScan``.
final class EntityWriter {
    let layout: EntityLayout
    private let connection: OpaquePointer?
    private let stubs: StubTable
    private let stubCount: ObjectCount
    let changes: ChangeLog
    let provenance: ProvenanceTable
    private let edits: EditMerge
    let editCounts: EditCounts
    let triggers: TriggerCheck
    private let abandoned: AbandonedStubs
    private let table: String
    private let rowID: String
    private let lookUp: RawStatement
    /// The scan that finds rows when a listing has the order of the table.
    private let scan: RowScan
    private let insert: RawStatement
    /// The insertion of many rows by one statement.
    let runInsertion: RunInsertion?
    private let insertKey: RawStatement
    private let any: RawStatement
    private var updates: [[UInt64]: RawStatement] = [:]
    /// Whether the previous row was new.
    ///
    /// New and known rows each come in runs, so the next row is inserted without a look-up then.
    private var expectsNew = false
    /// How many rows up to the previous one were new, each with its key as SQLite's rowid.
    var newRows = 0

    init(
        _ layout: EntityLayout, contested: Set<Int> = [], on connection: OpaquePointer?, stubs: StubTable,
        changes: ChangeLog,
        provenance: ProvenanceTable, edits: EditMerge, counts: EditCounts, abandoned: AbandonedStubs,
        triggers: TriggerCheck
    ) {
        self.layout = layout
        self.triggers = triggers
        self.abandoned = abandoned
        self.contested = contested
        self.edits = edits
        editCounts = counts
        self.connection = connection
        self.stubs = stubs
        stubCount = stubs.count(of: layout.name)
        self.changes = changes
        self.provenance = provenance
        table = SchemaBuilder.quoted(layout.name)
        rowID = layout.rowIDName
        let columns = layout.fields.map { SchemaBuilder.quoted($0.name) }
        // Without a key, a look-up finds nothing: every record is a new row.
        let condition = layout.key.isEmpty ? "0" : layout.key.map { "\(columns[$0]) = ?" }.joined(separator: " AND ")
        lookUp = RawStatement(
            "SELECT \(rowID), \(columns.joined(separator: ", ")) FROM \(table) WHERE \(condition)", on: connection)
        scan = RowScan(layout, on: connection)
        insert = RawStatement(Self.insertion(table, columns) + " ON CONFLICT DO NOTHING", on: connection)
        runInsertion = RunInsertion(table, columns, on: connection)
        let keyFields = layout.key.isEmpty ? [0] : layout.key + [layout.discriminator].compactMap { $0 }
        insertKey = RawStatement(
            Self.insertion(table, keyFields.map { columns[$0] }) + " ON CONFLICT DO NOTHING", on: connection)
        any = RawStatement("SELECT EXISTS (SELECT 1 FROM \(table))", on: connection)
    }

    private static func insertion(_ table: String, _ columns: [String]) -> String {
        "INSERT INTO \(table) (\(columns.joined(separator: ", "))) "
            + "VALUES (\(columns.map { _ in "?" }.joined(separator: ", ")))"
    }

    /// The rowid of the row that ``merge(_:as:)`` last found or inserted.
    ///
    /// Nil if the object was deleted locally and must not be restored.
    private(set) var lastRow: Int64?
    /// The rowid of the preceding row in the table, if known.
    private(set) var rowBefore: Int64?
    /// The fields whose old values ``replaced`` reports; nil for none.
    var watched: Range<Int>?
    /// The old values of the watched fields of the last row, if one of them changed.
    private(set) var replaced: [StoredValue]?
    /// The fields that several sources provide.
    private let contested: Set<Int>

    /// Merges a row.
    ///
    /// - Parameter listing: What the entity's own listing brings, if the row is a copy nested in another record.
    @inline(__always)
    func merge(
        _ cells: UnsafeBufferPointer<Cell>, as role: RowRole, over listing: ListingContent? = nil
    ) throws -> MergeOutcome {
        if editCounts.isAny { return try mergeOverEdits(cells, as: role, over: listing) }
        return try mergeMembers(cells, as: role, over: listing)
    }

    /// Merges a row in whose column of extra members a partial record may have only some of them.
    @inline(__always)
    private func mergeMembers(
        _ cells: UnsafeBufferPointer<Cell>, as role: RowRole, over listing: ListingContent?
    ) throws -> MergeOutcome {
        guard let extra = layout.extra, cells[extra].isPatch, !layout.key.isEmpty else {
            return try mergeAll(cells, as: role, over: listing)
        }
        return try ExtraMembers.settle(cells, layout, over: { try edits.row(layout, key(cells)) }) {
            try mergeAll($0, as: role, over: listing)
        }
    }

    /// Returns whether the entity's own listing has included an existing object.
    func isListed(_ cells: UnsafeBufferPointer<Cell>) throws -> Bool {
        if stubCount.value > 0, try stubs.contains(layout, cells) { return false }
        return try !provenance.isUnlisted(layout, key(of: cells))
    }

    private func mergeOverEdits(
        _ all: UnsafeBufferPointer<Cell>, as role: RowRole, over listing: ListingContent?
    ) throws -> MergeOutcome {
        guard let listing, let stored = try edits.row(layout, key(all)),
            let left = listing.left(of: Array(all), over: stored, layout), try isListed(all)
        else { return try mergeOverEdits(all, as: role) }
        // What the listing brings must not meet the edits in the form of an old copy.
        noteOffered(all) { left[$0].kind == .absent }
        return try left.withUnsafeBufferPointer { try mergeOverEdits($0, as: role) }
    }

    private func mergeOverEdits(_ cells: UnsafeBufferPointer<Cell>, as role: RowRole) throws -> MergeOutcome {
        let before = RawStatement.totalChanges(connection)
        guard let own = try edits.merge(layout, Array(cells), as: role) else {
            lastRow = nil
            noteOffered(cells) { _ in true }
            return .unchanged
        }
        let hasWritten = RawStatement.totalChanges(connection) != before
        noteOffered(cells) { own.cells[$0].kind == .absent }
        do {
            return try own.cells.withUnsafeBufferPointer { try mergeMembers($0, as: own.role, over: nil) }
        } catch let error as StoreError where hasWritten && error.code == .constraint {
            // What was written for the edits can only be rolled back with the whole page.
            throw StoreError(.io, error.message, remedy: error.remedy)
        }
    }

    private func mergeAll(
        _ cells: UnsafeBufferPointer<Cell>, as role: RowRole, over listing: ListingContent?
    ) throws -> MergeOutcome {
        rowBefore = nil
        if watched != nil { replaced = nil }
        if expectsNew {
            if try insertNew(cells, as: role) { return .inserted }
            expectsNew = false
        }
        let isReference = role == .reference
        guard let found = try find(cells) else {
            guard try insertNew(cells, as: role) else { throw try refusal(of: cells) }
            expectsNew = true
            return .inserted
        }
        let rowID = found.int64(0)
        lastRow = rowID
        // A statement that an error left at its row would give the next page that row.
        var isLeft = false
        defer { if !isLeft { leave(found, rowID, isChanged: true) } }
        var changed: [Int]?
        var isOverruled = false
        var yields: Bool?
        for index in cells.indices where !found.matches(cells[index], column: Int32(index + 1)) {
            // A source of higher precedence has set the value, unless it is this source's own of before.
            if cells[index].isFallback, index != layout.discriminator, !found.isNull(Int32(index + 1)),
                try isOfOthers(index, cells, as: role)
            {
                isOverruled = true
                continue
            }
            if let listing, listing.fields[index] || index == layout.discriminator {
                let isListed = try yields ?? isListed(cells)
                yields = isListed
                if isListed, listing.fields[index] { continue }
            }
            if cells[index].kind == .null, try isOfOthers(index, cells, as: role) { continue }
            changed = (changed ?? []) + [index]
        }
        let confirmed = try confirmed(cells, in: found, as: role)
        let lostLists = try keepKind(cells, in: found, isReference: isReference || yields == true, &changed)
        let wasStub = try !isReference && stubCount.value > 0 && stubs.remove(layout, cells)
        if wasStub { try provenance.askAgain(layout, key(of: cells)) { found.isNull(Int32($0 + 1)) } }
        var old: JSONText?
        if let changed, changes.records(layout.index) {
            old = object(changed) { $0.append(found.value(Int32($1 + 1))) }
        }
        if isOverruled { noteOffered(cells) { cells[$0].isFallback } }
        if let listing, yields == true { noteOffered(cells) { listing.fields[$0] } }
        if let changed { noteReplaced(changed, in: found) }
        if let changed, let watched, changed.contains(where: watched.contains) {
            replaced = watched.map { value(of: $0, in: found) }
        }
        leave(found, rowID, isChanged: changed != nil)
        isLeft = true
        if let changed { try update(rowID, changed, cells) }
        if !lostLists.isEmpty { try edits.removeLinks(of: key(cells), in: layout.root, lostLists) }
        if role == .listed { try provenance.noteListed(layout, cells) }
        guard wasStub || changed != nil else {
            if !confirmed.isEmpty {
                try provenance.noteUpdate(layout, cells, fields: confirmed, as: role, wasUnlisted: false)
            }
            return .unchanged
        }
        let wasUnlisted =
            try wasStub || isReference && stubs.contains(layout, cells) || role == .listedElsewhere && revives(changed)
        try provenance.noteUpdate(
            layout, cells, fields: (changed ?? []) + confirmed, as: role, wasUnlisted: wasUnlisted)
        if changes.records(layout.index) {
            let new = object(changed ?? []) { $0.append(cells[$1]) }
            try changes.record(
                layout, key: key(of: cells), wasStub ? .inserted : .updated, old: old ?? object([]) { _, _ in },
                new: new)
        }
        return wasStub ? .inserted : .updated
    }

    /// Whether a change of these fields takes back the mark that the row's own listing lacks it.
    private func revives(_ changed: [Int]?) -> Bool { layout.deletion.map { changed?.contains($0) ?? false } ?? false }

    private func value(of field: Int, in found: RawStatement) -> StoredValue {
        found.value(Int32(field + 1)).typed(as: layout.fields[field].type)
    }

    /// Notes the objects that the current row no longer refers to.
    ///
    /// An object referred to by an earlier record of the same batch becomes a stub only after the batch's last record.
    private func noteReplaced(_ changed: [Int], in found: RawStatement) {
        for toOne in layout.toOne {
            let fields = toOne.firstField..<toOne.firstField + toOne.fieldCount
            guard changed.contains(where: fields.contains) else { continue }
            abandoned.noteOffered(toOne.target, fields.map { value(of: $0, in: found) })
        }
    }

    /// Notes the objects that the cells refer to through fields that are not written.
    private func noteOffered(_ cells: UnsafeBufferPointer<Cell>, where isLeft: (Int) -> Bool) {
        for toOne in layout.toOne {
            let fields = toOne.firstField..<toOne.firstField + toOne.fieldCount
            guard fields.contains(where: isLeft) else { continue }
            abandoned.noteOffered(toOne.target, fields.map { cells[$0].value ?? .null })
        }
    }

    /// Returns whether another source set the value; a null from this source does not clear it then.
    private func isOfOthers(
        _ field: Int, _ cells: UnsafeBufferPointer<Cell>, as role: RowRole
    ) throws -> Bool {
        guard contested.contains(field), role != .reference else { return false }
        return try !provenance.fieldsOfOthers([field], layout, key(of: cells), as: role).isEmpty
    }

    /// Returns the fields that another source has set to the value that this one has, too, and wins with: from now on they
    /// are its own.
    @inline(__always)
    private func confirmed(
        _ cells: UnsafeBufferPointer<Cell>, in found: RawStatement, as role: RowRole
    ) throws -> [Int] {
        guard !contested.isEmpty, role != .reference else { return [] }
        let equal = contested.filter { field in
            !cells[field].isFallback && cells[field].kind != .null && cells[field].kind != .absent
                && found.matches(cells[field], column: Int32(field + 1))
        }
        guard !equal.isEmpty else { return [] }
        return try provenance.fieldsOfOthers(equal.sorted(), layout, key(of: cells), as: role)
    }

    /// Returns the statement positioned at the row with the key of these cells; nil if the row does not exist.
    @inline(__always)
    private func find(_ cells: UnsafeBufferPointer<Cell>) throws -> RawStatement? {
        if try scan.findsNext(cells) {
            rowBefore = scan.rowBefore
            return scan.statement
        }
        for index in layout.key.indices { lookUp.bind(cells[layout.key[index]], at: Int32(index + 1)) }
        if try lookUp.step() { return lookUp }
        lookUp.reset()
        return nil
    }

    /// Releases the row that was found; pauses the scan if the row changes, as the scan does not see the write.
    @inline(__always)
    private func leave(_ found: RawStatement, _ row: Int64, isChanged: Bool) {
        if found === lookUp {
            lookUp.reset()
            scan.noteLookUp(of: row)
        } else if isChanged {
            scan.pause()
        }
    }

    /// Releases the current row before the access to the connection ends.
    func pause() { scan.pause() }

    /// Inserts a new row; returns false, without having written anything, if the row exists.
    private func insertNew(_ cells: UnsafeBufferPointer<Cell>, as role: RowRole) throws -> Bool {
        let isRecorded = try changes.recordsInsert(layout, isEmpty: beginsLoad)
        for index in cells.indices { insert.bind(cells[index], at: Int32(index + 1)) }
        guard try insert.run() > 0 else {
            newRows = 0
            return false
        }
        lastRow = insert.lastInsertedRow
        newRows = newRowID(of: cells) == lastRow ? newRows + 1 : 0
        let isReference = role == .reference
        if isReference { try stubs.add(layout, cells) }
        try provenance.noteInsert(layout, cells, as: role)
        if isRecorded { try recordInsert(cells, isReference ? .stubbed : .inserted) }
        return true
    }

    /// Returns the reason why a missing row cannot be inserted, from an insert without `ON CONFLICT DO NOTHING`.
    private func refusal(of cells: UnsafeBufferPointer<Cell>) throws -> StoreError {
        let statement = RawStatement(
            Self.insertion(table, layout.fields.map { SchemaBuilder.quoted($0.name) }), on: connection)
        for index in cells.indices { statement.bind(cells[index], at: Int32(index + 1)) }
        do {
            let count = try statement.run()
            let refusal = SQLiteFailure.ignored("keeps the row out of \(layout.name)")
            return count == 0 ? refusal : StoreError(.io, refusal.message, remedy: refusal.remedy)
        } catch let error as StoreError {
            return error
        }
    }

    /// Keeps the entity of the current row unless the new one is more specific or a sibling; a sibling lacks columns and
    /// lists of the old one.
    ///
    /// - Returns: These lists.
    private func keepKind(
        _ cells: UnsafeBufferPointer<Cell>, in found: RawStatement, isReference: Bool, _ changed: inout [Int]?
    ) throws -> [Int] {
        guard let field = layout.discriminator, changed?.contains(field) == true,
            case .text(let old) = found.value(Int32(field + 1)), case .text(let new) = cells[field].value
        else { return [] }
        var isExpected = isReference
        if !isExpected, cells[field].isFallback {
            isExpected = try stubCount.value == 0 || !stubs.contains(layout, cells)
        }
        guard layout.becomes(new, from: old, isReference: isExpected) else {
            // Nor does it get values that only objects of the other entity have.
            let lacking = cells[field].isFallback ? layout.lacking(in: old) : []
            noteOffered(cells) { lacking.contains($0) && cells[$0].kind != .absent }
            changed?.removeAll { $0 == field || lacking.contains($0) }
            if changed?.isEmpty == true { changed = nil }
            return []
        }
        let lost = layout.lost(becoming: new, from: old)
        let cleared = lost.fields.filter { !found.isNull(Int32($0 + 1)) && changed?.contains($0) == false }
        if !cleared.isEmpty { changed = ((changed ?? []) + cleared).sorted() }
        return lost.lists
    }

    /// Takes the last of several inserted rows for the previous one.
    func noteInserted(_ row: Int64) {
        lastRow = row
        rowBefore = nil
        replaced = nil
    }

    /// Returns whether the table is empty; checked once per run, before its first row.
    func beginsLoad() throws -> Bool {
        _ = try any.step()
        defer { any.reset() }
        guard any.int64(0) == 0 else { return false }
        try provenance.forgetRows(of: layout)
        return true
    }

    private func key(_ cells: UnsafeBufferPointer<Cell>) -> RowKey { layout.key.map { cells[$0].value ?? .null } }

    private func key(of cells: UnsafeBufferPointer<Cell>) -> JSONText { .key(layout.key.lazy.map { cells[$0] }) }

    /// Returns a JSON object of columns, whose values `append` writes.
    private func object(_ fields: [Int], _ append: (inout JSONText, Int) -> Void) -> JSONText {
        var text = JSONText()
        text.append("{")
        for field in fields {
            text.beginMember(layout.fields[field].name)
            append(&text, field)
        }
        text.append("}")
        return text
    }

    private func recordInsert(_ cells: UnsafeBufferPointer<Cell>, _ change: RowChange.Kind) throws {
        let present = cells.indices.filter { cells[$0].kind != .absent && cells[$0].kind != .null }
        // The key of a row without a key is its rowid.
        let key = layout.key.isEmpty ? .key([StoredValue.integer(insert.lastInsertedRow)]) : key(of: cells)
        try changes.record(layout, key: key, change, old: nil, new: object(present) { $0.append(cells[$1]) })
    }

    /// Inserts a stub if the object does not exist; returns whether it inserted one.
    ///
    /// - Parameter kind: The name of the entity that the reference expects.
    func ensure(_ key: UnsafeBufferPointer<Cell>, kind: String) throws -> Bool {
        for index in key.indices { insertKey.bind(key[index], at: Int32(index + 1)) }
        if layout.discriminator != nil { insertKey.bind(kind, at: Int32(key.count + 1)) }
        // The row may exist already. Whether the table is empty must be checked before, but only once per run.
        let isRecorded = try changes.recordsInsert(layout, isEmpty: beginsLoad)
        guard try insertKey.run() > 0 else { return false }
        try stubs.add(layout, key: key)
        if isRecorded {
            var new = JSONText()
            new.append("{")
            for (index, field) in layout.key.enumerated() {
                new.beginMember(layout.fields[field].name)
                new.append(key[index])
            }
            if let field = layout.discriminator {
                new.beginMember(layout.fields[field].name)
                new.append(string: kind)
            }
            new.append("}")
            try changes.record(layout, key: .key(key), .stubbed, old: nil, new: new)
        }
        return true
    }

    private func update(_ rowID: Int64, _ changed: [Int], _ cells: UnsafeBufferPointer<Cell>) throws {
        var mask = [UInt64](repeating: 0, count: (cells.count + 63) / 64)
        for index in changed { mask[index / 64] |= 1 << UInt64(index % 64) }
        let statement = updates[mask] ?? prepareUpdate(changed)
        updates[mask] = statement
        for (position, index) in changed.enumerated() { statement.bind(cells[index], at: Int32(position + 1)) }
        statement.bind(rowID, at: Int32(changed.count + 1))
        guard try statement.run() > 0 else { throw SQLiteFailure.ignored("keeps the row of \(layout.name) as it is") }
    }

    private func prepareUpdate(_ changed: [Int]) -> RawStatement {
        // Bounds the cache: a remote could otherwise cause 2^columns statements.
        if updates.count >= 256 { updates.removeAll() }
        let assignments = changed.map { "\(SchemaBuilder.quoted(layout.fields[$0].name)) = ?" }
        return RawStatement(
            "UPDATE \(table) SET \(assignments.joined(separator: ", ")) WHERE \(rowID) = ?", on: connection)
    }
}

extension EntityLayout {
    /// The name of SQLite's rowid: one of its three aliases that no attribute uses.
    var rowIDName: String {
        func isFree(_ alias: String) -> Bool {
            // Compares the lengths first, because each sweep asks.
            !fields.contains { $0.name.utf8.count == alias.utf8.count && $0.name.lowercased() == alias }
        }
        return ["rowid", "_rowid_", "oid"].first(where: isFree) ?? "rowid"
    }
}
