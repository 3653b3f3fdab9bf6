internal import Mapping
internal import StoreContract
internal import StoreRules

/// The outbox and the accepted edits.
///
/// A push asks for an entry or an object at a time, and reads no others; who asks for more reads the outbox as a whole.
extension PostgreSQLTables {
    /// The number of questions after which the outbox, or the conflicts, are read as a whole.
    static let mostQuestions = 8

    private func read(
        _ table: String, where condition: String = "true", _ parameters: [SQLParameter] = [], limit: Int? = nil
    ) throws -> [StoredEntry] {
        let result = try connection.query(
            """
            SELECT \(StoredEntry.columns) FROM \(sql.own(table)) WHERE \(condition) ORDER BY id
            \(limit.map { "LIMIT \($0)" } ?? "")
            """, parameters, for: "reading the outbox")
        return try (0..<result.count).map { row in
            guard table == "bmo_outbox" else { return try StoredEntry(result, row, model) }
            return try OutboxEntry.reading(result.bigint(row, 0) ?? 0) { try StoredEntry(result, row, model) }
        }
    }

    private func readAll() throws {
        if !outbox.isComplete { outbox.noteAll(counters.hasOutbox ? try read("bmo_outbox") : []) }
    }

    /// Notes what a question that names some entries reads, unless all entries are known by now.
    private func ask(_ condition: String, _ parameters: [SQLParameter]) throws {
        outboxQuestions += 1
        guard counters.hasOutbox, !outbox.isComplete, outboxQuestions <= Self.mostQuestions else {
            return try readAll()
        }
        outbox.note(try read("bmo_outbox", where: condition, parameters))
    }

    private func stored(_ id: Int64) throws -> StoredEntry? {
        if !outbox.knows(id) {
            try ask("id = $1::bigint", [.bigint(id)])
            if outbox[id] == nil { outbox.remove(id) }
        }
        return outbox[id]
    }

    private func stored(_ root: Int, _ key: RowKey) throws -> [StoredEntry] {
        let name = name(root)
        if !outbox.knows(name, key) {
            try ask("root = $1::text AND key = $2::text", [.text(name), .text(JSONText.key(key).string)])
            outbox.noteAll(of: name, key)
        }
        return outbox.entries(name, key)
    }

    /// Reads the entries of objects that are about to be asked for.
    func prefetchEntries(_ table: String, _ keys: some Sequence<RowKey>) throws {
        guard counters.hasOutbox, !outbox.isComplete else { return }
        let unknown = Set(keys).filter { !outbox.knows(table, $0) }
        guard !unknown.isEmpty else { return }
        let texts = unknown.map { JSONText.key($0).string }
        outbox.note(
            try read(
                "bmo_outbox", where: "root = $1::text AND key = ANY($2::text[])", [.text(table), .texts(texts)]))
        for key in unknown { outbox.noteAll(of: table, key) }
    }

    private func change(_ id: Int64, _ body: (inout StoredEntry) -> Void) throws {
        guard var stored = try self.stored(id) else { return }
        body(&stored)
        outbox.set(stored)
        dirtyEntries.insert(id)
    }

    func entries() throws -> [OutboxEntry] {
        try readAll()
        return outbox.all.map(\.entry)
    }

    func entries(_ root: Int, _ key: RowKey) throws -> [OutboxEntry] { try stored(root, key).map(\.entry) }

    func entry(_ id: Int64) throws -> OutboxEntry? { try stored(id)?.entry }

    func dependants(of id: Int64) throws -> [OutboxEntry] {
        if !outbox.isComplete {
            try ask(
                "depends_on <> '[]' AND strpos(translate(depends_on, '[] ', ',,'), $1::text) > 0", [.text(",\(id),")])
        }
        return outbox.entries(waitingFor: id).map(\.entry)
    }

    func entries(of entities: [String], mentioning key: RowKey) throws -> [OutboxEntry] {
        if !outbox.isComplete {
            // Searches for the parts of the key in the JSON text, which most entries do not contain.
            let parts = key.indices.map { index in
                "(strpos(changes, $\(index + 2)::text) > 0 OR strpos(coalesce(base, ''), $\(index + 2)::text) > 0)"
            }
            try ask(
                (["entity = ANY($1::text[])"] + parts).joined(separator: " AND "),
                [SQLParameter.texts(entities)] + key.map { SQLParameter.text(JSONText.keyPart($0)) })
        }
        return outbox.all.map(\.entry).filter { entities.contains($0.entity) }
    }

