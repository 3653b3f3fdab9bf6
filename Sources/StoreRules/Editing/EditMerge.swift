package import Mapping
internal import Model
package import StoreContract

/// The merge of imports into objects with pending edits.
///
/// The merge compares three values of each column: the base, the local and the remote value. If the remote value is
/// still the base, the edit is kept. If it equals the local value, there is nothing left to push. If it is a third
/// value, both sides changed the column, and the entity's conflict policy decides. Edits being sent are left alone.
package final class EditMerge {
    let writer: TableWriter
    /// The objects for which the open page has the remote's reply to an edit, on whose values later edits are based.
    var answered: [Int: Set<[StoredValue]>] = [:]
    /// Whether the remote's side is newer, for objects in the open page.
    private var remoteIsNewer: [Int: [[StoredValue]: Bool]] = [:]
    /// The ID of the newest edit that the remote had accepted when the open page's scan began; nil for a page with
    /// current values.
    package var scanBegan: Int64?
    /// The objects for which the open page has records from before an edit.
    var outdated: [Int: Set<[StoredValue]>] = [:]
    /// The edits that lost a value in favour of the remote in the open page.
    private var givenUp: Set<Int64> = []

    /// Creates the merge for one page, and protects edited rows from the writer's deletions.
    package init(_ writer: TableWriter) {
        self.writer = writer
        writer.keepsRow = { [unowned self] in try keeps($0, $1) }
    }

    var model: CompiledModel { writer.model }
    var tables: any StoreTables { writer.tables }
    var outbox: Outbox { Outbox(tables) }
    var conflicts: Conflicts { Conflicts(tables) }
    var localEditor: LocalEditor { LocalEditor(writer) }

    /// Returns the cells to write for an object and their role; nil if nothing is to be written.
    package func merge(
        _ layout: EntityLayout, _ all: [Cell], as role: RowRole
    ) throws -> (cells: [Cell], role: RowRole)? {
        guard role != .reference else { return (all, role) }
        let key = layout.key.map { all[$0].value ?? .null }
        switch try age(of: all, layout, key) {
        case .current: break
        case .outdated: return (onlyKey(all, layout), role)
        // Other objects may still refer to it, and find a stub.
        case .deleted: return role == .listed ? nil : (onlyKey(all, layout), .reference)
        }
        let entries = try outbox.entries(layout.index, key)
        guard let first = entries.first, let last = entries.last else { return (all, role) }
        if first.operation == .create, first.hasTemporaryKey {
            try evade(layout, key)
            return (all, role)
        }
        if last.operation == .delete { return try mergeDeleted(layout, key, all, role, entries) }
        return (try mergeEdited(layout, key, all, entries), role)
    }

    /// Assigns a new key to a local object whose temporary key equals the key of a remote object.
    private func evade(_ layout: EntityLayout, _ key: [StoredValue]) throws {
        let made = TemporaryKey(tables)
        let entry = try outbox.entries(layout.index, key).first
        let given = Set(entry?.changes.map(\.name) ?? [])
        let new = try zip(layout.key, key).map { field, value in
            given.contains(layout.fields[field].name) ? value : try made.make(layout, field).value
        }
        try KeyRename(writer).rename(layout.index, key, to: new, isTemporary: true)
    }

    // MARK: - Edited objects

    private func mergeEdited(
        _ layout: EntityLayout, _ key: [StoredValue], _ cells: [Cell], _ entries: [OutboxEntry]
    ) throws -> [Cell] {
        var set = EntrySet(entries, layout, key)
        var cells = cells
        let policy = policy(of: layout)
        let isAnswer = answered[layout.index]?.contains(key) == true
        if case .newest(let attribute) = policy {
            remoteIsNewer[layout.index, default: [:]][key] = isNewer(attribute, layout, cells, set)
        }
        // The object is not deleted on the remote, and an existing object is not created.
        try conflicts.remove(layout.index, key, columns: [""])
        let wasCreate = set.becomeUpdate()
        for (index, field) in layout.fields.enumerated() where !layout.key.contains(index) {
            guard let remote = cells[index].value, let edit = set.edit(of: field.name) else { continue }
            let isFallback = cells[index].isFallback
            let cell = cells[index]
            cells[index] = .absent
            guard !isFallback else { continue }
            set.compared.insert(field.name)
            if remote.isSame(as: edit.local, field.type) {
                set.drop(field.name)
                try conflicts.remove(layout.index, key, columns: [field.name])
            } else if isAnswer {
                set.rebase(field.name, on: remote)
            } else if edit.known.contains(where: { $0.isSame(as: remote, field.type) }), !wasCreate {
                try conflicts.remove(layout.index, key, columns: [field.name])
            } else {
                let base = wasCreate ? nil : edit.known.first
                switch winner(policy, layout, key, isWaiting: edit.isWaiting) {
                case nil:
                    try conflicts.note(
                        EditConflict(
                            entity: set.entity, key: key, column: field.name, base: base, local: edit.local,
                            remote: remote, seen: Clock.now()), root: layout.index)
                case .remote:
                    set.giveUp(field.name)
                    try conflicts.remove(layout.index, key, columns: [field.name])
                    cells[index] = cell
                case .local:
                    set.rebase(field.name, on: remote)
                    try conflicts.remove(layout.index, key, columns: [field.name])
                    try writer.record(
                        layout.index, key: key, .updated, old: .columns([(name: field.name, value: remote)]),
                        new: .columns([(name: field.name, value: edit.local)]))
                }
            }
        }
        try save(set, layout.index, key)
        return cells
    }

    /// Returns the side whose value wins; nil if the conflict must be resolved manually.
    private func winner(
        _ policy: ConflictPolicy, _ layout: EntityLayout, _ key: [StoredValue], isWaiting: Bool
    ) -> ConflictSide? {
        // An edit being sent cannot be reverted.
        guard isWaiting else { return nil }
        return switch policy {
        case .manual: nil
        case .remote: .remote
        case .local: .local
        case .newest: remoteIsNewer[layout.index]?[key].map { $0 ? .remote : .local }
        }
    }

    private func policy(of layout: EntityLayout) -> ConflictPolicy { model.model.entities[layout.index].conflicts }

    /// Returns whether the remote's object is newer than the edit; nil if that cannot be determined.
    private func isNewer(_ attribute: String, _ layout: EntityLayout, _ cells: [Cell], _ set: EntrySet) -> Bool? {
        guard let field = layout.fields.firstIndex(where: { $0.name == attribute }), let remote = cells[field].value,
            remote != .null
        else { return nil }
        var local = set.edit(of: attribute)?.local
        if local == nil, layout.fields[field].type == .timestamp { local = .text(set.lastCreated) }
        guard let local else { return nil }
        return Watermark.isNewer(remote, than: local)
    }

    private func save(_ set: EntrySet, _ root: Int, _ key: [StoredValue]) throws {
        let left = try conflicts.all(root: root, key: key)
        givenUp.formUnion(set.givenUp)
        for (old, entry) in zip(set.original, set.entries) {
            var entry = entry
            if entry.operation == .update, entry.changes.isEmpty, entry.links.isEmpty, entry.isAtRest {
                try outbox.remove(old)
                // Code that waits for the edit learns that the remote does not have it.
                if givenUp.contains(old.id) { try writer.noteDropped(old.id) }
                continue
            }
            if !left.isEmpty {
                entry = entry.after(.conflictFound) ?? entry
            } else if entry.failure == nil || entry.changes.allSatisfy({ set.compared.contains($0.name) }) {
                entry = entry.after(.conflictGone) ?? entry
            }
            if entry != old { try outbox.update(entry) }
        }
        if try outbox.entries(root, key).isEmpty { try conflicts.remove(root, key) }
    }

    // MARK: - Deleted objects

    private func mergeDeleted(
        _ layout: EntityLayout, _ key: [StoredValue], _ cells: [Cell], _ role: RowRole, _ entries: [OutboxEntry]
    ) throws -> (cells: [Cell], role: RowRole)? {
        guard var entry = entries.last else { return (cells, role) }
        var differs = false
        var learns = false
        for (index, field) in layout.fields.enumerated() where index != layout.discriminator {
            guard let remote = cells[index].value, !cells[index].isFallback else { continue }
            let known = entries.flatMap { $0.changes.filter { $0.name == field.name } }
            let isKnown = known.contains { change in
                [change.old, change.new].contains { $0?.isSame(as: remote, field.type) == true }
            }
            guard !isKnown else { continue }
            if let place = entry.changes.firstIndex(where: { $0.name == field.name }) {
                let isFirst = [nil, .null].contains(entry.changes[place].old) && isVersion(field, of: layout)
                entry.changes[place].old = remote
                if isFirst { learns = true } else { differs = true }
            }
        }
        let isAnswer = answered[layout.index]?.contains(key) == true
        if differs, !isAnswer, entry.isAtRest {
            if case .newest(let attribute) = policy(of: layout) {
                let set = EntrySet([entry], layout, key)
                remoteIsNewer[layout.index, default: [:]][key] = isNewer(attribute, layout, cells, set)
            }
            switch winner(policy(of: layout), layout, key, isWaiting: true) {
            case nil:
                entry = entry.after(.conflictFound) ?? entry
                try conflicts.note(
                    EditConflict(
                        entity: entry.entity, key: key, column: nil, base: nil, local: nil, remote: nil,
                        seen: Clock.now()), root: layout.index)
            case .local: break
            case .remote:
                try localEditor.drop(entry)
                try localEditor.restore(entry, layout.index)
                return (cells, role)
            }
        }
        if differs || learns { try outbox.update(entry) }
        // Other objects may still refer to it, and find a stub.
        return role == .listed ? nil : (onlyKey(cells, layout), .reference)
    }

    /// Returns whether a column may be a version of the object, such as an ETag that only reading the object returns.
    ///
    /// Learning it for the first time is not a change of the object.
    private func isVersion(_ field: EntityLayout.Field, of layout: EntityLayout) -> Bool {
        guard field.type == .text, field.relationship == nil else { return false }
        let lineage = model.model.lineage(of: model.model.entities[layout.index])
        return lineage.lazy.compactMap { entity in entity.attributes.first { $0.name == field.name } }.first?.write
            .permission == .never
    }

    // MARK: - Objects that the remote deleted

    /// Returns whether a row that the remote no longer has must be kept, because of an edit that is pending or was just
    /// accepted.
    package func keeps(_ root: Int, _ key: [StoredValue]) throws -> Bool {
        // The object existed after the scan that lacks it began.
        if let last = try takenSince(root, key).last, last.operation != .delete { return true }
        let entries = try outbox.entries(root, key)
        guard let first = entries.first, let last = entries.last else { return false }
        if first.operation == .create { return true }
        if last.operation == .delete {
            if last.isAtRest {
                for entry in entries where entry.isAtRest { try outbox.remove(entry) }
                try conflicts.remove(root, key)
            }
            return false
        }
        if entries.allSatisfy(\.isAtRest) {
            switch model.model.entities[root].conflicts {
            case .remote:
                for entry in entries { try localEditor.drop(entry) }
                try conflicts.remove(root, key)
                return false
            case .local:
                try localEditor.becomeCreate(root, key)
                return true
            case .manual, .newest: break
            }
        }
        try conflicts.note(
            EditConflict(
                entity: last.entity, key: key, column: nil, base: nil, local: nil, remote: nil, seen: Clock.now()),
            root: root)
        for entry in entries where entry.state != .conflict {
            if let entry = entry.after(.conflictFound) { try outbox.update(entry) }
        }
        return true
    }

    // MARK: - Links

    /// Returns the merged list for a remote's list of an object with edits; nil if the stored list is kept.
    package func merge(
        _ toMany: EntityLayout.ToMany, of owner: EntityLayout, _ key: [StoredValue], _ remote: [[StoredValue]],
        over stored: [[StoredValue]]
    ) throws -> [[StoredValue]]? {
        if try isOutdated(toMany, owner.index, key, remote) { return nil }
        let entries = try outbox.entries(owner.index, key)
        guard let last = entries.last else { return remote }
        if last.operation == .delete { return nil }
        guard case .links = toMany.storage else { return remote }
        var set = EntrySet(entries, owner, key)
        guard let edit = set.links(of: toMany.name) else { return remote }
        func same(_ left: [[StoredValue]], _ right: [[StoredValue]]) -> Bool {
            toMany.isOrdered ? left == right : Set(left) == Set(right)
        }
        guard toMany.merge == .replace, toMany.window == nil else {
            // For a partial list, targets that were removed locally are not added again.
            guard toMany.window == nil else { return nil }
            let kept = Set(edit.local)
            return remote.filter { key in kept.contains(key) || !edit.known.contains { $0.contains(key) } }
        }
        let columns = [toMany.name]
        set.compared.insert(toMany.name)
        var result: [[StoredValue]]?
        if same(remote, edit.local) {
            set.dropLinks(toMany.name)
            try conflicts.remove(owner.index, key, columns: columns)
        } else if answered[owner.index]?.contains(key) == true {
            set.rebaseLinks(toMany.name, on: remote)
        } else if edit.known.contains(where: { same($0, remote) }) {
            try conflicts.remove(owner.index, key, columns: columns)
        } else {
            func text(_ keys: [[StoredValue]]) -> StoredValue { .text(JSONText.keys(keys).string) }
            switch winner(policy(of: owner), owner, key, isWaiting: edit.isWaiting) {
            case nil:
                try conflicts.note(
                    EditConflict(
                        entity: set.entity, key: key, column: toMany.name, base: edit.known.first.map(text),
                        local: text(edit.local), remote: text(remote), seen: Clock.now()), root: owner.index)
            case .remote:
                set.giveUpLinks(toMany.name)
                try conflicts.remove(owner.index, key, columns: columns)
                result = remote
            case .local:
                set.rebaseLinks(toMany.name, on: remote)
                try conflicts.remove(owner.index, key, columns: columns)
                if case .links(let old, let new) = LinkSpan.difference(remote, stored) {
                    try writer.record(
                        owner.index, key: key, .relinked, old: .links(relationship: toMany.name, old),
                        new: .links(relationship: toMany.name, new))
                }
            }
        }
        try save(set, owner.index, key)
        return result
    }

    /// Returns whether a pending edit set a link stored in another object, so that this end must not change it.
    package func isPending(_ root: Int, _ key: [StoredValue], _ fits: (OutboxEntry) -> Bool) throws -> Bool {
        let entries = try outbox.entries(root, key) + takenSince(root, key)
        return entries.contains { $0.operation == .delete || fits($0) }
    }
}
