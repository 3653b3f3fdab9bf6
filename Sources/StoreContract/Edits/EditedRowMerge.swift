package import Mapping
package import Model

/// The merge of a remote record into an object with pending edits.
///
/// It compares three values of each edited column: the base, the local and the remote value. If the remote value is
/// still the base, the edit is kept. If it equals the local value, there is nothing left to push. If it is a third
/// value, both sides changed the column, and the entity's conflict policy decides. Edits being sent are left alone.
///
/// ```swift
/// let merge = EditedRowMerge(
///     entries, layout, key: key, cells: cells, policy: .manual, answers: nil, now: Clock.now())
/// for action in merge.actions { ... }
/// write(merge.cells)
/// ```
package struct EditedRowMerge {
    /// What a store records besides the row and the entries.
    package enum Action: Equatable {
        /// The conflicts of these columns are settled; an empty name stands for a conflict of the whole object.
        case removeConflicts([String])
        /// Both sides changed a column, and a person decides.
        case noteConflict(EditConflict)
        /// The local value wins; the history shows the remote value that it replaces.
        case keepLocal(column: String, remote: StoredValue, local: StoredValue)
    }

    /// The edits after the merge.
    package private(set) var set: EntrySet
    /// The cells to write: an edited column is absent unless the remote's value wins.
    package private(set) var cells: [Cell]
    /// What to record, in the order of the columns.
    package private(set) var actions: [Action] = []
    /// Whether the remote's object is newer than the edits; nil if that cannot be determined, or does not matter.
    package let remoteIsNewer: Bool?

    /// Merges a record.
    ///
    /// - Parameters:
    ///   - entries: The object's entries, in order; at least one.
    ///   - layout: The layout of the object's table.
    ///   - key: The object's key.
    ///   - cells: The record's cells, one per field of the layout.
    ///   - policy: The entity's conflict policy.
    ///   - memory: The memory of values that code merges; it has to last as long as ``cells``.
    ///   - answer: What the page answers, if it has the remote's reply to an edit of the object.
    ///   - now: The time of conflicts, as ISO 8601.
    package init(
        _ entries: [OutboxEntry], _ layout: EntityLayout, key: [StoredValue], cells: [Cell], policy: ConflictPolicy,
        memory: CellMemory, answers answer: AnsweredEdit?, now: String
    ) {
        set = EntrySet(entries, layout, key)
        self.cells = cells
        remoteIsNewer = policy.remoteIsNewer(layout, cells, set)
        // The object is not deleted on the remote, and an existing object is not created.
        actions.append(.removeConflicts([""]))
        let wasCreate = set.becomeUpdate()
        for (index, field) in layout.fields.enumerated() where !layout.key.contains(index) {
            let cell = cells[index]
            guard let remote = cell.value, let edit = set.edit(of: field.name) else { continue }
            self.cells[index] = .absent
            guard !cell.isFallback else { continue }
            set.compared.insert(field.name)
            if remote.isSame(as: edit.local, field.type) {
                set.drop(field.name)
                actions.append(.removeConflicts([field.name]))
            } else if answer?.includes(field.name) == true {
                set.rebase(field.name, on: remote)
            } else if edit.known.contains(where: { $0.isSame(as: remote, field.type) }), !wasCreate {
                actions.append(.removeConflicts([field.name]))
            } else if edit.isWaiting, let merge = field.merge,
                let merged = merge.merged(base: wasCreate ? nil : edit.known.first, remote: remote, local: edit.local)
            {
                actions.append(.removeConflicts([field.name]))
                guard !merged.isSame(as: remote, field.type) else {
                    set.giveUp(field.name)
                    self.cells[index] = cell
                    continue
                }
                set.rebase(field.name, on: remote)
                if merged.isSame(as: edit.local, field.type) {
                    actions.append(.keepLocal(column: field.name, remote: remote, local: edit.local))
                } else {
                    set.setLocal(field.name, to: merged)
                    self.cells[index] = memory.cell(merged)
                }
            } else {
                let policy = field.merge == nil ? policy : .manual
                switch policy.winner(isWaiting: edit.isWaiting, remoteIsNewer: remoteIsNewer) {
                case nil:
                    let base = wasCreate ? nil : edit.known.first
                    actions.append(
                        .noteConflict(
                            EditConflict(
                                entity: set.entity, key: key, column: field.name, base: base, local: edit.local,
                                remote: remote, seen: now)))
                case .remote:
                    set.giveUp(field.name)
                    actions.append(.removeConflicts([field.name]))
                    self.cells[index] = cell
                case .local:
                    set.rebase(field.name, on: remote)
                    actions.append(.removeConflicts([field.name]))
                    actions.append(.keepLocal(column: field.name, remote: remote, local: edit.local))
                }
            }
        }
    }
}

extension ConflictPolicy {
    /// Returns the side whose value wins; nil if the conflict must be resolved manually.
    ///
    /// - Parameters:
    ///   - isWaiting: Whether the edit is not being sent; otherwise it cannot be reverted.
    ///   - remoteIsNewer: Whether the remote's object is newer than the edit, if known.
    package func winner(isWaiting: Bool, remoteIsNewer: Bool?) -> ConflictSide? {
        guard isWaiting else { return nil }
        return switch self {
        case .manual: nil
        case .remote: .remote
        case .local: .local
        case .newest: remoteIsNewer.map { $0 ? .remote : .local }
        }
    }

    /// Returns whether a record is newer than the edits of its object.
    ///
    /// Returns nil if that cannot be determined, or if the policy does not ask.
    package func remoteIsNewer(_ layout: EntityLayout, _ cells: [Cell], _ set: EntrySet) -> Bool? {
        guard case .newest(let attribute) = self,
            let field = layout.fields.firstIndex(where: { $0.name == attribute }), let remote = cells[field].value,
            remote != .null
        else { return nil }
        var local = set.edit(of: attribute)?.local
        if local == nil, layout.fields[field].type == .timestamp { local = .text(set.lastCreated) }
        return local.map { Watermark.isNewer(remote, than: $0) }
    }
}