    func newestEntryID() throws -> Int64 {
        guard counters.hasOutbox, !outbox.isComplete, dirtyEntries.isEmpty else {
            try readAll()
            return outbox.newestID
        }
        return try connection.query(
            "SELECT max(id) FROM \(sql.own("bmo_outbox"))", for: "reading the outbox"
        ).bigint(0, 0) ?? 0
    }

    func nextEntryID() -> Int64 { counters.lastEntry + 1 }

    func add(_ entry: OutboxEntry, root: Int, run: Int64?) throws -> Int64 {
        if !counters.hasOutbox { try readAll() }
        counters.lastEntry += 1
        var entry = entry
        entry.id = counters.lastEntry
        outbox.set(StoredEntry(entry: entry, root: name(root), runs: [run].compactMap { $0 }))
        dirtyEntries.insert(entry.id)
        return entry.id
    }

    func update(_ entry: OutboxEntry, run: Int64?) throws {
        try change(entry.id) { stored in
            stored.entry = entry
            if let run, !stored.runs.contains(run) { stored.runs.append(run) }
        }
    }

    func removeEntry(_ entry: OutboxEntry) throws {
        guard try stored(entry.id) != nil else { return }
        outbox.remove(entry.id)
        dirtyEntries.insert(entry.id)
        guard entry.operation == .create else { return }
        for other in try dependants(of: entry.id) {
            try change(other.id) { $0.entry.dependsOn.removeAll { $0 == entry.id } }
        }
    }

    func removeDamaged(_ id: Int64) throws -> Bool {
        // An entry that has been read is not damaged.
        guard !outbox.knows(id), counters.hasOutbox else { return false }
        let table = sql.own("bmo_outbox")
        let found = try connection.query(
            "SELECT \(StoredEntry.columns) FROM \(table) WHERE id = $1::bigint", [.bigint(id)],
            for: "reading the outbox")
        guard found.count > 0 else { return false }
        if let stored = try? StoredEntry(found, 0, model) {
            outbox.note([stored])
            return false
        }
        noteWritten()
        let deleted = try connection.query(
            """
            DELETE FROM \(table) WHERE id = $1::bigint AND operation <> 'create' AND state <> 'sending' RETURNING id
            """, [.bigint(id)], for: "writing the outbox")
        if deleted.count > 0 { outbox.remove(id) }
        return deleted.count > 0
    }

    func contributingRuns(_ root: Int, _ key: RowKey) throws -> [Int64: Set<Int64>] {
        Dictionary(try stored(root, key).map { ($0.entry.id, Set($0.runs)) }, uniquingKeysWith: { $1 })
    }

    func renameEntries(_ root: Int, from old: RowKey, to new: RowKey, isTemporary: Bool) throws {
        for stored in try stored(root, old) {
            try change(stored.entry.id) {
                $0.entry.key = new
                $0.entry.hasTemporaryKey = isTemporary
            }
        }
    }

    // MARK: - Sending

    func nextToSend(
        at instant: String, of entities: Set<String>?, among ids: Set<Int64>?, where fits: (OutboxEntry) -> Bool
    ) throws -> OutboxEntry? {
        guard counters.hasOutbox, dirtyEntries.isEmpty else {
            return OutboxEntry.next(among: try entries(), at: instant, in: model, where: fits)
        }
        var references = WaitingReferences(model)
        var lastReference = Int64.min
        var last = ids.map { ($0.min() ?? .max) - 1 } ?? .min
        // The first one can mostly be sent.
        var size = 16
        while true {
            let due = try read(
                "bmo_outbox",
                where: """
                    id > $1::bigint AND state = 'pending' AND (not_before IS NULL OR not_before <= $2::text)
                        AND ($3::text[] IS NULL OR entity = ANY($3::text[]))
                    """,
                [.bigint(last), .text(instant), entities.map { .texts($0) } ?? .null], limit: size)
            let waited = try existing(Set(due.flatMap(\.entry.dependsOn)))
            let chosen = due.filter { stored in
                !stored.entry.dependsOn.contains(where: waited.contains) && fits(stored.entry)
            }
            // An entity may have got another table since its edit was made.
            let tables = chosen.flatMap { stored in
                [stored.root, model.root(of: stored.entry).map(name) ?? stored.root].map { ($0, stored.entry.key) }
            }
            for (table, objects) in Dictionary(grouping: tables, by: \.0) {
                try prefetchEntries(table, objects.map(\.1))
            }
            for stored in chosen {
                let entry = stored.entry
                if let root = model.root(of: entry) {
                    let own = outbox.entries(stored.root, entry.key) + outbox.entries(name(root), entry.key)
                    let isLater = own.contains { $0.entry.id < entry.id && model.root(of: $0.entry) == root }
                    if isLater { continue }
                }
                guard entry.operation == .delete else { return entry }
                let earlier = try read(
                    "bmo_outbox",
                    where: "id > $1::bigint AND id < $2::bigint AND state IN ('pending', 'sending', 'unknown')",
                    [.bigint(lastReference), .bigint(entry.id)])
                for other in earlier { references.add(other.entry) }
                lastReference = entry.id - 1
                if !references.hold(entry) { return entry }
            }
            guard due.count == size, let end = due.last else { return nil }
            last = end.entry.id
            size = min(4 * size, 4_096)
        }
    }

