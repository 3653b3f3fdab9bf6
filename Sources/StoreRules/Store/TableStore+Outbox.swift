package import Mapping
internal import RecordBatch
package import StoreContract

/// The outbox.
extension TableStore {
    /// Returns the edits in the outbox, in order of creation.
    package func outbox(entity: String?, state: OutboxEntry.State?) throws -> [OutboxEntry] {
        try read { try $0.entries() }.filter { entry in
            (entity == nil || entry.entity == entity) && (state == nil || entry.state == state)
        }
    }

    /// Returns the edits of one object in the outbox, in order of creation.
    package func outbox(entity: String, key: [StoredValue]) throws -> [OutboxEntry] {
        guard let index = model.index(of: entity) else { return [] }
        return try read { try $0.entries(model.entities[index].root, key) }
    }

    /// Returns one edit in the outbox; nil if there is none with this ID.
    package func outboxEntry(_ id: Int64) throws -> OutboxEntry? { try read { try $0.entry(id) } }

    /// Returns the columns and to-many relationships of an object that have unconfirmed edits.
    package func pendingFields(entity: String, key: [StoredValue]) throws -> [String] {
        guard let index = model.index(of: entity) else { return [] }
        let entries = try read { try $0.entries(model.entities[index].root, key) }
        return model.entities[index].pendingFields(entries)
    }

    /// Returns the first entry that may be sent at `instant`.
    package func nextToSend(
        at instant: String, entities: Set<String>?, excluding: Set<Int64>, among entries: Set<Int64>?
    ) throws -> OutboxEntry? {
        try read { tables in
            try tables.nextToSend(at: instant, of: entities, among: entries) { entry in
                entities?.contains(entry.entity) != false && !excluding.contains(entry.id)
                    && entries?.contains(entry.id) != false
            }
        }
    }

    /// Returns the entries that an entry waits for.
    package func blockers(of entry: OutboxEntry) throws -> [OutboxEntry] {
        try read { try $0.blockers(of: entry, in: model) }
    }

    /// Records that an entry is about to be sent.
    @discardableResult
    package func markSending(_ id: Int64) throws -> OutboxEntry? {
        try write { try EditTables($0).markSending(id) }
    }

    /// Records the outcome of an entry that was not acknowledged.
    package func settle(_ id: Int64, _ outcome: EditOutcome) throws {
        try write { try EditTables($0).settle(id, outcome) }
    }

    /// Marks entries that a dead process was sending as `unknown`, and returns them.
    package func recoverSending() throws -> [OutboxEntry] {
        let sending = try outbox(entity: nil, state: .sending)
        guard !sending.isEmpty else { return [] }
        return try write { try EditTables($0).recoverSending(sending) }
    }

    /// Returns whether an edit that left the outbox was undone, or given up by an import, before it was pushed.
    package func wasDropped(_ id: Int64) throws -> Bool {
        try read { try $0.runs(nil, limit: nil) }.contains { run in
            guard let summary = run.summary, let batch = try? JSONParser.batch(summary) else { return false }
            return withExtendedLifetime(batch) {
                let isEdit = ["edit", "drop", "resolve", "undo"].contains(run.kind)
                let dropped = (isEdit ? batch[0]["dropped"]?.elements : nil) ?? []
                return (dropped + (batch[0]["given_up"]?.elements ?? [])).contains { $0.integer == id }
            }
        }
    }

    /// Returns whether the database had a row with a key at a time (ISO 8601), as far as the history shows.
    package func hasObject(_ root: EntityLayout, key: [StoredValue], before instant: String) throws -> Bool {
        try read { tables in
            guard try tables.row(root.index, key) != nil else { return false }
            let insertions = try tables.changes(of: root.name, key: JSONText.key(key).string)
                .filter { $0.key != nil && $0.change == .inserted }
            // A row inserted by a later run may be the one that was created.
            return try !tables.runs(insertions.map(\.run), limit: nil).contains { $0.started >= instant }
        }
    }
}

extension EntityLayout {
    /// Returns the columns and to-many relationships that entries change, in the order of the layout.
    package func pendingFields(_ entries: [OutboxEntry]) -> [String] {
        let names = Set(entries.flatMap { $0.changes.map(\.name) + $0.links.map(\.relationship) })
        return (fields.map(\.name) + toMany.map(\.name)).filter(names.contains)
    }
}
