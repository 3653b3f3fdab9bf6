internal import StoreContract
internal import StoreRules
internal import Mapping

/// The local edits that wait to be pushed: table `bmo_outbox`.
///
/// Most databases have none most of the time. As in ``StubTable``, the objects with edits are kept in memory, so that
/// an import does look-ups only for entities with edits.
final class OutboxTable: OutboxTables {
    let model: CompiledModel
    let statements: StatementCache
    private let counts: [ObjectCount]
    /// The number of entries of each object that has some, by root.
    private var edited: [[[StoredValue]: Int]]
    /// Which entries wait for others; nil until it is asked for.
    private var knownWaits: EntryWaits?
    /// Whether `edited` is maintained; code that reads only once queries the file.
    private let hasMemory: Bool

    private static let columns = """
        id, entity, key, operation, changes, base, idempotency_key, state, attempts, not_before, created, last_error,
        depends_on, is_temporary, may_have_arrived, user_info
        """

    /// Opens the outbox.
    ///
    /// - Parameter hasMemory: Whether to read and cache the objects with edits; if not, nothing may be written.
    init(_ model: CompiledModel, on connection: OpaquePointer?, hasMemory: Bool = true) throws {
        self.model = model
        self.hasMemory = hasMemory
        statements = StatementCache(on: connection)
        counts = model.entities.map { _ in ObjectCount() }
        edited = model.entities.map { _ in [:] }
        if hasMemory { try reload() }
    }

    // MARK: - Cache

    /// Reloads the objects that have edits.
    func reload() throws {
        edited = model.entities.map { _ in [:] }
        knownWaits = nil
        let select = statements("SELECT root, key, count(*) FROM bmo_outbox GROUP BY root, key")
        defer { select.reset() }
        while try select.step() {
            guard let root = model.index(of: select.text(0) ?? ""), model.entities[root].root == root,
                let key = model.entities[root].key(from: select.text(1) ?? "")
            else { continue }
            edited[root][key] = Int(select.int64(2))
        }
        for (count, keys) in zip(counts, edited) { count.value = keys.count }
    }

    /// Returns the number of an entity's objects with edits.
    func count(of root: Int) -> ObjectCount { counts[root] }

    /// Whether no object has edits.
    var isEmpty: Bool { counts.allSatisfy { $0.value == 0 } }

    func hasEdits(_ root: Int, _ key: [StoredValue]) -> Bool { edited[root][key] != nil }

    private func note(_ root: Int, _ key: [StoredValue], _ difference: Int) {
        let now = (edited[root][key] ?? 0) + difference
        edited[root][key] = now > 0 ? now : nil
        counts[root].value = edited[root].count
    }

    // MARK: - Reading

    /// Returns the entries of an object, in order of creation.
    func entries(_ root: Int, _ key: [StoredValue]) throws -> [OutboxEntry] {
        guard !hasMemory || hasEdits(root, key) else { return [] }
        return try entries(
            "WHERE root = ? AND key = ? ORDER BY id", [.text(model.entities[root].name), JSONText.keyValue(key)])
    }

    /// Returns the ID of the newest entry; 0 if there is none.
    func newestEntryID() throws -> Int64 {
        guard case .integer(let id) = try statements.value("SELECT max(id) FROM bmo_outbox") else { return 0 }
        return id
    }

    func entry(_ id: Int64) throws -> OutboxEntry? { try entries("WHERE id = ?", [.integer(id)]).first }

    func dependants(of id: Int64) throws -> [OutboxEntry] {
        try entryIDs(waitingFor: id).compactMap { try entry($0) }
    }

    /// Returns the IDs of the entries that wait for an entry, in order.
    private func entryIDs(waitingFor id: Int64) throws -> [Int64] {
        if let knownWaits { return knownWaits.entries(waitingFor: id) }
        // Read once and as a whole, because no index has what an entry waits for.
        var waits = EntryWaits()
        let select = statements("SELECT id, depends_on FROM bmo_outbox WHERE depends_on <> '[]'")
        defer { select.reset() }
        while try select.step() {
            waits.note(select.int64(0), waitsFor: OutboxEntry.dependencies(select.text(1)))
        }
        knownWaits = waits
        return waits.entries(waitingFor: id)
    }

