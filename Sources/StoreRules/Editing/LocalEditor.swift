internal import Mapping
internal import Model
package import StoreContract

/// The maker of local edits, which changes rows and adds the edits to the outbox.
///
/// Call it inside a transaction, within a run of its own.
package struct LocalEditor {
    let tables: EditTables
    /// The newest entry that edits must not join or follow, which also excludes all older ones; nil for no limit.
    var joinsOnlyAfter: Int64?

    /// Creates an editor over an open transaction.
    package init(_ tables: EditTables) { self.tables = tables }

    /// Returns the ID of the newest entry; 0 if there is none.
    func newestEntry() throws -> Int64 { try outbox.newestEntryID() }

    var model: CompiledModel { tables.model }
    var objects: any ObjectWriter { tables.objects }
    var outbox: any OutboxTables { tables.outbox }
    var conflicts: any ConflictTables { tables.conflicts }

    /// Makes one edit, with the edits of other objects that its links imply.
    package func make(_ edit: LocalEdit) throws -> EditReceipt {
        guard let index = model.index(of: edit.entity) else {
            let names = model.entities.map(\.name)
            throw StoreError(
                .request, "there is no entity \"\(edit.entity)\"",
                remedy: suggestion(for: edit.entity, among: names) ?? "there are: \(names.joined(separator: ", "))")
        }
        let layout = model.entities[index]
        return switch edit.operation {
        case .create: try create(edit, layout)
        case .update: try update(edit, layout)
        case .delete: try delete(edit, layout)
        }
    }

    // MARK: - Create

    private func create(_ edit: LocalEdit, _ layout: EntityLayout) throws -> EditReceipt {
        let values = try EditedValues(edit.values, of: layout, in: model)
        let (key, temporary) = try tables.temporaryKey.key(of: layout, given: edit.key, values)
        let object = EditedObject(root: layout.root, layout: layout, key: key)
        let row = try objects.row(layout.root, key)
        let isStub = try row != nil && objects.isStub(layout.root, key)
        let last = try outbox.entries(layout.root, key).last
        let isRevived = last?.operation == .delete
        try checkAlone(object)
        if row != nil, !isStub, !(isRevived && layout.deletion != nil) {
            throw StoreError(
                .request, "\(layout.name) \(object.name) exists already", remedy: "update it, or use another key")
        }
        var columns = Dictionary(
            values.fields.map { (layout.fields[$0.field].name, $0.value) }, uniquingKeysWith: { $1 })
        for (field, value) in zip(layout.key, key) { columns[layout.fields[field].name] = value }
        if let field = layout.discriminator { columns[layout.fields[field].name] = .text(layout.name) }
        try layout.checkReferences(columns, row: nil, in: model, exists: exists)
        let ordered = layout.fields.map { (name: $0.name, value: columns[$0.name] ?? .null) }
        if let row {
            try objects.update(layout.root, key, from: row, to: ordered, as: .inserted)
        } else {
            try objects.insert(layout.root, key, ordered.filter { $0.value != .null }, isStub: false)
        }
        let lists = try setLinks(of: object, by: edit)
        if let last, isRevived, last.takesEdits {
            return EditReceipt(
                entity: layout.name, key: key,
                entry: try revive(
                    object, last.with(userInfo: edit.userInfo), setting: Set(edit.values.keys).union(edit.links.keys))
                    ?? lists.otherEntry)
        }
        var changes: [OutboxEntry.FieldEdit] = []
        for (index, field) in layout.fields.enumerated() where !temporary.contains(index) {
            // A key that was assigned locally and permanently is also sent.
            guard layout.key.contains(index) || values.value(index) != nil else { continue }
            changes.append(
                OutboxEntry.FieldEdit(name: field.name, old: nil, new: columns[field.name] ?? .null))
        }
        let entry = try enqueue(
            OutboxEntry(
                id: 0, entity: layout.name, key: key, operation: .create, changes: changes,
                links: lists.own.map { OutboxEntry.LinkEdit(relationship: $0.relationship, old: [], new: $0.new) },
                idempotencyKey: Self.newKey(), created: Clock.now(), hasTemporaryKey: !temporary.isEmpty,
                userInfo: edit.userInfo), object)
        return EditReceipt(entity: layout.name, key: key, entry: entry)
    }

    /// Turns the delete of an object that is created again into an update, or removes it if the object is as before.
    ///
    /// - Parameter names: The columns and lists that the new create sets.
    private func revive(
        _ object: EditedObject, _ last: OutboxEntry, setting names: Set<String>
    ) throws -> Int64? {
        let remote = try conflicts.remoteValues(object.root, object.key)
        try conflicts.removeConflicts(object.root, object.key)
        let row = try objects.row(object.root, object.key) ?? []
        let plan = OutgoingPlan(of: object.layout.index, in: model)
        let entry = try last.becomingUpdate(
            of: object.layout, row, remote: remote,
            leavingOut: { !names.contains($0) && plan.leavesOut($0, isNew: false) },
            list: { try objects.list(object.root, $0, of: object.key) })
        return try store(entry, object, after: last)
    }

    // MARK: - Update

    private func update(_ edit: LocalEdit, _ layout: EntityLayout) throws -> EditReceipt {
        let (object, row) = try existing(edit, layout)
        try checkAlone(object)
        let layout = object.layout
        let values = try EditedValues(edit.values, of: layout, in: model)
        for (field, value) in values.fields where layout.key.contains(field) && row[field].identity != value {
            throw StoreError(
                .request,
                "\(layout.name).\(layout.fields[field].name) is part of the key of \(object.name) and cannot be changed",
                remedy: "create another object and delete this one")
        }
        let changed = values.fields.filter { row[$0.field] != $0.value && !layout.key.contains($0.field) }
        let columns = Dictionary(
            changed.map { (layout.fields[$0.field].name, $0.value) }, uniquingKeysWith: { $1 })
        try layout.checkReferences(columns, row: row, in: model, exists: exists)
        if !changed.isEmpty {
            try objects.update(
                object.root, object.key, from: row,
                to: changed.map { (name: layout.fields[$0.field].name, value: $0.value) })
        }
        let lists = try setLinks(of: object, by: edit)
        let changes = changed.map {
            OutboxEntry.FieldEdit(name: layout.fields[$0.field].name, old: row[$0.field], new: $0.value)
        }
        let entries = try outbox.entries(object.root, object.key)
        let last = entries.last
        guard !changes.isEmpty || !lists.own.isEmpty else {
            let waiting = last.flatMap { $0.takesEdits ? $0.id : nil }
            return EditReceipt(entity: layout.name, key: object.key, entry: lists.otherEntry ?? waiting)
        }
        let entry: Int64?
        if let last, last.takesEdits, last.operation != .delete {
            entry = try join(changes, lists.own, with: last, after: entries.dropLast(), edit.userInfo, object)
        } else {
            entry = try enqueue(
                OutboxEntry(
                    id: 0, entity: layout.name, key: object.key, operation: .update, changes: changes,
                    links: lists.own, idempotencyKey: Self.newKey(), created: Clock.now(),
                    hasTemporaryKey: last?.hasTemporaryKey ?? false, userInfo: edit.userInfo), object)
        }
        return EditReceipt(entity: layout.name, key: object.key, entry: entry ?? lists.otherEntry)
    }

    /// Joins an edit with the object's last entry; returns the entry that has it, if there is something left to send.
    ///
    /// If that is the update that completes a create whose references form a cycle, the values of the create stay there.
    private func join(
        _ changes: [OutboxEntry.FieldEdit], _ links: [OutboxEntry.LinkEdit], with last: OutboxEntry,
        after earlier: ArraySlice<OutboxEntry>, _ userInfo: String?, _ object: EditedObject
    ) throws -> Int64? {
        let create = earlier.first { $0.operation == .create && $0.takesEdits }
        func isOfCreate(_ name: String) -> Bool { create?.sets(name) == true && !last.sets(name) }
        let given = changes.filter { isOfCreate($0.name) }
        let givenLinks = links.filter { isOfCreate($0.relationship) }
        var entry: Int64?
        if let create, !given.isEmpty || !givenLinks.isEmpty {
            entry = try store(create.adding(given, givenLinks).with(userInfo: userInfo), object, after: create)
        }
        let rest = changes.filter { !isOfCreate($0.name) }
        let restLinks = links.filter { !isOfCreate($0.relationship) }
        guard !rest.isEmpty || !restLinks.isEmpty else { return entry }
        let found = try conflicts.conflicts(object.root, object.key)
        let joined = last.adding(rest, restLinks, keeping: Set(found.compactMap(\.column))).with(userInfo: userInfo)
        return try store(try settle(found, by: joined, object), object, after: last) ?? entry
    }

    /// Returns the object of an edit, with its actual entity, and its row.
    private func existing(_ edit: LocalEdit, _ layout: EntityLayout) throws -> (EditedObject, [StoredValue]) {
        guard !layout.key.isEmpty, edit.key.count == layout.key.count else {
            throw StoreError(
                .request,
                layout.key.isEmpty
                    ? "objects of \(layout.name) have no key (unique: none), so none can be edited"
                    : "the key of \(layout.name) has \(layout.key.count) parts, "
                        + "but the given key has \(edit.key.count)",
                remedy: layout.key.isEmpty
                    ? "give the entity a key in the configuration"
                    : "its parts are: \(layout.key.map { layout.fields[$0].name }.joined(separator: ", "))")
        }
        // A database of an earlier version may have a decimal key as it was received.
        let isStored = try objects.row(layout.root, edit.key) != nil
        let key = isStored ? edit.key : edit.key.map(\.identity)
        let object = EditedObject(root: layout.root, layout: layout, key: key)
        let row = try objects.row(layout.root, key)
        let kind = row.flatMap { row in layout.discriminator.map { row[$0].description } } ?? layout.name
        if let last = try outbox.entries(layout.root, key).last, last.operation == .delete {
            throw StoreError(
                .request, "\(layout.name) \(object.name) is deleted here; the edit waits as outbox \(last.id)",
                remedy: "`bmo outbox drop \(last.id)` restores it")
        }
        guard let row, layout.deletion.map({ row[$0] == .null }) ?? true, layout.kinds.contains(kind),
            let actual = model.index(of: kind)
        else {
            throw StoreError(
                .request, "there is no \(layout.name) \(object.name)",
                remedy: "`bmo list \(layout.name)` shows the existing ones")
        }
        if try objects.isStub(layout.root, key) {
            throw StoreError(
                .request, "only the key of \(layout.name) \(object.name) is known here: other objects refer to it",
                remedy: "`bmo sync` fetches its values, if the remote lists it")
        }
        return (EditedObject(root: layout.root, layout: model.entities[actual], key: key), row)
    }

    // MARK: - Delete

    private func delete(_ edit: LocalEdit, _ layout: EntityLayout) throws -> EditReceipt {
        let (object, row) = try existing(edit, layout)
        try checkAlone(object)
        let layout = object.layout
        let last = try outbox.entries(object.root, object.key).last
        var links: [OutboxEntry.LinkEdit] = []
        for (index, toMany) in layout.toMany.enumerated() {
            guard case .links = toMany.storage else { continue }
            let keys = try objects.list(object.root, index, of: object.key)
            links.append(OutboxEntry.LinkEdit(relationship: toMany.name, old: keys, new: []))
        }
        let isUnsent = last?.operation == .create && last?.takesEdits == true
        if isUnsent { try checkUnreferred(object, createdBy: last) }
        try objects.removeAlone(object.root, object.key, isFinal: isUnsent)
        if let last, isUnsent {
            try drop(last)
            try conflicts.removeConflicts(object.root, object.key)
            return EditReceipt(entity: layout.name, key: object.key, entry: nil)
        }
        let own = Set([layout.deletion].compactMap { $0 })
        let changes = layout.fields.indices.filter { !own.contains($0) }.map {
            OutboxEntry.FieldEdit(name: layout.fields[$0].name, old: row[$0], new: nil)
        }
        guard let last, last.takesEdits else {
            let entry = try enqueue(
                OutboxEntry(
                    id: 0, entity: layout.name, key: object.key, operation: .delete, changes: changes, links: links,
                    idempotencyKey: Self.newKey(), created: Clock.now(),
                    hasTemporaryKey: last?.hasTemporaryKey ?? false, userInfo: edit.userInfo), object)
            return EditReceipt(entity: layout.name, key: object.key, entry: entry)
        }
        let remote = try conflicts.remoteValues(object.root, object.key)
        try conflicts.removeConflicts(object.root, object.key)
        let entry = try last.becomingDelete(changes, links, remote: remote).with(userInfo: edit.userInfo)
        return EditReceipt(
            entity: layout.name, key: object.key, entry: try store(entry, object, after: last))
    }

    /// Checks that the edit of an object may be made alone.
    ///
    /// - Throws: ``StoreError`` if the object has an edit that this one must not join or follow.
    private func checkAlone(_ object: EditedObject) throws {
        guard let newest = joinsOnlyAfter,
            let waiting = try outbox.entries(object.root, object.key).first(where: { $0.id <= newest })
        else { return }
        throw StoreError(
            .request, "\(object.layout.name) \(object.name) has a waiting edit: outbox \(waiting.id)",
            remedy: "`bmo push` it first, or leave out --or-rollback, which would also roll that edit back")
    }

    /// Checks that an object is unreferenced.
    ///
    /// - Parameter create: The object's pending create. An edit that a newer one supersedes can wait for it although
    ///   no row refers to the object.
    /// - Throws: ``StoreError`` if others refer to an object that will be deleted completely.
    func checkUnreferred(_ object: EditedObject, createdBy create: OutboxEntry? = nil) throws {
        let isAwaited = try create.map { try !outbox.dependants(of: $0.id).isEmpty } ?? false
        guard try isAwaited || objects.isReferred(object.root, object.key) else { return }
        throw StoreError(
            .request, "\(object.layout.name) \(object.name) was never sent, but other objects refer to it",
            remedy: "change those objects first")
    }

    // MARK: - The outbox

    /// Removes an entry that should not be sent any more from the outbox.
    func drop(_ entry: OutboxEntry) throws {
        try outbox.removeEntry(entry)
        try objects.noteDropped(entry.id)
    }

    /// Returns a new idempotency key.
    package static func newKey() -> String { RandomUUID.text() }

    /// Adds an entry; a part that would make two creates wait for each other becomes a subsequent update.
    func enqueue(_ entry: OutboxEntry, _ object: EditedObject) throws -> Int64 {
        var entry = entry
        var later: EntryDependencies.Deferred?
        let row = try objects.row(object.root, object.key)
        if entry.operation != .delete {
            let resolved = try dependencies(of: entry, object, row: row ?? [])
            (entry, later) = (resolved.entry, resolved.deferred)
        }
        entry.id = try outbox.add(entry, root: object.root, run: objects.runIDIfAny())
        try enqueue(later, after: entry, object)
        return entry.id
    }

    /// Saves a changed entry, or removes it if it has no edits left.
    func store(_ changed: OutboxEntry, _ object: EditedObject, after last: OutboxEntry) throws -> Int64? {
        var entry = changed
        if entry.operation == .update, entry.changes.isEmpty, entry.links.isEmpty {
            try drop(entry)
            try conflicts.removeConflicts(object.root, object.key)
            return nil
        }
        // The last attempt was not accepted, and this is a different request.
        if last.attempts > 0 { entry.idempotencyKey = Self.newKey() }
        entry = entry.after(.edited) ?? entry
        var later: EntryDependencies.Deferred?
        if entry.operation == .delete {
            entry.dependsOn = []
        } else {
            let row = try objects.row(object.root, object.key)
            let resolved = try dependencies(of: entry, object, row: row ?? [])
            (entry, later) = (resolved.entry, resolved.deferred)
        }
        try outbox.update(entry, run: objects.runIDIfAny())
        try enqueue(later, after: entry, object)
        return entry.id
    }

    private func enqueue(_ later: EntryDependencies.Deferred?, after entry: OutboxEntry, _ object: EditedObject) throws
    {
        guard let later else { return }
        var update = OutboxEntry(
            id: 0, entity: entry.entity, key: entry.key, operation: .update, changes: later.changes,
            links: later.links, idempotencyKey: Self.newKey(), created: entry.created,
            hasTemporaryKey: entry.hasTemporaryKey, userInfo: entry.userInfo)
        update.dependsOn = later.dependsOn
        _ = try outbox.add(update, root: object.root, run: objects.runIDIfAny())
    }
}
