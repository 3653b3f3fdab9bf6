internal import Importer
internal import Mapping

/// Local edits that wait to be sent: table `bmo_outbox`.
///
/// Most databases have none most of the time: which objects have some is kept in memory, as ``StubTable`` does it, so
/// that an import pays for a look only where an entity has edits.
final class OutboxTable {
    let model: CompiledModel
    let statements: StatementCache
    private let counts: [ObjectCount]
    /// Per root: how many entries an object has.
    private var edited: [[[StoredValue]: Int]]
    /// Whether `edited` is kept: who reads once asks the file.
    private let hasMemory: Bool

    private static let columns = """
        id, entity, key, operation, changes, base, idempotency_key, state, attempts, not_before, created, last_error,
        depends_on, is_temporary, may_have_arrived
        """

    /// - Parameter hasMemory: Which objects have edits is read now and kept; else nothing may be written.
    init(_ model: CompiledModel, on connection: OpaquePointer?, hasMemory: Bool = true) throws {
        self.model = model
        self.hasMemory = hasMemory
        statements = StatementCache(on: connection)
        counts = model.entities.map { _ in ObjectCount() }
        edited = model.entities.map { _ in [:] }
        if hasMemory { try reload() }
    }

    // MARK: - What is kept in memory

    /// Reads again which objects have edits.
    func reload() throws {
        edited = model.entities.map { _ in [:] }
        let select = try statements("SELECT root, key, count(*) FROM bmo_outbox GROUP BY root, key")
        defer { select.reset() }
        while try select.step() {
            guard let root = model.index(of: select.text(0) ?? ""), model.entities[root].root == root,
                let key = model.entities[root].key(from: select.text(1) ?? "")
            else { continue }
            edited[root][key] = Int(select.int64(2))
        }
        for (count, keys) in zip(counts, edited) { count.value = keys.count }
    }

    /// How many objects of an entity have edits.
    func count(of root: Int) -> ObjectCount { counts[root] }

    /// Whether any object has edits.
    var isEmpty: Bool { counts.allSatisfy { $0.value == 0 } }

    func hasEdits(_ root: Int, _ key: [StoredValue]) -> Bool { edited[root][key] != nil }

    private func note(_ root: Int, _ key: [StoredValue], _ difference: Int) {
        let now = (edited[root][key] ?? 0) + difference
        edited[root][key] = now > 0 ? now : nil
        counts[root].value = edited[root].count
    }

    // MARK: - Reading

    /// The entries of an object, in the order in which they were made.
    func entries(_ root: Int, _ key: [StoredValue]) throws -> [OutboxEntry] {
        guard !hasMemory || hasEdits(root, key) else { return [] }
        return try entries(
            "WHERE root = ? AND key = ? ORDER BY id", [.text(model.entities[root].name), JSONText.keyValue(key)])
    }

    /// The number of the newest entry; 0 where there is none.
    func newest() throws -> Int64 {
        guard case .integer(let id) = try statements.value("SELECT max(id) FROM bmo_outbox") else { return 0 }
        return id
    }

    func entry(_ id: Int64) throws -> OutboxEntry? { try entries("WHERE id = ?", [.integer(id)]).first }

    /// - Parameter condition: What comes after the table's name.
    func entries(_ condition: String, _ values: [StoredValue]) throws -> [OutboxEntry] {
        let select = try statements("SELECT \(Self.columns) FROM bmo_outbox \(condition)")
        for (index, value) in values.enumerated() { select.bind(value, at: Int32(index + 1)) }
        defer { select.reset() }
        var entries: [OutboxEntry] = []
        while try select.step() { entries.append(try OutboxEntry(select, model)) }
        return entries
    }

    /// The entries without those that may not be sent yet; see ``SQLiteStore/nextToSend(at:entities:excluding:)``.
    func next(at instant: String, _ fits: (OutboxEntry) -> Bool) throws -> OutboxEntry? {
        let select = try statements(
            """
            SELECT \(Self.columns) FROM bmo_outbox AS o
            WHERE state = 'pending' AND (not_before IS NULL OR not_before <= ?)
                AND NOT EXISTS (SELECT 1 FROM bmo_outbox AS e WHERE e.root = o.root AND e.key = o.key AND e.id < o.id)
                AND NOT EXISTS (SELECT 1 FROM json_each(o.depends_on) AS d JOIN bmo_outbox AS e ON e.id = d.value)
            ORDER BY id
            """)
        select.bind(instant, at: 1)
        defer { select.reset() }
        while try select.step() {
            let entry = try OutboxEntry(select, model)
            if fits(entry), try !isReferred(entry) { return entry }
        }
        return nil
    }

