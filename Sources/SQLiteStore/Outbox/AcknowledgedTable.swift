internal import Importer
internal import Mapping

/// Edits that the remote took while walks were on their way: table `bmo_acknowledged`.
///
/// They are out of the outbox, and yet a walk that began before may bring pages that show their objects as they were. A
/// walk knows by the number of the newest entry at its beginning which ones those are. All are forgotten when the next
/// walks begin, which nobody does while others are on their way.
final class AcknowledgedTable {
    private let model: CompiledModel
    private let statements: StatementCache
    private let counts: [ObjectCount]
    /// Per root: the objects that have some.
    private var keys: [Set<[StoredValue]>]

    init(_ model: CompiledModel, on connection: OpaquePointer?) throws {
        self.model = model
        statements = StatementCache(on: connection)
        counts = model.entities.map { _ in ObjectCount() }
        keys = model.entities.map { _ in [] }
        try reload()
    }

    /// Reads again which objects have some.
    func reload() throws {
        keys = model.entities.map { _ in [] }
        let select = try statements("SELECT DISTINCT root, key FROM bmo_acknowledged")
        defer { select.reset() }
        while try select.step() {
            guard let root = model.index(of: select.text(0) ?? ""), model.entities[root].root == root,
                let key = model.entities[root].key(from: select.text(1) ?? "")
            else { continue }
            keys[root].insert(key)
        }
        for (count, keys) in zip(counts, keys) { count.value = keys.count }
    }

    /// How many objects of an entity have such edits.
    func count(of root: Int) -> ObjectCount { counts[root] }

    /// The edits of an object that the remote took after the one of this number, in their order.
    func entries(_ root: Int, _ key: [StoredValue], after number: Int64) throws -> [OutboxEntry] {
        guard keys[root].contains(key) else { return [] }
        // The columns of an outbox entry that count no more are made up.
        let select = try statements(
            """
            SELECT id, entity, key, operation, changes, base, '', 'sending', 0, NULL, created, NULL, '[]', 0, 0
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

    /// Keeps an edit that the remote took.
    ///
    /// - Parameter key: The object's key on the remote.
    func add(_ entry: OutboxEntry, root: Int, key: [StoredValue]) throws {
        var entry = entry
        // Of a deleted object nothing is compared.
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

    /// Forgets all: no walk is on its way that began before them.
    func forget() throws {
        try statements.run("DELETE FROM bmo_acknowledged")
        for root in keys.indices { (keys[root], counts[root].value) = ([], 0) }
    }
}
