internal import GRDB
internal import StoreContract
internal import StoreRules
internal import Mapping

/// The reversal of one run, inside a transaction that the caller ends.
///
/// Changes are reverted newest first, each after a check that the row is as the run left it. Rows are deleted at once
/// and re-checked at the end: a row that is still referenced remains as a stub, and missing targets of restored rows
/// become stubs.
final class Undo {
    /// The number of rows read at a time.
    private static let chunk: Int64 = 500
    /// The maximum number of conflicts that are listed.
    private static let maxConflicts = 1000

    private let run: Int64
    private let model: CompiledModel
    private let rowEditors: RowEditors
    private let linkWriters: LinkWriters
    private let changes: ChangeLog
    private let db: Database
    private var checks: [Int: ReferenceCheck] = [:]
    private let later: LaterRuns
    private(set) var conflicts: [UndoConflict] = []
    private(set) var conflictCount = 0
    /// The entities whose rows changed, and the scans that had provided them.
    private(set) var touched: Set<String> = []

    init(
        run: Int64, model: CompiledModel, _ rowEditors: RowEditors, _ linkWriters: LinkWriters, _ changes: ChangeLog,
        in db: Database
    ) throws {
        self.run = run
        self.model = model
        self.rowEditors = rowEditors
        self.linkWriters = linkWriters
        self.changes = changes
        self.db = db
        later = try LaterRuns(than: run, in: db)
    }

    /// Reverts the run; if there are ``conflicts`` afterwards, the caller must roll back the transaction.
    func apply() throws {
        try findLaterChanges()
        guard conflictCount == 0 else { return }
        let select = try statement(
            """
            SELECT \(ChangeRecord.columns) FROM bmo_changes WHERE run = ?1 AND id < ?2 ORDER BY id DESC LIMIT \(Self.chunk)
            """)
        var last = Int64.max
        while true {
            select.bind(run, at: 1)
            select.bind(last, at: 2)
            let records = try Self.all(select)
            guard let lowest = records.last else { break }
            for record in records {
                touched.insert(record.entity)
                if let scan = record.scan { touched.insert(scan) }
                try takeBack(record)
            }
            last = lowest.id
        }
        guard conflictCount == 0 else { return }
        try restoreReferences()
        try forgetScans()
    }

    /// Marks an entity whose rows were written elsewhere.
    func touch(_ entity: String) { touched.insert(entity) }

    // MARK: - What later runs did

    private func findLaterChanges() throws {
        // For each row that the run changed: the first later change that was not undone itself.
        let select = try statement(
            """
            SELECT l.entity, l.key, l.run, l.change, min(l.id) FROM
                (SELECT DISTINCT entity, key FROM bmo_changes WHERE run = ?1 AND key IS NOT NULL) AS t
                JOIN bmo_changes AS l ON l.entity = t.entity AND l.key = t.key
            WHERE l.run > ?1 AND \(later.condition("l.run")) GROUP BY l.entity, l.key
            ORDER BY l.entity, l.key
            """)
        select.bind(run, at: 1)
        while try select.step() {
            conflict(
                select.text(0) ?? "", select.text(1),
                "run \(select.int64(2)) changed it later (\(select.text(3) ?? ""))")
        }
    }

    private func conflict(_ entity: String, _ key: String?, _ reason: String) {
        conflictCount += 1
        if conflicts.count < Self.maxConflicts {
            conflicts.append(UndoConflict(entity: entity, key: key, reason: reason))
        }
    }

    // MARK: - One change

    private func takeBack(_ record: ChangeRecord) throws {
        guard let index = model.index(of: record.entity) else {
            return conflict(record.entity, record.key, "the configuration has no \(record.entity) any more")
        }
        let editor = try rowEditors(index)
        guard record.change != .loaded else { return try takeBackLoad(record, editor) }
        guard let text = record.key, let key = editor.layout.key(from: text) else {
            return conflict(record.entity, record.key, "the key of \(record.entity) has changed")
        }
        if case .links(let relationship, let new)? = record.new, case .links(_, let old)? = record.old {
            return try takeBackLinks(record, relationship, old, new, of: key, editor.layout)
        }
        let row = try editor.row(key)
        let old = record.old?.columns ?? []
        switch RowReversal(record.change, from: record.old?.columns, to: record.new?.columns, row: row, editor.layout) {
        case .nothing: break
        case .delete:
            try removeLinks(of: key, editor.layout)
            try editor.delete(key, row ?? [])
        case .insert(let isStub): try editor.insert(key, old, isStub: isStub)
        case .update(let kind): try editor.update(key, from: row ?? [], to: old, as: kind)
        case .refused(let reason): conflict(record.entity, text, reason)
        }
    }

