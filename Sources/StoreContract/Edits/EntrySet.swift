package import Mapping

/// The edits of one object that wait, as the merge of an import sees and changes them.
package struct EntrySet {
    /// The combined edit of a column.
    package struct Edit {
        /// The values before the first edit and after each but the last, which the remote may have.
        package var known: [StoredValue]
        /// The value after the last edit.
        package var local: StoredValue
        /// Whether none of the edits is being sent.
        package var isWaiting: Bool
    }

    /// The combined edit of a list.
    package struct LinkEdit {
        package var known: [[[StoredValue]]]
        package var local: [[StoredValue]]
        package var isWaiting: Bool
    }

    package let original: [OutboxEntry]
    package private(set) var entries: [OutboxEntry]
    package let entity: String
    private let keyNames: Set<String>
    /// The columns and relationships that the import contained.
    package var compared: Set<String> = []
    /// The entries that lost an edit in favour of the remote's value.
    package private(set) var givenUp: Set<Int64> = []

    package init(_ entries: [OutboxEntry], _ layout: EntityLayout, _ key: [StoredValue]) {
        original = entries
        self.entries = entries
        entity = entries.last?.entity ?? layout.name
        keyNames = Set(layout.key.map { layout.fields[$0].name })
    }

    /// The time of the last edit.
    package var lastCreated: String { entries.last?.created ?? "" }

    package func edit(of column: String) -> Edit? {
        let changes = entries.flatMap { entry in
            entry.changes.filter { $0.name == column }.map { (entry: entry, change: $0) }
        }
        guard let local = changes.last?.change.new else { return nil }
        var known = changes.first?.change.old.map { [$0] } ?? []
        for (_, change) in changes.dropLast() { if let new = change.new { known.append(new) } }
        for (_, change) in changes.dropFirst() { if let old = change.old { known.append(old) } }
        return Edit(known: known, local: local, isWaiting: changes.allSatisfy { $0.entry.takesEdits })
    }

    package func links(of relationship: String) -> LinkEdit? {
        let edits = entries.flatMap { entry in
            entry.links.filter { $0.relationship == relationship }.map { (entry: entry, edit: $0) }
        }
        guard let last = edits.last?.edit else { return nil }
        let known = edits.map(\.edit.old) + edits.dropLast().map(\.edit.new)
        return LinkEdit(known: known, local: last.new, isWaiting: edits.allSatisfy { $0.entry.takesEdits })
    }

    /// Turns a pending create into an update with unknown base values, as the object exists.
    ///
    /// - Returns: Whether there was such a create.
    package mutating func becomeUpdate() -> Bool {
        guard let first = entries.first, first.operation == .create, first.takesEdits else { return false }
        entries[0].operation = .update
        // The key of the existing object is its own, also if the remote had deleted it meanwhile.
        for index in entries.indices { entries[index].hasTemporaryKey = false }
        entries[0].changes.removeAll { keyNames.contains($0.name) }
        for index in entries[0].changes.indices { entries[0].changes[index].old = .null }
        return true
    }

    /// Gives up the edit of a column in favour of the remote's value.
    package mutating func giveUp(_ column: String) {
        noteGivenUp { $0.changes.contains { $0.name == column } }
        drop(column)
    }

    package mutating func giveUpLinks(_ relationship: String) {
        noteGivenUp { $0.links.contains { $0.relationship == relationship } }
        dropLinks(relationship)
    }

    private mutating func noteGivenUp(_ has: (OutboxEntry) -> Bool) {
        for entry in entries where entry.takesEdits && entry.operation == .update && has(entry) {
            givenUp.insert(entry.id)
        }
    }

    /// Drops the edit of a column, because the remote has it or it was given up.
    package mutating func drop(_ column: String) {
        for index in entries.indices where entries[index].takesEdits && entries[index].operation == .update {
            entries[index].changes.removeAll { $0.name == column }
        }
    }

    package mutating func dropLinks(_ relationship: String) {
        for index in entries.indices where entries[index].takesEdits && entries[index].operation == .update {
            entries[index].links.removeAll { $0.relationship == relationship }
        }
    }

    /// Sets a new base value for the first pending edit of a column.
    package mutating func rebase(_ column: String, on value: StoredValue) {
        for index in entries.indices where entries[index].takesEdits && entries[index].operation == .update {
            guard let place = entries[index].changes.firstIndex(where: { $0.name == column }) else { continue }
            entries[index].changes[place].old = value
            return
        }
    }

    /// Sets the local value of a column, in its last pending edit.
    package mutating func setLocal(_ column: String, to value: StoredValue) {
        for index in entries.indices.reversed() where entries[index].takesEdits && entries[index].operation == .update {
            guard let place = entries[index].changes.lastIndex(where: { $0.name == column }) else { continue }
            entries[index].changes[place].new = value
            return
        }
    }

    package mutating func rebaseLinks(_ relationship: String, on keys: [[StoredValue]]) {
        for index in entries.indices where entries[index].takesEdits && entries[index].operation == .update {
            guard let place = entries[index].links.firstIndex(where: { $0.relationship == relationship }) else {
                continue
            }
            entries[index].links[place].old = keys
            return
        }
    }

    /// What becomes of an entry after the merge.
    package enum Fate: Equatable {
        /// Nothing is left to push. `isLost` says that the remote does not have what the edit had set.
        case removed(OutboxEntry, isLost: Bool)
        case changed(OutboxEntry)
    }

    /// Returns what becomes of the entries that differ from the original ones.
    ///
    /// - Parameters:
    ///   - hasConflicts: Whether the object has undecided conflicts.
    ///   - lost: The entries that lost an edit in favour of the remote's value, in this merge or an earlier one of the
    ///     page.
    package func fates(hasConflicts: Bool, lost: Set<Int64>) -> [Fate] {
        zip(original, entries).compactMap { old, new in
            if new.operation == .update, new.changes.isEmpty, new.links.isEmpty, new.isAtRest {
                return .removed(old, isLost: lost.contains(old.id))
            }
            var entry = new
            if hasConflicts {
                entry = entry.after(.conflictFound) ?? entry
            } else if entry.failure == nil || entry.changes.allSatisfy({ compared.contains($0.name) }) {
                entry = entry.after(.conflictGone) ?? entry
            }
            return entry == old ? nil : .changed(entry)
        }
    }
}
