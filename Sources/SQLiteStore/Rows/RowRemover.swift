internal import GRDBSQLite
internal import StoreContract
internal import Mapping
internal import Model

/// The deletion of rows and their dependents, as the entities' configurations specify.
///
/// A deleted row takes its links with it, and the objects whose parent it is (`parent:`). A row that a remaining row
/// still refers to becomes a stub: it loses its values, but the reference stays valid. Rows that refer only to each
/// other are deleted together. With `deletes: soft`, a row is kept and marked with the time of its deletion. What a
/// deleted row has in a relationship with `orphans: delete` becomes an orphan of the scan. A row that a trigger of another
/// program does not let go is kept as it is.
final class RowRemover {
    let model: CompiledModel
    let rowEditors: RowEditors
    let linkWriters: LinkWriters
    let changes: ChangeLog
    let orphans: OrphanTable
    let provenance: ProvenanceTable
    private let members: MemberTable
    /// The lists that deleted objects take along, by root, with the version of the members.
    private var lists: (version: Int, ofRoot: [Int: [Int]]) = (0, [:])
    private let connection: OpaquePointer?
    /// Returns whether a row is kept because of local edits; set by the merge of edits, which removes rows itself.
    var keepsEdited: (_ root: Int, _ key: [StoredValue]) throws -> Bool = { _, _ in false }
    private var checks: [Int: SurvivorCheck] = [:]
    /// The entities that are scanned per object of a root entity, by that root.
    let children: [Int: [ChildScan]]
    private var statements: [String: RawStatement] = [:]

    struct ChildScan {
        let root: Int
        let toOne: EntityLayout.ToOne
    }

    /// The names of the entities that are scanned per object of a root entity, for their listing or a further source,
    /// by that root.
    private let scannedBy: [Int: Set<String>]

    /// The rows that the database did not let go, by the scan that was to delete them.
    private var kept: [String: (rows: Set<RowName>, first: KeptRows)] = [:]

    /// A row of a root entity's table.
    struct RowName: Hashable {
        let root: Int
        let row: Int64
    }

    struct PendingDeletion {
        let root: Int
        let row: Int64
        let key: [StoredValue]
    }

    init(
        _ model: CompiledModel, _ rowEditors: RowEditors, _ linkWriters: LinkWriters, _ changes: ChangeLog,
        _ orphans: OrphanTable, _ provenance: ProvenanceTable, _ members: MemberTable, on connection: OpaquePointer?
    ) {
        self.members = members
        self.changes = changes
        self.orphans = orphans
        self.provenance = provenance
        self.model = model
        self.rowEditors = rowEditors
        self.linkWriters = linkWriters
        self.connection = connection
        var children: [Int: [ChildScan]] = [:]
        var scannedBy: [Int: Set<String>] = [:]
        for (index, entity) in model.model.entities.enumerated() {
            let layout = model.entities[index]
            for scan in [entity.parent].compactMap({ $0 }) + entity.sources.compactMap(\.parent) {
                let toOne = scan.relationship.flatMap { name in layout.toOne.first { $0.name == name } }
                scannedBy[model.entities[toOne?.target ?? index].root, default: []].insert(entity.name)
            }
            guard let name = entity.parent?.relationship, let toOne = layout.toOne.first(where: { $0.name == name })
            else { continue }
            children[model.entities[toOne.target].root, default: []].append(
                ChildScan(root: layout.root, toOne: toOne))
        }
        self.children = children
        self.scannedBy = scannedBy
    }

    /// Returns how an entity's objects are deleted.
    func mode(of entity: Int) -> DeletePolicy.Mode {
        model.model.entities[model.entities[entity].root].deletes.mode
    }

    /// Deletes the object with this key, if it exists; returns the number of deleted objects, by entity.
    func remove(entity: Int, key: [StoredValue]) throws -> [Int: Int] {
        let root = model.entities[entity].root
        guard !key.isEmpty else { return [:] }
        guard let row = try rowEditors.row(of: root, key) else {
            // The object was deleted locally, and there is nothing left to push.
            _ = try keepsEdited(root, key)
            return [:]
        }
        return try remove([row], of: root)
    }

