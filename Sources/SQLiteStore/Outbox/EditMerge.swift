internal import Importer
internal import Mapping
internal import Model

/// Merges what an import brings into objects that have edits which wait.
///
/// Column by column, of three values: what the edit was based on, what it made of it, and what the remote has now. Where
/// the remote still has the base the edit stays; where it has the edit's own value there is nothing left to send; where
/// it has a third one both sides changed it, and the entity's policy decides. Edits that are on their way are left alone.
final class EditMerge {
    let model: CompiledModel
    unowned let writers: Writers
    /// Objects of which the open page has the remote's answer to an edit: what it says is what later edits build upon.
    private var answered: [Int: Set<[StoredValue]>] = [:]
    /// Of objects on the open page: whether the remote's side is the newer one.
    private var remoteIsNewer: [Int: [[StoredValue]: Bool]] = [:]
    /// The number of the newest edit that the remote had taken when the walk of the open page began; nil for a page that
    /// shows what is now.
    var walkBegan: Int64?
    /// Objects of which the open page has records from before an edit.
    var outdated: [Int: Set<[StoredValue]>] = [:]
    /// The edits of which the open page gave something up for what the remote has.
    private var givenUp: Set<Int64> = []

    init(_ model: CompiledModel, _ writers: Writers) {
        self.model = model
        self.writers = writers
    }

    var outbox: OutboxTable { writers.outbox }

    /// Whether an import has edits of an entity's objects to look at; the one who asks for each row keeps it at hand.
    func counts(of root: Int) -> EditCounts {
        EditCounts(waiting: outbox.count(of: root), taken: acknowledged.count(of: root))
    }

    /// Forgets what was noted of the page before.
    func beginPage() {
        answered = [:]
        remoteIsNewer = [:]
        walkBegan = nil
        outdated = [:]
        givenUp = []
    }

    /// The open page brings the remote's answer to an edit of this object.
    func noteAnswer(_ root: Int, _ key: [StoredValue]) { answered[root, default: []].insert(key) }

    /// What is to be written of an object, and as what; nil when nothing is.
    func merge(
        _ layout: EntityLayout, _ cells: UnsafeBufferPointer<Cell>, as role: RowRole
    ) throws -> (cells: [Cell], role: RowRole)? {
        let all = Array(cells)
        guard role != .reference else { return (all, role) }
        let key = layout.key.map { cells[$0].value ?? .null }
        switch try age(of: all, layout, key) {
        case .current: break
        case .outdated: return (onlyKey(all, layout), role)
        // Others may refer to it all the same: they find a stub.
        case .deleted: return role == .listed ? nil : (onlyKey(all, layout), .reference)
        }
        guard outbox.count(of: layout.index).value > 0 else { return (all, role) }
        let entries = try outbox.entries(layout.index, key)
        guard let first = entries.first, let last = entries.last else { return (all, role) }
        if first.operation == .create, first.hasTemporaryKey {
            try evade(layout, key)
            return (all, role)
        }
        if last.operation == .delete { return try mergeDeleted(layout, key, all, role, entries) }
        return (try mergeEdited(layout, key, all, entries), role)
    }

