public import Mapping
internal import RecordBatch
public import StoreContract
internal import StoreRules

/// The outbox.
extension MemoryStore {
    /// Returns the edits in the outbox, in order of creation.
    public func outbox(entity: String?, state: OutboxEntry.State?) throws -> [OutboxEntry] {
        try read().entries().filter { entry in
            (entity == nil || entry.entity == entity) && (state == nil || entry.state == state)
        }
    }

    /// Returns the edits of one object in the outbox, in order of creation.
    public func outbox(entity: String, key: [StoredValue]) throws -> [OutboxEntry] {
        guard let index = model.index(of: entity) else { return [] }
        return try read().entries(model.entities[index].root, key)
    }

    /// Returns one edit in the outbox; nil if there is none with this ID.
    public func outboxEntry(_ id: Int64) throws -> OutboxEntry? { try read().entry(id) }

    /// Returns the columns and to-many relationships of an object that have unconfirmed edits.
    public func pendingFields(entity: String, key: [StoredValue]) throws -> [String] {
        guard let index = model.index(of: entity) else { return [] }
        let entries = try read().entries(model.entities[index].root, key)
        let names = Set(entries.flatMap { $0.changes.map(\.name) + $0.links.map(\.relationship) })
        let layout = model.entities[index]
        return (layout.fields.map(\.name) + layout.toMany.map(\.name)).filter(names.contains)
    }

    /// Returns the first entry that may be sent at `instant`.
    public func nextToSend(
        at instant: String, entities: Set<String>?, excluding: Set<Int64>, among entries: Set<Int64>?
    ) throws -> OutboxEntry? {
        OutboxEntry.next(among: try read().entries(), at: instant, in: model) { entry in
            entities?.contains(entry.entity) != false && !excluding.contains(entry.id)
                && entries?.contains(entry.id) != false
        }
    }

    /// Returns the entries that an entry waits for.
    public func blockers(of entry: OutboxEntry) throws -> [OutboxEntry] {
        try read().blockers(of: entry, in: model)
    }

    /// Records that an entry is about to be sent.
    @discardableResult
    public func markSending(_ id: Int64) throws -> OutboxEntry? {
        try write { writer in
            guard let entry = try writer.tables.entry(id)?.after(.sent(at: Clock.now())) else { return nil }
            try writer.tables.update(entry, run: nil)
            return entry
        }
    }

    /// Records the outcome of an entry that was not acknowledged.
    public func settle(_ id: Int64, _ outcome: EditOutcome) throws {
        try write { writer in
            guard let entry = try writer.tables.entry(id) else { return }
            let settled = try entry.after(
                .settled(outcome), hasConflicts: try writer.tables.firstConflict(of: entry, in: model) != nil)
            if let settled { try writer.tables.update(settled, run: nil) }
        }
    }

    /// Marks entries that a dead process was sending as `unknown`, and returns them.
    public func recoverSending() throws -> [OutboxEntry] {
        let sending = try outbox(state: .sending)
        guard !sending.isEmpty else { return [] }
        return try write { writer in
            let entries = try sending.compactMap { try writer.tables.entry($0.id)?.after(.senderEnded) }
            for entry in entries { try writer.tables.update(entry, run: nil) }
            return entries
        }
    }

    /// Returns whether an edit that left the outbox was undone, or given up by an import, before it was pushed.
    public func wasDropped(_ id: Int64) throws -> Bool {
        try snapshot().runs.contains { run in
            guard let summary = run.summary, let batch = try? JSONParser.batch(summary) else { return false }
            return withExtendedLifetime(batch) {
                let isEdit = ["edit", "drop", "resolve", "undo"].contains(run.kind)
                let dropped = (isEdit ? batch[0]["dropped"]?.elements : nil) ?? []
                return (dropped + (batch[0]["given_up"]?.elements ?? [])).contains { $0.integer == id }
            }
        }
    }

    /// Returns whether the database had a row with a key at a time (ISO 8601), as far as the history shows.
    public func hasObject(_ root: EntityLayout, key: [StoredValue], before instant: String) throws -> Bool {
        let tables = try read()
        guard tables.row(root.index, key) != nil else { return false }
        let text = JSONText.key(key).string
        // A row inserted by a later run may be the one that was created.
        let later = Set(tables.state.runs.filter { $0.started >= instant }.map(\.id))
        return !tables.state.changes.contains {
            $0.entity == root.name && $0.hasKey(text) && $0.change == .inserted && later.contains($0.run)
        }
    }
}
