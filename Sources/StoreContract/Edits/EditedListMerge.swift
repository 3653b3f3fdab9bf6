package import Mapping
package import Model

/// The merge of a remote's list into the list of an object with pending edits.
///
/// It compares lists as ``EditedRowMerge`` compares values.
package struct EditedListMerge {
    /// What a store records besides the list and the entries.
    package enum Action: Equatable {
        /// The conflict of the relationship is settled.
        case removeConflict
        /// Both sides changed the list, and a person decides.
        case noteConflict(EditConflict)
        /// The local list wins; the history shows the remote list that it replaces.
        case keepLocal
    }

    /// The edits after the merge; nil if the merge does not concern them.
    package private(set) var set: EntrySet?
    /// The list to write; nil if the stored list is kept.
    package private(set) var list: [[StoredValue]]?
    /// What to record.
    package private(set) var actions: [Action] = []

    /// Merges a list.
    ///
    /// - Parameters:
    ///   - remote: The remote's list, without duplicates.
    ///   - toMany: The relationship.
    ///   - entries: The owner's entries, in order.
    ///   - owner: The layout of the owner's table.
    ///   - key: The owner's key.
    ///   - policy: The owner's conflict policy.
    ///   - isAnswer: Whether the page has the remote's reply to an earlier edit of the list.
    ///   - remoteIsNewer: Whether the record is newer than the edits; see ``EditedRowMerge/remoteIsNewer``.
    ///   - now: The time of a conflict, as ISO 8601.
    package init(
        _ remote: [[StoredValue]], _ toMany: EntityLayout.ToMany, _ entries: [OutboxEntry], of owner: EntityLayout,
        key: [StoredValue], policy: ConflictPolicy, isAnswer: Bool, remoteIsNewer: Bool?, now: String
    ) {
        list = remote
        guard let last = entries.last else { return }
        guard last.operation != .delete else {
            list = nil
            return
        }
        var set = EntrySet(entries, owner, key)
        guard case .links = toMany.storage, let edit = set.links(of: toMany.name) else { return }
        guard toMany.merge == .replace, toMany.window == nil else {
            // For a partial list, targets that were removed locally are not added again.
            let kept = Set(edit.local)
            list =
                toMany.window != nil
                ? nil : remote.filter { key in kept.contains(key) || !edit.known.contains { $0.contains(key) } }
            return
        }
        list = nil
        set.compared.insert(toMany.name)
        if toMany.isSame(remote, edit.local) {
            set.dropLinks(toMany.name)
            actions = [.removeConflict]
        } else if isAnswer {
            set.rebaseLinks(toMany.name, on: remote)
        } else if edit.known.contains(where: { toMany.isSame($0, remote) }) {
            actions = [.removeConflict]
        } else {
            func text(_ keys: [[StoredValue]]) -> StoredValue { .text(JSONText.keys(keys).string) }
            switch policy.winner(isWaiting: edit.isWaiting, remoteIsNewer: remoteIsNewer) {
            case nil:
                actions = [
                    .noteConflict(
                        EditConflict(
                            entity: set.entity, key: key, column: toMany.name, base: edit.known.first.map(text),
                            local: text(edit.local), remote: text(remote), seen: now))
                ]
            case .remote:
                set.giveUpLinks(toMany.name)
                actions = [.removeConflict]
                list = remote
            case .local:
                set.rebaseLinks(toMany.name, on: remote)
                actions = [.removeConflict, .keepLocal]
            }
        }
        self.set = set
    }
}

extension EntityLayout.ToMany {
    /// Returns whether two lists have the same objects, and in the same order where that matters.
    package func isSame(_ left: [[StoredValue]], _ right: [[StoredValue]]) -> Bool {
        isOrdered ? left == right : Set(left) == Set(right)
    }
}