    private func takeBackLinks(
        _ record: ChangeRecord, _ relationship: String, _ old: LinkSpan, _ new: LinkSpan, of key: [StoredValue],
        _ layout: EntityLayout
    ) throws {
        guard let index = layout.toMany.firstIndex(where: { $0.name == relationship }) else {
            return conflict(
                record.entity, record.key, "the configuration has no \(record.entity).\(relationship) any more")
        }
        let target = root(layout.toMany[index].target)
        if try !linkWriters(layout.index, index).takeBack(target.keys(old), target.keys(new), of: key) {
            conflict(record.entity, record.key, "its \(relationship) are not as the run left them")
        }
    }

    private func removeLinks(of key: [StoredValue], _ layout: EntityLayout) throws {
        for (index, relationship) in layout.toMany.enumerated() {
            if case .links = relationship.storage { try linkWriters(layout.index, index).removeAll(of: key) }
        }
    }

    // MARK: - A first load

    /// Deletes all rows of the entity except those inserted by later runs.
    private func takeBackLoad(_ load: ChangeRecord, _ editor: RowEditor) throws {
        let layout = editor.layout
        let columns = layout.fields.map { SchemaBuilder.quoted($0.name) }.joined(separator: ", ")
        let select = try statement(
            """
            SELECT \(layout.rowIDName), \(columns) FROM \(SchemaBuilder.quoted(layout.name))
            WHERE \(layout.rowIDName) > ? ORDER BY \(layout.rowIDName) LIMIT \(Self.chunk)
            """)
        let first = try statement(
            """
            SELECT run, change, old IS NULL FROM bmo_changes
            WHERE entity = ?1 AND key = ?2 AND run > ?3 AND \(later.condition("run")) ORDER BY id LIMIT 1
            """)
        var last = Int64.min
        while true {
            select.bind(last, at: 1)
            var rows: [(number: Int64, values: [StoredValue])] = []
            while try select.step() {
                last = select.int64(0)
                rows.append((last, layout.fields.indices.map { select.value(Int32($0 + 1)) }))
            }
            select.reset()
            guard !rows.isEmpty else { return }
            for (number, row) in rows {
                let key = layout.key.isEmpty ? [.integer(number)] : layout.key.map { row[$0] }
                let text = JSONText.key(key)
                first.bind(load.entity, at: 1)
                first.bind(utf8: text.bytes, at: 2)
                first.bind(run, at: 3)
                let wasTouched = try first.step()
                let (run, change, isNew) = (first.int64(0), first.text(1) ?? "", first.int64(2) != 0)
                first.reset()
                if wasTouched {
                    if !isNew { conflict(load.entity, text.string, "run \(run) changed it later (\(change))") }
                    continue
                }
                guard conflictCount == 0 else { continue }
                try removeLinks(of: key, layout)
                try editor.delete(key, row)
            }
        }
    }

    // MARK: - Afterwards

    /// Adds stubs for deleted rows that are still referenced, and for missing targets of restored rows.
    private func restoreReferences() throws {
        guard let own = try changes.runIDIfAny() else { return }
        let select = try statement(
            """
            SELECT \(ChangeRecord.columns) FROM bmo_changes WHERE run = ?1 AND id > ?2 ORDER BY id LIMIT \(Self.chunk)
            """)
        var last = Int64.min
        while true {
            select.bind(own, at: 1)
            select.bind(last, at: 2)
            let records = try Self.all(select)
            guard let highest = records.last else { break }
            for record in records { try restoreReferences(of: record) }
            last = highest.id
        }
        // The rows of a table that was emptied and is being refilled have no records of their own.
        for layout in model.entities where layout.index == layout.root && changes.isLoading(layout.index) {
            try ensureAllTargets(of: layout)
        }
    }