    /// Deletes rows of an entity's table; returns the number of deleted objects, by entity.
    ///
    /// - Parameters:
    ///   - evenIfIgnored: Whether to delete even with `deletes: ignore`.
    ///   - refusals: What ``refusals(of:_:evenIfIgnored:)`` has found; nil if it was not asked.
    func remove(
        _ rows: [Int64], of entity: Int, evenIfIgnored: Bool = false, refusals: [RowName: StoreError]? = nil
    ) throws -> [Int: Int] {
        let root = model.entities[entity].root
        var counts: [Int: Int] = [:]
        let refused = try refusals ?? self.refusals(of: rows, root, evenIfIgnored: evenIfIgnored)
        try emptyPendingDeletions()
        var pending: [PendingDeletion] = []
        try visit(rows, root, evenIfIgnored: evenIfIgnored) { name, key, mode in
            if mode == .hard, let refusal = refused[name] {
                noteKept(name, key, refusal)
                return false
            }
            if try keepsEdited(name.root, key) { return false }
            switch mode {
            case .ignore: return false
            case .soft:
                guard try markAsGone(name.root, key) else { return false }
                counts[name.root, default: 0] += 1
            case .hard:
                guard try doom(name.root, name.row) else { return false }
                pending.append(PendingDeletion(root: name.root, row: name.row, key: key))
            }
            try forgetScans(by: name.root, key)
            try noteOwned(by: name.root, key, isSoft: mode == .soft)
            return true
        }
        try removeLinks(of: pending)
        try markStaying(pending)
        for row in pending where try delete(row) { counts[row.root, default: 0] += 1 }
        return counts
    }

    /// Visits rows and those that go with them, in the order of their deletion.
    ///
    /// - Parameter body: Returns whether the children of the row follow.
    func visit(
        _ rows: [Int64], _ root: Int, evenIfIgnored: Bool,
        _ body: (_ name: RowName, _ key: [StoredValue], _ mode: DeletePolicy.Mode) throws -> Bool
    ) throws {
        var waiting = rows.map { RowName(root: root, row: $0) }
        var place = 0
        while place < waiting.count {
            let next = waiting[place]
            place += 1
            guard let key = try rowEditors.key(of: next.root, next.row) else { continue }
            var mode = mode(of: next.root)
            if mode == .ignore, evenIfIgnored { mode = .hard }
            guard try body(next, key, mode) else { continue }
            for child in children[next.root] ?? [] {
                waiting += try childRows(child, of: key).map { RowName(root: child.root, row: $0) }
            }
        }
    }

    private func noteKept(_ name: RowName, _ key: [StoredValue], _ refusal: StoreError) {
        let first = KeptRows(entity: model.entities[name.root].name, key: key, reason: refusal.description)
        kept[changes.source?.scan ?? "", default: ([], first)].rows.insert(name)
    }

    /// Returns the rows that the database did not let go since the last call for a scan; nil if there are none.
    func takeKept(ofScan scan: String) -> KeptRows? {
        guard let found = kept.removeValue(forKey: scan) else { return nil }
        var first = found.first
        first.count = found.rows.count
        return first
    }

    /// Deletes one object that was deleted locally, but not its children, which the remote deletes itself.
    ///
    /// - Returns: Whether it existed.
    @discardableResult
    func removeAlone(_ root: Int, _ key: [StoredValue], isFinal: Bool) throws -> Bool {
        guard let row = try rowEditors.row(of: root, key) else { return false }
        if !isFinal, mode(of: root) == .soft { return try markAsGone(root, key) }
        try emptyPendingDeletions()
        try doom(root, row)
        let pending = PendingDeletion(root: root, row: row, key: key)
        try removeLinks(of: [pending])
        return try delete(pending)
    }

    /// Forgets the scans for an object's children, so that they start from the beginning if the object returns.
    private func forgetScans(by root: Int, _ key: [StoredValue]) throws {
        guard let entities = scannedBy[root] else { return }
        for table in ["bmo_cursors", "bmo_progress", "bmo_seen", "bmo_list_owners", "bmo_waiting_lists"] {
            let deletion = statement("DELETE FROM \(table) WHERE entity = ? AND parent = ?")
            for entity in entities {
                deletion.bind(entity, at: 1)
                deletion.bind(utf8: JSONText.key(key).bytes, at: 2)
                try deletion.run()
            }
        }
    }

