package import Mapping
package import StoreContract

/// The edits that wait to be sent, in an open transaction.
package protocol OutboxTables: AnyObject {
    /// Returns the entries of an object, in order of creation.
    func entries(_ root: Int, _ key: RowKey) throws -> [OutboxEntry]

    /// Returns an entry; nil if there is none with this ID.
    func entry(_ id: Int64) throws -> OutboxEntry?

    /// Returns the entries that wait for an entry.
    func dependants(of id: Int64) throws -> [OutboxEntry]

    /// Returns the entries of these entities whose values may include a key; others may be among them.
    func entries(of entities: [String], mentioning key: RowKey) throws -> [OutboxEntry]

    /// Returns the ID of the newest entry; 0 if there is none.
    func newestEntryID() throws -> Int64

    /// Returns the ID of the next entry; IDs are never used twice.
    func nextEntryID() throws -> Int64

    /// Adds an entry under the next ID, which it returns, on behalf of a run.
    func add(_ entry: OutboxEntry, root: Int, run: Int64?) throws -> Int64

    /// Replaces an entry, except for its key, on behalf of a run if given.
    func update(_ entry: OutboxEntry, run: Int64?) throws

    /// Deletes an entry, if it exists; others no longer wait for its create.
    func removeEntry(_ entry: OutboxEntry) throws

    /// Deletes an entry if its content cannot be read; returns whether it did.
    ///
    /// A create stays, because later edits may need the object that it makes, and so does an entry that is being sent.
    func removeDamaged(_ id: Int64) throws -> Bool

    /// Returns the runs that contributed to each entry of an object, by the entries' IDs.
    func contributingRuns(_ root: Int, _ key: RowKey) throws -> [Int64: Set<Int64>]

    /// Moves an object's entries to another key.
    func renameEntries(_ root: Int, from old: RowKey, to new: RowKey, isTemporary: Bool) throws
}

extension OutboxTables {
    /// Returns false: only other programs damage entries.
    package func removeDamaged(_ id: Int64) throws -> Bool { false }

    /// Replaces an entry, except for its key.
    package func update(_ entry: OutboxEntry) throws { try update(entry, run: nil) }

    /// Returns the ID of the pending create of an object, if there is one.
    package func waitingCreate(_ root: Int, _ key: RowKey) throws -> Int64? {
        try entries(root, key).first { $0.operation == .create }?.id
    }

    /// Returns the entries that an entry waits for: earlier ones of its object, and the creates of the objects that it
    /// refers to.
    package func blockers(of entry: OutboxEntry, in model: CompiledModel) throws -> [OutboxEntry] {
        guard let root = model.root(of: entry) else { return [] }
        let earlier = try entries(root, entry.key).filter { $0.id < entry.id }
        return try earlier + entry.dependsOn.compactMap { try self.entry($0) }
    }
}

/// The entries that wait for others, as they are in an outbox.
package struct EntryWaits {
    private var awaited: [Int64: [Int64]] = [:]
    private var waiting: [Int64: Set<Int64>] = [:]

    package init() {}

    /// Returns the IDs of the entries that wait for an entry, in order.
    package func entries(waitingFor id: Int64) -> [Int64] { waiting[id]?.sorted() ?? [] }

    /// Notes what an entry waits for; a deleted one waits for nothing.
    package mutating func note(_ id: Int64, waitsFor others: [Int64]) {
        for other in awaited[id] ?? [] {
            waiting[other]?.remove(id)
            if waiting[other]?.isEmpty == true { waiting[other] = nil }
        }
        awaited[id] = others.isEmpty ? nil : others
        for other in others { waiting[other, default: []].insert(id) }
    }

    /// Notes that an entry no longer waits for another.
    package mutating func remove(_ other: Int64, awaitedBy id: Int64) {
        note(id, waitsFor: (awaited[id] ?? []).filter { $0 != other })
    }
}

extension CompiledModel {
    /// Returns the index of the entity whose table has an entry's object; nil if the entity is not configured any more.
    package func root(of entry: OutboxEntry) -> Int? { index(of: entry.entity).map { entities[$0].root } }
}

/// The edits that the remote accepted during open scans, and the creates that it accepted since the last ones began, in an
/// open transaction.
package protocol AcknowledgedTables: AnyObject {
    /// Returns the edits of an object that the remote accepted after the one with an ID, in order.
    func acknowledged(_ root: Int, _ key: RowKey, after id: Int64) throws -> [OutboxEntry]

    /// Saves an edit that the remote accepted, under a new ID.
    ///
    /// - Parameter key: The object's key on the remote.
    func addAcknowledged(_ entry: OutboxEntry, root: Int, key: RowKey) throws

    /// Returns the objects that such edits created, with the IDs of the edits.
    func acknowledgedCreates() throws -> [(id: Int64, root: Int, key: RowKey)]

    /// Forgets the edits except those with these IDs.
    func forgetAcknowledged(except ids: Set<Int64>) throws
}

extension AcknowledgedTables {
    /// Forgets the edits, because no scan that began before them is in progress.
    ///
    /// The objects that they created count as listed from now on: a scan that begins later finds them, unless the remote
    /// has deleted them. A scan that resumes may have passed their places, so that they wait for a later one.
    ///
    /// - Parameters:
    ///   - mayResume: Returns whether an interrupted scan of a table's entities may resume.
    ///   - noteListed: Notes that objects of a table count as listed.
    package func forgetAcknowledged(
        mayResume: (_ root: Int) throws -> Bool, noteListed: (_ root: Int, _ keys: [RowKey]) throws -> Void
    ) throws {
        var kept: Set<Int64> = []
        for (root, creates) in Dictionary(grouping: try acknowledgedCreates(), by: \.root) {
            if try mayResume(root) {
                kept.formUnion(creates.map(\.id))
            } else {
                try noteListed(root, creates.map(\.key))
            }
        }
        try forgetAcknowledged(except: kept)
    }
}