    func entries(of entities: [String], mentioning key: [StoredValue]) throws -> [OutboxEntry] {
        // Searches for the parts of the key in the JSON text, which most entries do not contain.
        let parts = key.map { StoredValue.text(JSONText.keyPart($0)) }
        let condition = parts.map { _ in "(instr(changes, ?) > 0 OR instr(ifnull(base, ''), ?) > 0)" }
        return try entries(
            "WHERE entity IN (SELECT value FROM json_each(?)) AND \(condition.joined(separator: " AND "))",
            [Self.list(entities)] + parts.flatMap { [$0, $0] })
    }

    /// Returns the entries that meet a condition.
    ///
    /// - Parameter condition: The SQL after the table's name.
    func entries(_ condition: String, _ values: [StoredValue]) throws -> [OutboxEntry] {
        let select = statements("SELECT \(Self.columns) FROM bmo_outbox \(condition)")
        for (index, value) in values.enumerated() { select.bind(value, at: Int32(index + 1)) }
        defer { select.reset() }
        var entries: [OutboxEntry] = []
        while try select.step() { entries.append(try entry(select)) }
        return entries
    }

    private func entry(_ row: RawStatement) throws -> OutboxEntry {
        try OutboxEntry.reading(row.int64(0)) { try OutboxEntry(row, model) }
    }

    /// Returns names as a value to bind, for `json_each`.
    private static func list(_ names: some Sequence<String>) -> StoredValue {
        JSONText.keyValue(names.map { StoredValue.text($0) })
    }

    /// Returns the first entry that may be sent now; see ``SQLiteStore/nextToSend(at:entities:excluding:among:)``.
    ///
    /// - Parameters:
    ///   - entities: The entities to consider; nil for all. Entries of others cost SQLite little.
    ///   - fits: Whether an entry is considered, by its ID and entity, before it is read.
    func next(
        at instant: String, of entities: Set<String>?, _ fits: (_ id: Int64, _ entity: String) -> Bool
    ) throws -> OutboxEntry? {
        let isOfEntities = entities == nil ? "" : "entity IN (SELECT value FROM json_each(?2)) AND "
        let select = statements(
            """
            SELECT \(Self.columns) FROM bmo_outbox AS o
            WHERE \(isOfEntities)state = 'pending' AND (not_before IS NULL OR not_before <= ?1)
                AND NOT EXISTS (SELECT 1 FROM bmo_outbox AS e WHERE e.root = o.root AND e.key = o.key AND e.id < o.id)
                AND NOT EXISTS (SELECT 1 FROM json_each(o.depends_on) AS d JOIN bmo_outbox AS e ON e.id = d.value)
            ORDER BY id
            """)
        select.bind(instant, at: 1)
        if let entities { select.bind(Self.list(entities), at: 2) }
        defer { select.reset() }
        var references = WaitingReferences(model)
        var last = Int64.min
        while try select.step() {
            guard fits(select.int64(0), select.text(1) ?? "") else { continue }
            let entry = try entry(select)
            guard entry.operation == .delete else { return entry }
            // A delete waits for earlier edits that add or remove a reference to its object.
            let earlier = try entries(
                "WHERE id > ? AND id < ? AND state IN ('pending', 'sending', 'unknown') ORDER BY id",
                [.integer(last), .integer(entry.id)])
            for other in earlier { references.add(other) }
            last = entry.id - 1
            if !references.hold(entry) { return entry }
        }
        return nil
    }

    // MARK: - Writing

    /// Returns the ID of the next entry; IDs are never reused.
    func nextEntryID() throws -> Int64 {
        let last = try statements.value("SELECT seq FROM sqlite_sequence WHERE name = 'bmo_outbox'")
        return if case .integer(let last) = last { last + 1 } else { 1 }
    }