    /// Returns those of the entries that are in the outbox.
    private func existing(_ ids: Set<Int64>) throws -> Set<Int64> {
        guard !ids.isEmpty else { return [] }
        let found = try connection.query(
            "SELECT id FROM \(sql.own("bmo_outbox")) WHERE id = ANY($1::bigint[])", [.bigints(ids)],
            for: "reading the outbox")
        return Set((0..<found.count).compactMap { found.bigint($0, 0) })
    }

    // MARK: - Accepted edits

    private func accepted() throws -> KnownEntries {
        if let acceptedEdits { return acceptedEdits }
        let read = counters.hasAcknowledged ? try read("bmo_acknowledged") : []
        var all = KnownEntries()
        all.noteAll(read + newAcceptedEdits)
        acceptedEdits = all
        return all
    }

    func acknowledged(_ root: Int, _ key: RowKey, after id: Int64) throws -> [OutboxEntry] {
        try accepted().entries(name(root), key).map(\.entry).filter { $0.id > id }
    }

    func addAcknowledged(_ entry: OutboxEntry, root: Int, key: RowKey) throws {
        counters.lastAcknowledged += 1
        var entry = entry
        entry.id = counters.lastAcknowledged
        entry.key = key
        // Nothing is compared for a deleted object.
        if entry.operation == .delete { (entry.changes, entry.links) = ([], []) }
        let stored = StoredEntry(entry: entry, root: name(root))
        acceptedEdits?.set(stored)
        newAcceptedEdits.append(stored)
    }

    func newestAcknowledged() throws -> Int64 {
        guard isForOneQuery else { return try accepted().newestID }
        return try connection.query(
            "SELECT max(id) FROM \(sql.own("bmo_acknowledged"))", for: "reading accepted edits"
        ).bigint(0, 0) ?? 0
    }

    func acknowledgedCreates() throws -> [(id: Int64, root: Int, key: RowKey)] {
        try accepted().all.compactMap { stored in
            guard stored.entry.operation == .create, let root = model.index(of: stored.root) else { return nil }
            return (id: stored.entry.id, root: root, key: stored.entry.key)
        }
    }

    func forgetAcknowledged(except ids: Set<Int64>) throws {
        let forgotten = try accepted().all.map(\.entry.id).filter { !ids.contains($0) }
        guard !forgotten.isEmpty else { return }
        noteWritten()
        try connection.query(
            "DELETE FROM \(sql.own("bmo_acknowledged")) WHERE id <> ALL($1::bigint[])", [.bigints(Array(ids))],
            for: "forgetting accepted edits")
        for id in forgotten { acceptedEdits?.remove(id) }
    }

    // MARK: - Writing

    /// Writes the changed entries.
    func flushOutbox() throws {
        for id in dirtyEntries.sorted() {
            noteWritten()
            try connection.query(
                "DELETE FROM \(sql.own("bmo_outbox")) WHERE id = $1::bigint", [.bigint(id)], for: "writing the outbox")
            guard let stored = outbox[id] else { continue }
            counters.hasOutbox = true
            try insert(stored, into: "bmo_outbox")
        }
        dirtyEntries = []
        for stored in newAcceptedEdits {
            noteWritten()
            counters.hasAcknowledged = true
            try insert(stored, into: "bmo_acknowledged")
        }
        newAcceptedEdits = []
    }

    private func insert(_ stored: StoredEntry, into table: String) throws {
        try connection.query(
            "INSERT INTO \(sql.own(table)) (\(StoredEntry.columns)) VALUES (\(StoredEntry.parameters))",
            stored.values, for: "writing the outbox")
    }
}
