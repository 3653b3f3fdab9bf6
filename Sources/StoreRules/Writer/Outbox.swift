internal import Mapping
package import StoreContract

/// The edits that wait to be sent, in an open transaction.
package struct Outbox {
    let tables: any StoreTables

    package init(_ tables: any StoreTables) { self.tables = tables }

    /// Returns the entries of an object, in order of creation.
    package func entries(_ root: Int, _ key: RowKey) throws -> [OutboxEntry] { try tables.entries(root, key) }

    /// Returns an entry; nil if there is none with this ID.
    package func entry(_ id: Int64) throws -> OutboxEntry? { try tables.entry(id) }

    /// Returns the ID of the newest entry; 0 if there is none.
    package func newest() throws -> Int64 { try tables.entries().last?.id ?? 0 }

    package func hasEdits(_ root: Int, _ key: RowKey) throws -> Bool { try !tables.entries(root, key).isEmpty }

    /// Returns the ID of the pending create of an object, if there is one.
    package func waitingCreate(_ root: Int, _ key: RowKey) throws -> Int64? {
        try tables.entries(root, key).first { $0.operation == .create }?.id
    }

    /// Returns the entries that wait for an entry.
    func dependants(of id: Int64) throws -> [OutboxEntry] { try tables.entries().filter { $0.dependsOn.contains(id) } }

    /// Adds an entry and returns its ID.
    func add(_ entry: OutboxEntry, root: Int, run: Int64?) throws -> Int64 {
        try tables.add(entry, root: root, run: run)
    }

    /// Replaces an existing entry, except for its key.
    package func update(_ entry: OutboxEntry, run: Int64? = nil) throws { try tables.update(entry, run: run) }

    /// Deletes an entry; others no longer wait for its create.
    func remove(_ entry: OutboxEntry) throws {
        try tables.removeEntry(entry.id)
        guard entry.operation == .create else { return }
        for var other in try tables.entries() where other.dependsOn.contains(entry.id) {
            other.dependsOn.removeAll { $0 == entry.id }
            try tables.update(other, run: nil)
        }
    }

    /// Returns whether a run contributed to an unsent entry of an object.
    func isWaiting(run: Int64, _ root: Int, _ key: RowKey) throws -> Bool {
        try tables.entries(root, key).contains { try $0.isAtRest && tables.runs(ofEntry: $0.id).contains(run) }
    }

    /// Returns the index of the entity whose table has an entry's object; nil if the entity is not configured any more.
    package func root(of entry: OutboxEntry) -> Int? {
        tables.model.index(of: entry.entity).map { tables.model.entities[$0].root }
    }

    // MARK: - Sending

    /// Returns the first entry that may be sent: pending, due, the first of its object, and with all objects that it
    /// refers to on the remote.
    package func next(at instant: String, where fits: (OutboxEntry) -> Bool) throws -> OutboxEntry? {
        let all = try tables.entries()
        let ids = Set(all.map(\.id))
        return try all.first { entry in
            guard entry.state == .pending, entry.notBefore.map({ $0 <= instant }) ?? true,
                !entry.dependsOn.contains(where: ids.contains), fits(entry)
            else { return false }
            if let root = root(of: entry), try tables.entries(root, entry.key).first?.id != entry.id { return false }
            return !isReferred(entry, in: all)
        }
    }

    /// Returns the entries that an entry waits for: earlier ones of its object, and the creates of the objects that it
    /// refers to.
    package func blockers(of entry: OutboxEntry) throws -> [OutboxEntry] {
        guard let root = root(of: entry) else { return [] }
        let earlier = try tables.entries(root, entry.key).filter { $0.id < entry.id }
        return try earlier + entry.dependsOn.compactMap { try tables.entry($0) }
    }

    /// Returns whether an earlier undelivered edit adds or removes a reference to an object to be deleted.
    private func isReferred(_ delete: OutboxEntry, in all: [OutboxEntry]) -> Bool {
        guard delete.operation == .delete, let root = root(of: delete) else { return false }
        let model = tables.model
        let undelivered: [OutboxEntry.State] = [.pending, .sending, .unknown]
        return all.contains { entry in
            // An entry that itself waits for a later one would wait forever.
            guard entry.id < delete.id, undelivered.contains(entry.state),
                entry.dependsOn.allSatisfy({ $0 < delete.id }),
                let layout = model.index(of: entry.entity).map({ model.entities[$0] })
            else { return false }
            let isReference = layout.toOne.contains { toOne in
                guard model.entities[toOne.target].root == root else { return false }
                let names = layout.fields[toOne.firstField..<toOne.firstField + toOne.fieldCount].map(\.name)
                let changes = names.map { name in entry.changes.first { $0.name == name } }
                return [changes.map { $0?.new }, changes.map { $0?.old }].contains { $0 == delete.key }
            }
            return isReference
                || entry.links.contains { link in
                    let target = layout.toMany.first { $0.name == link.relationship }?.target
                    return target.map { model.entities[$0].root } == root
                        && (link.new.contains(delete.key) || link.old.contains(delete.key))
                }
        }
    }
}