    /// Adds an entry and returns its new ID.
    func add(_ entry: OutboxEntry, root: Int, run: Int64?) throws -> Int64 {
        let runs = JSONText.key([run].compactMap { $0 }.map { StoredValue.integer($0) }).string
        try statements.run(
            """
            INSERT INTO bmo_outbox (entity, operation, changes, base, idempotency_key, state, attempts, not_before,
                created, last_error, depends_on, is_temporary, may_have_arrived, user_info, root, key,
                runs)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            entry.columns(of: layout(entry)) + [
                .text(model.entities[root].name), JSONText.keyValue(entry.key), .text(runs),
            ])
        let id = try nextEntryID() - 1
        note(root, entry.key, 1)
        knownWaits?.note(id, waitsFor: entry.dependsOn)
        return id
    }

    /// Updates an existing entry, except for its key.
    func update(_ entry: OutboxEntry, run: Int64?) throws {
        try statements.run(
            """
            UPDATE bmo_outbox SET entity = ?, operation = ?, changes = ?, base = ?, idempotency_key = ?, state = ?,
                attempts = ?, not_before = ?, created = ?, last_error = ?, depends_on = ?, is_temporary = ?,
                may_have_arrived = ?, user_info = ?
            WHERE id = ?
            """, entry.columns(of: layout(entry)) + [.integer(entry.id)])
        knownWaits?.note(entry.id, waitsFor: entry.dependsOn)
        guard let run else { return }
        try statements.run(
            """
            UPDATE bmo_outbox SET runs = json_insert(runs, '$[#]', ?1) WHERE id = ?2
                AND NOT EXISTS (SELECT 1 FROM json_each(runs) WHERE value = ?1)
            """, [.integer(run), .integer(entry.id)])
    }

    func removeEntry(_ entry: OutboxEntry) throws {
        guard try statements.run("DELETE FROM bmo_outbox WHERE id = ?", [.integer(entry.id)]) > 0 else { return }
        if let root = model.root(of: entry) { note(root, entry.key, -1) }
        knownWaits?.note(entry.id, waitsFor: [])
        guard entry.operation == .create else { return }
        for id in try entryIDs(waitingFor: entry.id) {
            try statements.run(
                """
                UPDATE bmo_outbox SET depends_on =
                    (SELECT json_group_array(value) FROM json_each(depends_on) WHERE value <> ?1)
                WHERE id = ?2
                """, [.integer(entry.id), .integer(id)])
            knownWaits?.remove(entry.id, awaitedBy: id)
        }
    }

    func removeDamaged(_ id: Int64) throws -> Bool {
        let count = try statements.run(
            """
            DELETE FROM bmo_outbox WHERE id = ?1 AND operation <> 'create' AND state <> 'sending'
                AND NOT (json_valid(changes) AND json_valid(ifnull(base, '{}')) AND json_valid(ifnull(last_error, '{}')))
            """, [.integer(id)])
        if count > 0, hasMemory { try reload() }
        return count > 0
    }

    /// Changes the key in the entries of an object.
    func renameEntries(_ root: Int, from old: [StoredValue], to new: [StoredValue], isTemporary: Bool) throws {
        let count = try statements.run(
            "UPDATE bmo_outbox SET key = ?, is_temporary = ? WHERE root = ? AND key = ?",
            [
                JSONText.keyValue(new), .integer(isTemporary ? 1 : 0), .text(model.entities[root].name),
                JSONText.keyValue(old),
            ])
        guard count > 0 else { return }
        note(root, old, -count)
        note(root, new, count)
    }

    /// Returns the runs that contributed to each entry of an object, by the entries' IDs.
    func contributingRuns(_ root: Int, _ key: [StoredValue]) throws -> [Int64: Set<Int64>] {
        let statement = statements(
            """
            SELECT entry.id, run.value FROM bmo_outbox AS entry, json_each(entry.runs) AS run
            WHERE entry.root = ? AND entry.key = ?
            """)
        statement.bind(.text(model.entities[root].name), at: 1)
        statement.bind(JSONText.keyValue(key), at: 2)
        defer { statement.reset() }
        var runs: [Int64: Set<Int64>] = [:]
        while try statement.step() {
            guard case .integer(let run) = statement.value(1) else { continue }
            runs[statement.int64(0), default: []].insert(run)
        }
        return runs
    }

    private func layout(_ entry: OutboxEntry) -> EntityLayout? {
        model.index(of: entry.entity).map { model.entities[$0] }
    }
}
