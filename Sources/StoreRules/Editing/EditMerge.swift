package import Mapping
internal import Model
package import StoreContract

/// The merge of imports into objects with pending edits, as ``EditedRowMerge`` and ``EditedListMerge`` decide.
package final class EditMerge {
    let tables: EditTables
    /// The objects for which the open page has the remote's reply to an edit, with what the reply answers: later edits of
    /// that are based on the reply's values.
    var answered: [Int: [[StoredValue]: AnsweredEdit]] = [:]
    /// Whether the remote's side is newer, for objects in the open page.
    private var remoteIsNewer: [Int: [[StoredValue]: Bool]] = [:]
    /// The ID of the newest edit that the remote had accepted when the open page's scan began; nil for a page with
    /// current values.
    private(set) var scanBegan: Int64?
    /// The objects for which the open page has records from before an edit.
    var outdated: [Int: Set<[StoredValue]>] = [:]
    /// The edits that lost a value in favour of the remote in the open page.
    private var givenUp: Set<Int64> = []
    /// The values that code has merged in the open page.
    private var memory = CellMemory()

    /// Creates the merge over a store's transactions; each page begins with ``beginPage()``.
    package init(_ tables: EditTables) { self.tables = tables }

    /// Creates the merge for one page, and protects edited rows from the writer's deletions.
    package convenience init(_ writer: TableWriter) {
        self.init(EditTables(writer))
        writer.keepsRow = { [unowned self] in try keeps($0, $1) }
    }

    var model: CompiledModel { tables.model }
    var objects: any ObjectWriter { tables.objects }
    var outbox: any OutboxTables { tables.outbox }
    var conflicts: any ConflictTables { tables.conflicts }
    private var localEditor: LocalEditor { LocalEditor(tables) }

    /// Discards the state of the previous page.
    package func beginPage() {
        answered = [:]
        remoteIsNewer = [:]
        scanBegan = nil
        outdated = [:]
        givenUp = []
        memory = CellMemory()
    }

    /// Begins the page of a scan, which may be one of several in the transaction: what its records say of an object's age
    /// holds for this scan only.
    package func follow(_ scan: ScanTarget) {
        scanBegan = scan.acknowledged
        (remoteIsNewer, outdated) = ([:], [:])
    }

    /// Returns the stored row of an object; nil if there is none.
    package func row(_ layout: EntityLayout, _ key: RowKey) throws -> [StoredValue]? {
        key.contains(.null) ? nil : try objects.row(layout.root, key)
    }

    /// Removes the lists that an object lost when it became another sub-entity.
    package func removeLinks(of key: RowKey, in root: Int, _ relationships: [Int]) throws {
        try objects.removeLinks(of: key, in: root, relationships)
    }

    /// Returns the cells to write for an object and their role; nil if nothing is to be written.
    package func merge(
        _ layout: EntityLayout, _ all: [Cell], as role: RowRole
    ) throws -> (cells: [Cell], role: RowRole)? {
        // A key in another object's list also says to whom the object belongs, where the object itself has the reference.
        guard role != .reference || saysMoreThanKey(all, layout) else { return (all, role) }
        let key = layout.key.map { all[$0].value ?? .null }
        switch try age(of: all, layout, key) {
        case .current: break
        case .outdated: return (onlyKey(all, layout), role)
        case .deleted: return stub(all, layout, as: role)
        }
        let entries = try outbox.entries(layout.index, key)
        guard let first = entries.first, let last = entries.last else { return (all, role) }
        if first.operation == .create, first.hasGeneratedKey {
            try evade(layout, key)
            return (all, role)
        }
        if last.operation == .delete { return try mergeDeleted(layout, key, all, role, entries) }
        return (try mergeEdited(layout, key, all, entries), role)
    }

    /// Assigns a new key to a local object whose temporary key equals the key of a remote object.
    func evade(_ layout: EntityLayout, _ key: [StoredValue]) throws {
        let made = tables.temporaryKey
        let entry = try outbox.entries(layout.index, key).first
        let given = Set(entry?.changes.map(\.name) ?? [])
        let new = try zip(layout.key, key).map { field, value in
            given.contains(layout.fields[field].name) ? value : try made.make(layout, field).value
        }
        try KeyRename(tables).rename(layout.index, key, to: new, isTemporary: true)
    }

    // MARK: - Edited objects

    private func mergeEdited(
        _ layout: EntityLayout, _ key: [StoredValue], _ cells: [Cell], _ entries: [OutboxEntry]
    ) throws -> [Cell] {
        let merge = EditedRowMerge(
            entries, layout, key: key, cells: cells, policy: policy(of: layout),
            memory: memory, answers: try answer(layout.index, key), now: Clock.now())
        if case .newest = policy(of: layout) {
            remoteIsNewer[layout.index, default: [:]][key] = merge.remoteIsNewer
        }
        for action in merge.actions {
            switch action {
            case .removeConflicts(let columns):
                try conflicts.removeConflicts(layout.index, key, columns: columns)
            case .noteConflict(let conflict): try conflicts.noteConflict(conflict, root: layout.index)
            case .keepLocal(let column, let remote, let local):
                try objects.record(
                    layout.index, key: key, .updated, old: .columns([(name: column, value: remote)]),
                    new: .columns([(name: column, value: local)]))
            }
        }
        try save(merge.set, layout.index, key)
        return merge.cells
    }

    /// Returns what the open page answers of an object, without columns and lists that have a conflict; nil if it has no
    /// reply to an edit of the object.
    private func answer(_ root: Int, _ key: [StoredValue]) throws -> AnsweredEdit? {
        guard var answer = answered[root]?[key] else { return nil }
        answer.undecided = Set(try conflicts.conflicts(root, key).compactMap(\.column))
        return answer
    }

    private func policy(of layout: EntityLayout) -> ConflictPolicy { model.model.entities[layout.index].conflicts }

    private func save(_ set: EntrySet, _ root: Int, _ key: [StoredValue]) throws {
        let left = try conflicts.conflicts(root, key)
        givenUp.formUnion(set.givenUp)
        for fate in set.fates(hasConflicts: !left.isEmpty, lost: givenUp) {
            switch fate {
            case .removed(let entry, let isLost):
                try outbox.removeEntry(entry)
                // Code that waits for the edit learns that the remote does not have it.
                if isLost { try objects.noteDropped(entry.id) }
            case .changed(let entry): try outbox.update(entry)
            }
        }
        if try outbox.entries(root, key).isEmpty { try conflicts.removeConflicts(root, key) }
    }

    // MARK: - Deleted objects

    private func mergeDeleted(
        _ layout: EntityLayout, _ key: [StoredValue], _ cells: [Cell], _ role: RowRole, _ entries: [OutboxEntry]
    ) throws -> (cells: [Cell], role: RowRole)? {
        guard let last = entries.last else { return (cells, role) }
        let merge = DeletedRowMerge(
            cells, last, in: entries, layout, model, answers: answered[layout.index]?[key])
        var entry = merge.entry
        if merge.differs, entry.isAtRest {
            let policy = policy(of: layout)
            if case .newest = policy {
                remoteIsNewer[layout.index, default: [:]][key] = policy.remoteIsNewer(
                    layout, cells, EntrySet([entry], layout, key))
            }
            switch policy.winner(isWaiting: true, remoteIsNewer: remoteIsNewer[layout.index]?[key]) {
            case nil:
                entry = entry.after(.conflictFound) ?? entry
                try conflicts.noteConflict(.ofWholeObject(entry.entity, key), root: layout.index)
            case .local: break
            case .remote:
                try localEditor.drop(entry)
                try localEditor.restore(entry, layout.index)
                return (cells, role)
            }
        }
        if merge.differs || merge.learns { try outbox.update(entry) }
        return stub(cells, layout, as: role)
    }

    /// Returns what to write of an object that was deleted here: the stub that objects which may refer to it find.
    ///
    /// A key in a list refers to nothing: the deleted object itself had the reference.
    private func stub(_ cells: [Cell], _ layout: EntityLayout, as role: RowRole) -> (cells: [Cell], role: RowRole)? {
        role == .nested ? (onlyKey(cells, layout), .reference) : nil
    }

    // MARK: - Objects that the remote deleted

    /// Returns whether a row that the remote no longer has must be kept, because of an edit that is pending or was just
    /// accepted.
    package func keeps(_ root: Int, _ key: [StoredValue]) throws -> Bool {
        let entries = try outbox.entries(root, key)
        switch RemoteDeletion(of: entries, since: try takenSince(root, key), model.model.entities[root].conflicts) {
        case .keepsRow: return true
        case .deletesRow(let confirmsDelete):
            if confirmsDelete {
                for entry in entries where entry.isAtRest { try outbox.removeEntry(entry) }
                try conflicts.removeConflicts(root, key)
            }
            return false
        case .dropsEdits:
            try localEditor.giveUp(entries, root, key)
            return false
        case .becomesCreate:
            try localEditor.becomeCreate(root, key)
            return true
        case .isConflict:
            let entity = entries.last?.entity ?? model.entities[root].name
            try conflicts.noteConflict(.ofWholeObject(entity, key), root: root)
            for entry in entries where entry.state != .conflict {
                if let entry = entry.after(.conflictFound) { try outbox.update(entry) }
            }
            return true
        }
    }

    // MARK: - Links

    /// Returns the merged list for a remote's list of an object with edits; nil if the stored list is kept.
    package func merge(
        _ toMany: EntityLayout.ToMany, of owner: EntityLayout, _ key: [StoredValue], _ remote: [[StoredValue]],
        over stored: [[StoredValue]]
    ) throws -> [[StoredValue]]? {
        if try isOutdated(toMany, owner.index, key, remote) { return nil }
        let merge = EditedListMerge(
            remote, toMany, try outbox.entries(owner.index, key), of: owner, key: key, policy: policy(of: owner),
            isAnswer: try answer(owner.index, key)?.includes(toMany.name) == true,
            remoteIsNewer: remoteIsNewer[owner.index]?[key], now: Clock.now())
        for action in merge.actions {
            switch action {
            case .removeConflict: try conflicts.removeConflicts(owner.index, key, columns: [toMany.name])
            case .noteConflict(let conflict): try conflicts.noteConflict(conflict, root: owner.index)
            case .keepLocal:
                guard case .links(let old, let new) = LinkSpan.difference(remote, stored) else { continue }
                try objects.record(
                    owner.index, key: key, .relinked, old: .links(relationship: toMany.name, old),
                    new: .links(relationship: toMany.name, new))
            }
        }
        if let set = merge.set { try save(set, owner.index, key) }
        return merge.list
    }

    /// Returns a list in which objects with edits at their end of the links stay as they were.
    ///
    /// - Parameters:
    ///   - wanted: The list to store.
    ///   - old: The stored list.
    ///   - toMany: The relationship.
    ///   - target: The layout of its targets' table.
    package func keepEdited(
        _ wanted: [RowKey], over old: [RowKey], _ toMany: EntityLayout.ToMany, _ target: EntityLayout
    ) throws -> [RowKey] {
        let fits: (OutboxEntry) -> Bool
        switch toMany.storage {
        case .links: return wanted
        case .inverse(let index):
            let toOne = target.toOne[index]
            let names = (0..<toOne.fieldCount).map { target.fields[toOne.firstField + $0].name }
            fits = { entry in entry.changes.contains { names.contains($0.name) } }
        case .reversedLinks(let table):
            let names = target.toMany.filter { $0.storage == .links(table: table) }.map(\.name)
            fits = { entry in entry.links.contains { names.contains($0.relationship) } }
        }
        let known = Set(old)
        let brought = Set(wanted)
        return try wanted.filter { try known.contains($0) || !isPending(target.index, $0, fits) }
            + old.filter { try !brought.contains($0) && isPending(target.index, $0, fits) }
    }

    /// Returns whether a pending edit set a link stored in another object, so that this end must not change it.
    private func isPending(_ root: Int, _ key: RowKey, _ fits: (OutboxEntry) -> Bool) throws -> Bool {
        let entries = try outbox.entries(root, key) + takenSince(root, key)
        return entries.contains { $0.operation == .delete || fits($0) }
    }
}