    // MARK: - Rows

    private func removeLinks(of rows: [PendingDeletion]) throws {
        for row in rows {
            for index in try takenLists(row.root) { try linkWriters(row.root, index).removeAll(of: row.key) }
        }
    }

    /// Returns the lists that deleted objects of a root take along.
    func takenLists(_ root: Int) throws -> [Int] {
        if lists.version != members.version { lists = (members.version, [:]) }
        if let known = lists.ofRoot[root] { return known }
        let found = try model.linksOfDeletedObjects(of: root) {
            try members.members(ofListing: $0, source: $1, in: model)
        }
        lists.ofRoot[root] = found
        return found
    }

    private func delete(_ pending: PendingDeletion) throws -> Bool {
        let editor = rowEditors(pending.root)
        guard let row = try editor.row(pending.key) else { return false }
        guard try staysReferred(pending) else {
            try editor.delete(pending.key, row)
            return true
        }
        let layout = editor.layout
        guard try !rowEditors.stubs.contains(layout.name, .key(pending.key)) else { return false }
        let kept = Set(layout.key + [layout.discriminator].compactMap { $0 })
        let cleared = layout.fields.indices.filter { !kept.contains($0) }
            .map { (name: layout.fields[$0].name, value: StoredValue.null) }
        try editor.update(pending.key, from: row, to: cleared, as: .stubbed)
        return true
    }

    /// Returns whether something that stays refers to a row.
    func staysReferred(_ row: PendingDeletion) throws -> Bool {
        if try check(row.root).isReferred(row.key) { return true }
        return try rowEditors.deletionGuard.isReferred(row.root, row.row)
    }

    private func markAsGone(_ root: Int, _ key: [StoredValue]) throws -> Bool {
        let editor = rowEditors(root)
        guard let field = editor.layout.deletion, let row = try editor.row(key), row[field] == .null,
            try !rowEditors.stubs.contains(editor.layout.name, .key(key))
        else { return false }
        try editor.update(
            key, from: row, to: [(name: editor.layout.fields[field].name, value: .timestamp(Clock.now()))], as: .deleted
        )
        return true
    }

    func childRows(_ child: ChildScan, of key: [StoredValue]) throws -> [Int64] {
        let layout = model.entities[child.root]
        let columns = (0..<child.toOne.fieldCount).map {
            "\(SchemaBuilder.quoted(layout.fields[child.toOne.firstField + $0].name)) = ?"
        }
        let select = statement(
            "SELECT \(layout.rowIDName) FROM \(SchemaBuilder.quoted(layout.table)) "
                + "WHERE \(columns.joined(separator: " AND "))")
        for (index, value) in key.enumerated() { select.bind(value, at: Int32(index + 1)) }
        defer { select.reset() }
        var rows: [Int64] = []
        while try select.step() { rows.append(select.int64(0)) }
        return rows
    }

    func statement(_ sql: String) -> RawStatement {
        let statement = statements[sql] ?? RawStatement(sql, on: connection)
        statements[sql] = statement
        return statement
    }

    /// Notes that a row is about to be deleted; returns whether it is new.
    @discardableResult
    func doom(_ root: Int, _ row: Int64) throws -> Bool {
        let doom = statement("INSERT INTO temp.bmo_doomed (entity, row) VALUES (?, ?) ON CONFLICT DO NOTHING")
        doom.bind(Int64(root), at: 1)
        doom.bind(row, at: 2)
        return try doom.run() > 0
    }

    func emptyPendingDeletions() throws {
        // Rolling back a transaction also removes the table.
        try execute(
            "CREATE TEMP TABLE IF NOT EXISTS bmo_doomed "
                + "(entity INTEGER, row INTEGER, stays INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (entity, row)) "
                + "WITHOUT ROWID")
        try execute("DELETE FROM temp.bmo_doomed")
    }

    func execute(_ sql: String) throws { try RawStatement(sql, on: connection).run() }

    func check(_ root: Int) -> SurvivorCheck {
        let check = checks[root] ?? SurvivorCheck(of: root, in: model, on: connection)
        checks[root] = check
        return check
    }
}