    private func restoreReferences(of record: ChangeRecord) throws {
        guard let index = model.index(of: record.entity), let text = record.key else { return }
        let editor = try rowEditors(index)
        guard let key = editor.layout.key(from: text) else { return }
        if case .links(let relationship, let span)? = record.new {
            guard let toMany = editor.layout.toMany.first(where: { $0.name == relationship }) else { return }
            for key in root(toMany.target).keys(span).keys { try ensure(key, of: toMany.target) }
            return
        }
        guard let row = try editor.row(key) else {
            let kind = editor.layout.discriminator.map { editor.layout.fields[$0].name }
            let kept = (record.old?.columns ?? []).filter { $0.name == kind }
            if try check(index).isReferred(key) { try editor.insert(key, kept, isStub: true) }
            return
        }
        try ensureTargets(of: row, editor.layout)
    }

    private func ensureTargets(of row: [StoredValue], _ layout: EntityLayout) throws {
        for relationship in layout.toOne {
            let key = Array(row[relationship.firstField..<relationship.firstField + relationship.fieldCount])
            if !key.contains(.null) { try ensure(key, of: relationship.target) }
        }
    }

    private func ensureAllTargets(of layout: EntityLayout) throws {
        for relationship in layout.toOne {
            let quoted = SchemaBuilder.quoted
            let columns = (0..<relationship.fieldCount).map { quoted(layout.fields[relationship.firstField + $0].name) }
            let target = root(relationship.target)
            let keys = target.key.map { quoted(target.fields[$0].name) }
            let match = zip(columns, keys).map { "t.\($1) = s.\($0)" }.joined(separator: " AND ")
            let select = try statement(
                """
                SELECT DISTINCT \(columns.joined(separator: ", ")) FROM \(quoted(layout.name)) AS s
                WHERE \(columns.map { "s.\($0) IS NOT NULL" }.joined(separator: " AND "))
                    AND NOT EXISTS (SELECT 1 FROM \(quoted(target.name)) AS t WHERE \(match))
                """)
            var missing: [[StoredValue]] = []
            while try select.step() { missing.append(columns.indices.map { select.value(Int32($0)) }) }
            for key in missing { try ensure(key, of: relationship.target) }
        }
    }

    private func ensure(_ key: [StoredValue], of entity: Int) throws {
        let editor = try rowEditors(entity)
        guard try editor.row(key) == nil else { return }
        let kind = editor.layout.discriminator.map { field in
            (name: editor.layout.fields[field].name, value: StoredValue.text(model.entities[entity].name))
        }
        try editor.insert(key, kind.map { [$0] } ?? [], isStub: true)
    }

    /// Returns the layout of the table that holds an entity's objects.
    private func root(_ entity: Int) -> EntityLayout { model.entities[model.entities[entity].root] }

    /// Forgets the state of scans, because the next ones would otherwise skip the reverted rows.
    private func forgetScans() throws {
        // A first load does not record which scans provided its rows, and a sub-entity may have its own scan.
        for entity in touched {
            touched.formUnion(
                try String.fetchAll(
                    db, sql: "SELECT DISTINCT walk FROM bmo_sources WHERE entity = ?", arguments: [entity])
            )
            if let index = model.index(of: entity) { touched.formUnion(model.entities[index].kinds) }
        }
        for table in ["bmo_progress", "bmo_cursors", "bmo_seen", "bmo_list_owners", "bmo_waiting_lists"]
        where try db.tableExists(table) {
            guard try db.columns(in: table).contains(where: { $0.name == "entity" }) else { continue }
            for entity in touched.sorted() {
                try db.execute(sql: "DELETE FROM \(table) WHERE entity = ?", arguments: [entity])
            }
        }
    }

    // MARK: - Statements

    private func statement(_ sql: String) throws -> RawStatement { try RawStatement(sql, on: db.sqliteConnection) }

    private static func all(_ select: RawStatement) throws -> [ChangeRecord] {
        defer { select.reset() }
        var records: [ChangeRecord] = []
        while try select.step() { records.append(try ChangeRecord(select)) }
        return records
    }

    private func check(_ entity: Int) throws -> ReferenceCheck {
        let entity = model.entities[entity].root
        if let check = checks[entity] { return check }
        let check = try ReferenceCheck(to: model.entities[entity], in: model, on: db.sqliteConnection)
        checks[entity] = check
        return check
    }
}
