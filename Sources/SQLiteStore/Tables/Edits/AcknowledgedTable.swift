internal import StoreContract
internal import StoreRules
internal import Mapping

/// The edits that the remote accepted during a scan, and all creates: table `bmo_acknowledged`.
///
/// They are no longer in the outbox, but a scan that began earlier may still return pages with the old state of their
/// objects. A scan identifies these edits by the ID of the newest entry at its beginning. They are deleted when the next
/// scans begin, which never happens while other scans are in progress; a create waits for a scan that does not resume.
final class AcknowledgedTable: AcknowledgedTables {
    private let model: CompiledModel
    private let statements: StatementCache
    private let counts: [ObjectCount]
    /// The objects that have such edits, by root.
    private var keys: [Set<[StoredValue]>]

    init(_ model: CompiledModel, on connection: OpaquePointer?) throws {
        self.model = model
        statements = StatementCache(on: connection)
        counts = model.entities.map { _ in ObjectCount() }
        keys = model.entities.map { _ in [] }
        try reload()
    }

    /// Reloads the objects that have such edits.
    func reload() throws {
        keys = model.entities.map { _ in [] }
        let select = statements("SELECT DISTINCT root, key FROM bmo_acknowledged")
        defer { select.reset() }
        while try select.step() {
            guard let root = model.index(of: select.text(0) ?? ""), model.entities[root].root == root,
                let key = model.entities[root].key(from: select.text(1) ?? "")
            else { continue }
            keys[root].insert(key)
        }
        for (count, keys) in zip(counts, keys) { count.value = keys.count }
    }

    /// Returns the number of an entity's objects with such edits.
    func count(of root: Int) -> ObjectCount { counts[root] }

    /// Returns the edits of an object that the remote accepted after the one with this ID, in order.
    func acknowledged(_ root: Int, _ key: [StoredValue], after number: Int64) throws -> [OutboxEntry] {
        guard keys[root].contains(key) else { return [] }
        // Fills in the columns of an outbox entry that are no longer relevant.
        let select = statements(
            """
            SELECT id, entity, key, operation, changes, base, '', 'sending', 0, NULL, created, NULL, '[]', 0, 0, NULL
            FROM bmo_acknowledged WHERE root = ? AND key = ? AND id > ? ORDER BY id
            """)
        select.bind(model.entities[root].name, at: 1)
        select.bind(JSONText.keyValue(key), at: 2)
        select.bind(number, at: 3)
        defer { select.reset() }
        var entries: [OutboxEntry] = []
        while try select.step() { entries.append(try OutboxEntry(select, model)) }
        return entries
    }

    /// Saves an edit that the remote accepted.
    ///
    /// - Parameter key: The object's key on the remote.
    func addAcknowledged(_ entry: OutboxEntry, root: Int, key: [StoredValue]) throws {
        var entry = entry
        // Nothing is compared for a deleted object.
        if entry.operation == .delete { (entry.changes, entry.links) = ([], []) }
        let columns = entry.columns(of: model.index(of: entry.entity).map { model.entities[$0] })
        try statements.run(
            """
            INSERT INTO bmo_acknowledged (entity, operation, changes, base, root, key, created)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """,
            Array(columns[0...3]) + [.text(model.entities[root].name), JSONText.keyValue(key), .text(Clock.now())])
        keys[root].insert(key)
        counts[root].value = keys[root].count
    }

    func acknowledgedCreates() throws -> [(id: Int64, root: Int, key: RowKey)] {
        let select = statements("SELECT id, root, key FROM bmo_acknowledged WHERE operation = 'create' ORDER BY id")
        defer { select.reset() }
        var creates: [(id: Int64, root: Int, key: RowKey)] = []
        while try select.step() {
            guard let root = model.index(of: select.text(1) ?? ""), model.entities[root].root == root,
                let key = model.entities[root].key(from: select.text(2) ?? "")
            else { continue }
            creates.append((id: select.int64(0), root: root, key: key))
        }
        return creates
    }

    func forgetAcknowledged(except ids: Set<Int64>) throws {
        let kept = "[\(ids.map(String.init).joined(separator: ","))]"
        try statements.run(
            "DELETE FROM bmo_acknowledged WHERE id NOT IN (SELECT value FROM json_each(?))", [.text(kept)])
        try reload()
    }
}
