internal import Mapping
internal import StoreContract

/// The reversal of one run, inside a transaction that the caller ends.
///
/// Changes are reverted newest first, each after a check that the row is as the run left it. Rows are deleted at once
/// and re-checked at the end: a row that is still referenced remains as a stub, and missing targets of restored rows
/// become stubs.
package struct Undo {
    /// The maximum number of conflicts that are listed.
    private static let maxConflicts = 1000

    private let run: Int64
    private let writer: TableWriter
    private let later: LaterRuns
    private var conflicts: [UndoConflict] = []
    private var conflictCount = 0
    /// The entities whose rows changed, and the scans that had provided them.
    private var touched: Set<String> = []

    /// Prepares the reversal of a run.
    package init(run: Int64, _ writer: TableWriter) throws {
        self.run = run
        self.writer = writer
        later = LaterRuns(than: run, undos: try writer.tables.undos(after: run))
    }

    private var tables: any StoreTables { writer.tables }
    private var model: CompiledModel { writer.model }

    /// Reverts the run.
    ///
    /// - Throws: ``UndoRefusal`` if its rows have changed since; the caller rolls back the transaction.
    package mutating func apply() throws {
        let records = try tables.changes(ofRun: run)
        try findLaterChanges(records)
        try refuseConflicts()
        for record in records.reversed() {
            touched.insert(record.entity)
            if let scan = record.scan { touched.insert(scan) }
            try takeBack(record)
        }
        try refuseConflicts()
        try restoreReferences()
        try forgetScans()
    }

    // MARK: - What later runs did

    /// Finds, for each row that the run changed, the first later change that was not undone itself.
    private mutating func findLaterChanges(_ records: [ChangeRecord]) throws {
        var seen: Set<String> = []
        let rows = records.compactMap { record in record.key.map { (entity: record.entity, key: $0) } }
            .sorted { ($0.entity, $0.key) < ($1.entity, $1.key) }
        for (entity, key) in rows where seen.insert("\(entity) \(key)").inserted {
            let first = try tables.changes(of: entity, key: key, afterRun: run).first {
                !later.cancelled.contains($0.run)
            }
            if let first { conflict(entity, key, "run \(first.run) changed it later (\(first.change.rawValue))") }
        }
    }

    private mutating func conflict(_ entity: String, _ key: String?, _ reason: String) {
        conflictCount += 1
        if conflicts.count < Self.maxConflicts {
            conflicts.append(UndoConflict(entity: entity, key: key, reason: reason))
        }
    }

    private func refuseConflicts() throws {
        guard conflictCount == 0 else { throw UndoRefusal(run: run, conflicts: conflicts, count: conflictCount) }
    }

    // MARK: - One change

    private mutating func takeBack(_ record: ChangeRecord) throws {
        guard let index = model.index(of: record.entity) else {
            return conflict(record.entity, record.key, "the configuration has no \(record.entity) any more")
        }
        let editor = writer.editor(model.entities[index].root)
        guard record.change != .loaded else { return try takeBackLoad(record, editor) }
        guard let text = record.key, let key = editor.layout.key(from: text) else {
            return conflict(record.entity, record.key, "the key of \(record.entity) has changed")
        }
        if case .links(let relationship, let new)? = record.new, case .links(_, let old)? = record.old {
            return try takeBackLinks(record, relationship, old, new, of: key, editor.layout)
        }
        let names = Set(editor.layout.fields.map(\.name))
        if let gone = (record.old?.columns ?? []).first(where: { !names.contains($0.name) && $0.value != .null }) {
            return conflict(record.entity, text, "the configuration has no \(record.entity).\(gone.name) any more")
        }
        let row = try editor.row(key)
        switch (record.old, record.new, row) {
        case (nil, .some(let new), .some(let row)):
            guard isAsLeft(new, row, record, editor.layout) else { return }
            try writer.removeLinks(of: RowReference(root: editor.layout.index, key: key))
            try editor.delete(key, row)
        case (.some(let old), nil, nil):
            try editor.insert(key, old.columns, isStub: record.change == .stubbed)
        case (.some(let old), .some(let new), .some(let row)):
            guard isAsLeft(new, row, record, editor.layout) else { return }
            // A filled stub becomes a stub again, and a row that became a stub is restored.
            let change: RowChange.Kind =
                switch record.change {
                case .inserted: .stubbed
                case .stubbed: .inserted
                default: .updated
                }
            try editor.update(key, from: row, to: old.columns, as: change)
        case (.some, nil, .some): conflict(record.entity, text, "it exists again, but bmo did not write it")
        case (_, .some, nil): conflict(record.entity, text, "it is gone, but bmo did not delete it")
        case (nil, nil, _): break
        }
    }

    /// Returns whether a row's columns are as the change left them; otherwise another program has written them.
    private mutating func isAsLeft(
        _ new: ChangeRecord.Content, _ row: [StoredValue], _ record: ChangeRecord, _ layout: EntityLayout
    ) -> Bool {
        for (name, value) in new.columns {
            guard let field = layout.fields.firstIndex(where: { $0.name == name }), row[field] != value else {
                continue
            }
            conflict(
                record.entity, record.key,
                "its \(name) is \(JSONText.value(row[field])), where the run left \(JSONText.value(value))")
            return false
        }
        return true
    }

    private mutating func takeBackLinks(
        _ record: ChangeRecord, _ relationship: String, _ old: LinkSpan, _ new: LinkSpan, of key: RowKey,
        _ layout: EntityLayout
    ) throws {
        guard let index = layout.toMany.firstIndex(where: { $0.name == relationship }) else {
            return conflict(
                record.entity, record.key, "the configuration has no \(record.entity).\(relationship) any more")
        }
        let target = tables.layout(of: layout.toMany[index].target)
        if try !writer.links(layout.index, index).takeBack(target.keys(old), target.keys(new), of: key) {
            conflict(record.entity, record.key, "its \(relationship) are not as the run left them")
        }
    }

    /// Deletes all rows that a first load inserted: those of the entity except those of later runs.
    private mutating func takeBackLoad(_ load: ChangeRecord, _ editor: RowEditor) throws {
        var loaded: [(key: RowKey, row: [StoredValue])] = []
        var changed: [(key: String, change: ChangeRecord)] = []
        try tables.forEachRow(of: editor.layout.index) { _, key, row in
            let text = JSONText.key(key).string
            let first = try tables.changes(of: load.entity, key: text, afterRun: run).first {
                !later.cancelled.contains($0.run)
            }
            if let first { changed.append((text, first)) } else { loaded.append((key, row)) }
        }
        for (key, change) in changed where change.old != nil {
            conflict(load.entity, key, "run \(change.run) changed it later (\(change.change.rawValue))")
        }
        guard conflictCount == 0 else { return }
        for (key, row) in loaded {
            try writer.removeLinks(of: RowReference(root: editor.layout.index, key: key))
            try editor.delete(key, row)
        }
    }

    // MARK: - Afterwards

    /// Adds stubs for deleted rows that are still referenced, and for missing targets of restored rows.
    private func restoreReferences() throws {
        guard let own = try writer.runIDIfAny() else { return }
        var done: Int64 = .min
        // The stubs that this adds are recorded too.
        while case let records = try tables.changes(ofRun: own).filter({ $0.id > done }), let last = records.last {
            for record in records { try restoreReferences(of: record) }
            done = last.id
        }
        // The rows of a table that was emptied and is being refilled have no records of their own.
        for layout in model.entities where layout.index == layout.root && writer.run.isLoading(layout.index) {
            var rows: [[StoredValue]] = []
            try tables.forEachRow(of: layout.index) { _, _, row in rows.append(row) }
            for row in rows { try ensureTargets(of: row, layout) }
        }
    }

    private func restoreReferences(of record: ChangeRecord) throws {
        guard let index = model.index(of: record.entity), let text = record.key else { return }
        let editor = writer.editor(model.entities[index].root)
        guard let key = editor.layout.key(from: text) else { return }
        if case .links(let relationship, let span)? = record.new {
            guard let toMany = editor.layout.toMany.first(where: { $0.name == relationship }) else { return }
            for key in tables.layout(of: toMany.target).keys(span).keys { try writer.ensure(key, of: toMany.target) }
            return
        }
        guard let row = try editor.row(key) else {
            let kind = editor.layout.discriminator.map { editor.layout.fields[$0].name }
            let kept = (record.old?.columns ?? []).filter { $0.name == kind }
            if try writer.isReferred(editor.layout.index, key) { try editor.insert(key, kept, isStub: true) }
            return
        }
        try ensureTargets(of: row, editor.layout)
    }

    private func ensureTargets(of row: [StoredValue], _ layout: EntityLayout) throws {
        for relationship in layout.toOne {
            let key = Array(row[relationship.firstField..<relationship.firstField + relationship.fieldCount])
            if !key.contains(.null) { try writer.ensure(key, of: relationship.target) }
        }
    }

    /// Forgets the state of scans, because the next ones would otherwise skip the reverted rows.
    private func forgetScans() throws {
        var entities = touched
        // A first load does not record which scans provided its rows, and a sub-entity may have its own scan.
        for entity in touched {
            entities.formUnion(try tables.sourceScans(of: entity))
            if let index = model.index(of: entity) { entities.formUnion(model.entities[index].kinds) }
        }
        for entity in entities.sorted() { try tables.forgetScans(of: entity, parent: nil) }
    }
}
