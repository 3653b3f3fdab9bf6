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
    private let objects: any ObjectWriter
    private let history: any UndoTables
    private let later: LaterRuns
    private var conflicts: [UndoConflict] = []
    private var conflictCount = 0
    /// The entities whose rows changed, and the scans that had provided them.
    private var touched: Set<String> = []

    /// Prepares the reversal of a run.
    package init(run: Int64, _ objects: any ObjectWriter, _ history: any UndoTables) throws {
        self.run = run
        self.objects = objects
        self.history = history
        later = try history.laterRuns(than: run)
    }

    private var model: CompiledModel { objects.model }

    /// Reverts the run.
    ///
    /// - Throws: ``UndoRefusal`` if its rows have changed since; the caller rolls back the transaction.
    package mutating func apply() throws {
        try findLaterChanges()
        try refuseConflicts()
        try history.forEachChange(ofRun: run, newestFirst: true) { record in
            touched.insert(record.entity)
            if let scan = record.scan { touched.insert(scan) }
            try takeBack(record)
        }
        try refuseConflicts()
        try restoreReferences()
        try forgetScans()
    }

    // MARK: - What later runs did

    private mutating func findLaterChanges() throws {
        try history.forEachLaterChange(than: run, later) { entity, key, run, change in
            conflict(entity, key, "run \(run) changed it later (\(change.rawValue))")
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
        let layout = model.entities[model.entities[index].root]
        guard record.change != .loaded else { return try takeBackLoad(record, layout) }
        guard let text = record.key, let key = layout.key(from: text) else {
            return conflict(record.entity, record.key, "the key of \(record.entity) has changed")
        }
        if case .links(let relationship, let new)? = record.new, case .links(_, let old)? = record.old {
            return try takeBackLinks(record, relationship, old, new, of: key, layout)
        }
        let row = try objects.row(layout.index, key)
        let old = record.old?.columns ?? []
        switch RowReversal(record.change, from: record.old?.columns, to: record.new?.columns, row: row, layout) {
        case .nothing: break
        case .delete:
            try objects.removeLinks(of: key, in: layout.index)
            try objects.delete(layout.index, key, row ?? [])
        case .insert(let isStub): try objects.insert(layout.index, key, old, isStub: isStub)
        case .update(let kind): try objects.update(layout.index, key, from: row ?? [], to: old, as: kind)
        case .refused(let reason): conflict(record.entity, text, reason)
        }
    }

    private mutating func takeBackLinks(
        _ record: ChangeRecord, _ relationship: String, _ old: LinkSpan, _ new: LinkSpan, of key: RowKey,
        _ layout: EntityLayout
    ) throws {
        guard let index = layout.toMany.firstIndex(where: { $0.name == relationship }) else {
            return conflict(
                record.entity, record.key, "the configuration has no \(record.entity).\(relationship) any more")
        }
        let target = root(layout.toMany[index].target)
        let isAsLeft = try objects.takeBackList(
            layout.index, index, of: key, from: target.keys(new), to: target.keys(old))
        if !isAsLeft {
            conflict(record.entity, record.key, "its \(relationship) are not as the run left them")
        }
    }

    /// Deletes all rows that a first load inserted: those of the entity except those of later runs.
    private mutating func takeBackLoad(_ load: ChangeRecord, _ layout: EntityLayout) throws {
        try history.forEachRow(of: layout.index) { _, key, row in
            let text = JSONText.key(key).string
            if let first = try history.laterChange(of: load.entity, key: text, than: run, later) {
                if !first.isNew {
                    conflict(load.entity, text, "run \(first.run) changed it later (\(first.change.rawValue))")
                }
                return
            }
            guard conflictCount == 0 else { return }
            try objects.removeLinks(of: key, in: layout.index)
            try objects.delete(layout.index, key, row)
        }
    }

    // MARK: - Afterwards

    /// Adds stubs for deleted rows that are still referenced, and for missing targets of restored rows.
    private func restoreReferences() throws {
        guard let own = try objects.runIDIfAny() else { return }
        // The stubs that this adds are recorded too.
        try history.forEachChange(ofRun: own, newestFirst: false) { try restoreReferences(of: $0) }
        // The rows of a table that was emptied and is being refilled have no records of their own.
        for layout in model.entities where layout.index == layout.root && objects.isLoading(layout.index) {
            for (index, toOne) in layout.toOne.enumerated() {
                for key in try history.missingTargets(of: layout.index, index) {
                    try objects.ensure(key, of: toOne.target)
                }
            }
        }
    }

    private func restoreReferences(of record: ChangeRecord) throws {
        guard let index = model.index(of: record.entity), let text = record.key else { return }
        let layout = root(index)
        guard let key = layout.key(from: text) else { return }
        if case .links(let relationship, let span)? = record.new {
            guard let toMany = layout.toMany.first(where: { $0.name == relationship }) else { return }
            for key in root(toMany.target).keys(span).keys { try objects.ensure(key, of: toMany.target) }
            return
        }
        guard let row = try objects.row(layout.index, key) else {
            let kind = layout.discriminator.map { layout.fields[$0].name }
            let kept = (record.old?.columns ?? []).filter { $0.name == kind }
            if try objects.isReferred(layout.index, key) {
                try objects.insert(layout.index, key, kept, isStub: true)
            }
            return
        }
        try objects.ensureTargets(of: row, layout)
    }

    /// Returns the layout of the table that holds an entity's objects.
    private func root(_ entity: Int) -> EntityLayout { model.entities[model.entities[entity].root] }

    /// Forgets the state of scans, because the next ones would otherwise skip the reverted rows.
    private func forgetScans() throws {
        var entities = touched
        // A first load does not record which scans provided its rows, and a sub-entity may have its own scan.
        for entity in touched {
            entities.formUnion(try history.sourceScans(of: entity))
            if let index = model.index(of: entity) { entities.formUnion(model.entities[index].kinds) }
        }
        try history.forgetScans(ofEntities: entities.sorted())
    }
}