    /// Whether an earlier edit that is still to arrive refers to an object that is deleted, or takes a reference away.
    private func isReferred(_ delete: OutboxEntry) throws -> Bool {
        guard delete.operation == .delete, let root = root(of: delete) else { return false }
        let earlier = try entries(
            "WHERE id < ? AND state IN ('pending', 'sending', 'unknown') ORDER BY id", [.integer(delete.id)])
        return earlier.contains { entry in
            // What waits for something later itself would wait forever.
            guard entry.dependsOn.allSatisfy({ $0 < delete.id }), let layout = layout(entry) else { return false }
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

    /// The number of the create that an object waits for, if it does.
    func waitingCreate(_ root: Int, _ key: [StoredValue]) throws -> Int64? {
        try entries(root, key).first { $0.operation == .create }?.id
    }

    // MARK: - Writing

    /// The number that the next entry will have: none has it twice.
    func nextID() throws -> Int64 {
        let last = try statements.value("SELECT seq FROM sqlite_sequence WHERE name = 'bmo_outbox'")
        return if case .integer(let last) = last { last + 1 } else { 1 }
    }

    /// Adds an entry, whose number is given to it, and returns that.
    func add(_ entry: OutboxEntry, root: Int, run: Int64?) throws -> Int64 {
        let runs = JSONText.key([run].compactMap { $0 }.map { StoredValue.integer($0) }).string
        try statements.run(
            """
            INSERT INTO bmo_outbox (entity, operation, changes, base, idempotency_key, state, attempts, not_before,
                created, last_error, depends_on, is_temporary, may_have_arrived, root, key, runs)
            VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
            """,
            entry.columns(of: layout(entry)) + [
                .text(model.entities[root].name), JSONText.keyValue(entry.key), .text(runs),
            ])
        let id = try nextID() - 1
        note(root, entry.key, 1)
        return id
    }

    /// Writes an entry that is there, but for its key.
    func update(_ entry: OutboxEntry, run: Int64? = nil) throws {
        try statements.run(
            """
            UPDATE bmo_outbox SET entity = ?, operation = ?, changes = ?, base = ?, idempotency_key = ?, state = ?,
                attempts = ?, not_before = ?, created = ?, last_error = ?, depends_on = ?, is_temporary = ?,
                may_have_arrived = ?
            WHERE id = ?
            """, entry.columns(of: layout(entry)) + [.integer(entry.id)])
        guard let run else { return }
        try statements.run(
            """
            UPDATE bmo_outbox SET runs = json_insert(runs, '$[#]', ?1) WHERE id = ?2
                AND NOT EXISTS (SELECT 1 FROM json_each(runs) WHERE value = ?1)
            """, [.integer(run), .integer(entry.id)])
    }

    func remove(_ entry: OutboxEntry, root: Int) throws {
        guard try statements.run("DELETE FROM bmo_outbox WHERE id = ?", [.integer(entry.id)]) > 0 else { return }
        note(root, entry.key, -1)
        guard entry.operation == .create else { return }
        try statements.run(
            """
            UPDATE bmo_outbox SET depends_on =
                (SELECT json_group_array(value) FROM json_each(depends_on) WHERE value <> ?1)
            WHERE EXISTS (SELECT 1 FROM json_each(depends_on) WHERE value = ?1)
            """, [.integer(entry.id)])
    }

    /// Gives the entries of an object another key.
    func rename(_ root: Int, _ old: [StoredValue], to new: [StoredValue], isTemporary: Bool) throws {
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

    /// Whether a run has a part in an entry of an object that is still to be sent.
    func isWaiting(run: Int64, _ root: Int, _ key: [StoredValue]) throws -> Bool {
        try statements.value(
            """
            SELECT 1 FROM bmo_outbox WHERE root = ? AND key = ? AND state IN ('pending', 'refused', 'conflict')
                AND EXISTS (SELECT 1 FROM json_each(runs) WHERE value = ?)
            """, [.text(model.entities[root].name), JSONText.keyValue(key), .integer(run)]) != nil
    }

    private func layout(_ entry: OutboxEntry) -> EntityLayout? {
        model.index(of: entry.entity).map { model.entities[$0] }
    }

    /// The index of the entity whose table an entry's object lies in; nil where the config has no such entity any more.
    func root(of entry: OutboxEntry) -> Int? { model.index(of: entry.entity).map { model.entities[$0].root } }
}