    /// The remote has an object of the very key that was made up here for another: that one gets a new key.
    private func evade(_ layout: EntityLayout, _ key: [StoredValue]) throws {
        let made = TemporaryKey(statements: outbox.statements, outbox: outbox)
        let entry = try outbox.entries(layout.index, key).first
        let given = Set(entry?.changes.map(\.name) ?? [])
        let new = try zip(layout.key, key).map { field, value in
            given.contains(layout.fields[field].name) ? value : try made.make(layout, field).value
        }
        _ = try writers.keyRename.rename(layout.index, key, to: new, isTemporary: true)
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
        // It is there again, or was never gone; and what exists is not created.
        try writers.conflicts.remove(layout.index, key, columns: [""])
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
                try writers.conflicts.remove(layout.index, key, columns: [field.name])
            } else if isAnswer {
                set.rebase(field.name, on: remote)
            } else if edit.known.contains(where: { $0.isSame(as: remote, field.type) }), !wasCreate {
                try writers.conflicts.remove(layout.index, key, columns: [field.name])
            } else {
                let base = wasCreate ? nil : edit.known.first
                switch winner(policy, layout, key, isWaiting: edit.isWaiting) {
                case nil:
                    try writers.conflicts.note(
                        EditConflict(
                            entity: set.entity, key: key, column: field.name, base: base, local: edit.local,
                            remote: remote, seen: Clock.now()), root: layout.index)
                case .remote:
                    set.giveUp(field.name)
                    try writers.conflicts.remove(layout.index, key, columns: [field.name])
                    cells[index] = cell
                case .local:
                    set.rebase(field.name, on: remote)
                    try writers.conflicts.remove(layout.index, key, columns: [field.name])
                    try writers.changes.record(
                        layout, key: .key(key), .updated, old: .object([(name: field.name, value: remote)]),
                        new: .object([(name: field.name, value: edit.local)]))
                }
            }
        }
        try save(set, layout.index, key)
        return cells
    }

    /// Whose value counts; nil where nobody has decided yet.
    private func winner(
        _ policy: ConflictPolicy, _ layout: EntityLayout, _ key: [StoredValue], isWaiting: Bool
    ) -> SQLiteStore.Side? {
        // What is on its way cannot be taken back.
        guard isWaiting else { return nil }
        return switch policy {
        case .manual: nil
        case .remote: .remote
        case .local: .local
        case .newest: remoteIsNewer[layout.index]?[key].map { $0 ? .remote : .local }
        }
    }

    private func policy(of layout: EntityLayout) -> ConflictPolicy { model.model.entities[layout.index].conflicts }

    /// Whether the remote's object is newer than the edit; nil where that cannot be told.
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
        let conflicts = try writers.conflicts.all(root: root, key: key)
        givenUp.formUnion(set.givenUp)
        for (old, entry) in zip(set.original, set.entries) {
            var entry = entry
            if entry.operation == .update, entry.changes.isEmpty, entry.links.isEmpty, entry.isAtRest {
                try outbox.remove(old, root: root)
                // Who waits for the edit is told that the remote does not have it.
                if givenUp.contains(old.id) { try writers.changes.noteDropped(old.id) }
                continue
            }
            if entry.isAtRest, !conflicts.isEmpty {
                entry.state = .conflict
            } else if entry.state == .conflict, conflicts.isEmpty,
                entry.failure == nil || entry.changes.allSatisfy({ set.compared.contains($0.name) })
            {
                // The remote changed other columns only.
                entry.state = .pending
                entry.notBefore = nil
            }
            if entry != old { try outbox.update(entry) }
        }
        if try outbox.entries(root, key).isEmpty { try writers.conflicts.remove(root, key) }
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
                entry.state = .conflict
                try writers.conflicts.note(
                    EditConflict(
                        entity: entry.entity, key: key, column: nil, base: nil, local: nil, remote: nil,
                        seen: Clock.now()), root: layout.index)
            case .local: break
            case .remote:
                try writers.localEditor.drop(entry, root: layout.index)
                try writers.localEditor.restore(entry, layout.index)
                return (cells, role)
            }
        }
        if differs || learns { try outbox.update(entry) }
        // Others may refer to it all the same: they find a stub.
        return role == .listed ? nil : (onlyKey(cells, layout), .reference)
    }

    /// Whether a column may be a version of the object, such as an ETag that only reading the object brings.
    ///
    /// To learn it for the first time is no change of the object.
    private func isVersion(_ field: EntityLayout.Field, of layout: EntityLayout) -> Bool {
        guard field.type == .text, field.relationship == nil else { return false }
        let lineage = model.model.lineage(of: model.model.entities[layout.index])
        return lineage.lazy.compactMap { entity in entity.attributes.first { $0.name == field.name } }.first?.write
            .permission == .never
    }

    // MARK: - Objects that the remote deleted

    /// Whether a row that the remote no longer has is to stay, because of an edit that waits or was just taken.
    func keeps(_ root: Int, _ key: [StoredValue]) throws -> Bool {
        // It was there after the walk began that lacks it.
        if let last = try takenSince(root, key).last, last.operation != .delete { return true }
        let entries = try outbox.entries(root, key)
        guard let first = entries.first, let last = entries.last else { return false }
        if first.operation == .create { return true }
        if last.operation == .delete {
            if last.isAtRest {
                for entry in entries where entry.isAtRest { try outbox.remove(entry, root: root) }
                try writers.conflicts.remove(root, key)
            }
            return false
        }
        if entries.allSatisfy(\.isAtRest) {
            switch model.model.entities[root].conflicts {
            case .remote:
                for entry in entries { try writers.localEditor.drop(entry, root: root) }
                try writers.conflicts.remove(root, key)
                return false
            case .local:
                try writers.localEditor.becomeCreate(root, key)
                return true
            case .manual, .newest: break
            }
        }
        try writers.conflicts.note(
            EditConflict(
                entity: last.entity, key: key, column: nil, base: nil, local: nil, remote: nil, seen: Clock.now()),
            root: root)
        for var entry in entries where entry.isAtRest && entry.state != .conflict {
            entry.state = .conflict
            try outbox.update(entry)
        }
        return true
    }

    // MARK: - Links

    /// The list that a remote's list becomes for an object with edits; nil when what is stored stays.
    func merge(
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
            // A part of the list: what was taken out here does not come back by it.
            guard toMany.window == nil else { return nil }
            let kept = Set(edit.local)
            return remote.filter { key in kept.contains(key) || !edit.known.contains { $0.contains(key) } }
        }
        let columns = [toMany.name]
        set.compared.insert(toMany.name)
        var result: [[StoredValue]]?
        if same(remote, edit.local) {
            set.dropLinks(toMany.name)
            try writers.conflicts.remove(owner.index, key, columns: columns)
        } else if answered[owner.index]?.contains(key) == true {
            set.rebaseLinks(toMany.name, on: remote)
        } else if edit.known.contains(where: { same($0, remote) }) {
            try writers.conflicts.remove(owner.index, key, columns: columns)
        } else {
            func text(_ keys: [[StoredValue]]) -> StoredValue { .text(JSONText.keys(keys).string) }
            switch winner(policy(of: owner), owner, key, isWaiting: edit.isWaiting) {
            case nil:
                try writers.conflicts.note(
                    EditConflict(
                        entity: set.entity, key: key, column: toMany.name, base: edit.known.first.map(text),
                        local: text(edit.local), remote: text(remote), seen: Clock.now()), root: owner.index)
            case .remote:
                set.giveUpLinks(toMany.name)
                try writers.conflicts.remove(owner.index, key, columns: columns)
                result = remote
            case .local:
                set.rebaseLinks(toMany.name, on: remote)
                try writers.conflicts.remove(owner.index, key, columns: columns)
                if case .links(let old, let new) = LinkSpan.difference(remote, stored) {
                    try writers.changes.record(
                        owner, key: .key(key), .relinked, old: old.json(toMany.name), new: new.json(toMany.name))
                }
            }
        }
        try save(set, owner.index, key)
        return result
    }

    /// Whether a link that lies in another object is as an edit of that made it: the other end does not change it.
    func isPending(_ root: Int, _ key: [StoredValue], _ fits: (OutboxEntry) -> Bool) throws -> Bool {
        let entries = try outbox.entries(root, key) + takenSince(root, key)
        return entries.contains { $0.operation == .delete || fits($0) }
    }
}
