public import StoreContract
internal import GRDB
public import Mapping
internal import Model

extension SQLiteStore {
    /// Returns the sources and changes of a row.
    ///
    /// - Parameters:
    ///   - entity: The entity's index in the model.
    ///   - key: The values of the row's key.
    /// - Throws: ``StoreError``.
    public func history(of entity: Int, key: [StoredValue]) throws -> RowHistory {
        let layout = model.entities[entity]
        // All bookkeeping uses the entity that has the table.
        let root = model.entities[layout.root]
        let text = JSONText.key(key)
        var history = RowHistory(
            entity: layout.name, key: key, values: nil, isStub: false, isListed: true, groups: [], events: [],
            quarantined: [])
        try read("reading the history of \(layout.name)") { db in
            let condition =
                layout.key.map { "\(SchemaBuilder.quoted(layout.fields[$0].name)) = ?" }
                + [Self.isOfKind(layout)].compactMap { $0 }
            let select = try RawStatement(
                "SELECT \(layout.columns.map { SchemaBuilder.quoted($0.name) }.joined(separator: ", ")) "
                    + "FROM \(SchemaBuilder.quoted(layout.table)) WHERE \(condition.joined(separator: " AND "))",
                on: db.sqliteConnection)
            for (index, value) in key.enumerated() { select.bind(value, at: Int32(index + 1)) }
            if try select.step() { history.values = select.values(of: layout.columns) }
            history.isStub =
                try Bool.fetchOne(
                    db, sql: "SELECT EXISTS (SELECT 1 FROM bmo_stubs WHERE entity = ? AND key = ?)",
                    arguments: [root.name, text.string]) ?? false
            history.events = try events(root, text, in: db)
            let (groups, isListed) = try sources(root, text, in: db)
            history.groups = groups
            history.isListed = isListed && !history.isStub
        }
        guard history.values != nil else {
            // The load of a table says nothing about a row that does not exist.
            if history.events.allSatisfy({ $0.change.kind == .loaded }) { history.events = [] }
            return history
        }
        if !history.isStub { addListing(layout, to: &history) }
        return history
    }

    private func events(_ layout: EntityLayout, _ key: JSONText, in db: Database) throws -> [RowHistory.Event] {
        let select = try RawStatement(
            """
            SELECT c.id, c.run, c.entity, c.key, c.change, c.old, c.new, c.bridge, c.walk, c.location, r.kind, r.started
            FROM bmo_changes AS c JOIN bmo_runs AS r ON r.id = c.run
            WHERE c.entity = ?1 AND (c.key = ?2 OR c.key IS NULL) ORDER BY c.run DESC, c.id
            """, on: db.sqliteConnection)
        select.bind(layout.name, at: 1)
        select.bind(utf8: key.bytes, at: 2)
        var events: [RowHistory.Event] = []
        var group: [ChangeRecord] = []
        var run = (kind: "", started: "")
        func flush() {
            guard let first = group.first else { return }
            let change =
                group.allSatisfy { $0.change == .loaded }
                ? RowChange(load: first) : RowChange(group.filter { $0.key != nil }, model)
            if let change {
                events.append(RowHistory.Event(run: first.run, kind: run.kind, started: run.started, change: change))
            }
            group = []
        }
        while try select.step() {
            let record = try ChangeRecord(select)
            if let last = group.last, last.run != record.run { flush() }
            run = (select.text(10) ?? "", select.text(11) ?? "")
            group.append(record)
        }
        flush()
        // Events before the row was inserted belong to an earlier row with the same key; a load of the table does not
        // concern a row inserted later.
        if let creation = events.firstIndex(where: { $0.change.kind == .inserted || $0.change.kind == .stubbed }) {
            let first = events[creation].run
            events.removeAll { $0.change.kind == .loaded && $0.run < first }
        }
        return events
    }

    private func sources(
        _ layout: EntityLayout, _ key: JSONText, in db: Database
    ) throws -> (groups: [RowHistory.Group], isListed: Bool) {
        let rows = try Row.fetchAll(
            db,
            sql: """
                SELECT s.bridge, s.walk, s.columns, p.first_run, p.last_run, p.location, p.listed
                FROM bmo_provenance p JOIN bmo_sources s ON s.id = p.source
                WHERE p.entity = ? AND p.key = ? ORDER BY p.last_run
                """, arguments: [layout.name, key.string])
        // A row created locally has a record without columns until a listing includes it.
        let groups = rows.filter { ($0["columns"] as String) != "" }.map { row in
            RowHistory.Group(
                bridge: row["bridge"], scan: row["walk"], isListing: false,
                columns: (row["columns"] as String).split(separator: " ").map(String.init),
                firstRun: row["first_run"], lastRun: row["last_run"], location: row["location"])
        }
        return (groups, rows.isEmpty || rows.contains { $0["listed"] as Bool })
    }

    /// Attributes all columns that no other source wrote to the entity's own listing.
    private func addListing(_ layout: EntityLayout, to history: inout RowHistory) {
        guard history.isListed else { return }
        let others = Set(history.groups.flatMap(\.columns))
        let columns = layout.columns.map(\.name).filter { !others.contains($0) }
        guard !columns.isEmpty else { return }
        let entity = model.model.entities[layout.index]
        let family = model.entities[layout.root].kinds
        let own = history.events.filter { event in
            event.kind != "undo" && family.contains(event.change.scan ?? layout.name)
                && (event.change.kind == .loaded || event.change.columns.contains { columns.contains($0.name) })
        }
        history.groups.insert(
            RowHistory.Group(
                bridge: entity.bridge, scan: layout.name, isListing: true, columns: columns,
                firstRun: own.last?.run, lastRun: own.first?.run,
                location: own.first.flatMap { $0.change.kind == .loaded ? nil : $0.change.location }), at: 0)
    }
}

extension RowChange {
    /// Creates the change for the first load of a table.
    init(load record: ChangeRecord) {
        self.init(entity: record.entity, key: [], kind: .loaded)
        (bridge, scan, location) = (record.bridge, record.scan, record.location)
    }
}
