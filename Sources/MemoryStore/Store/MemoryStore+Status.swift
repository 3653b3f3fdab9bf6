internal import Mapping
internal import StoreContract
internal import StoreRules

/// The status of the entities.
extension MemoryStore {
    /// Returns the status of each entity of the model.
    func status() throws -> [EntityStatus] {
        try read { tables in try model.entities.map { layout in try status(of: layout, tables) } }
    }

    private func status(of layout: EntityLayout, _ tables: MemoryTables) throws -> EntityStatus {
        let state = tables.state
        let filter = try RowFilter(layout)
        var rows = 0
        try tables.forEachRow(of: layout.root) { _, key, values in
            if filter.contains(values), !tables.isStub(layout.root, key) { rows += 1 }
        }
        let lastRun = state.changes.last { $0.entity == layout.name }?.run
        let interrupted = state.scans.filter { $0.key.entity == layout.name }.map(\.value.scan)
            .max { $0.saved < $1.saved }
        return EntityStatus(
            name: layout.name, rows: rows,
            stubs: layout.index == layout.root ? tables.stubs(of: layout.index).count : 0,
            quarantined: state.quarantine.count { $0.record.entity == layout.name }, lastRun: lastRun,
            lastChanged: state.runs.last { $0.id == lastRun }?.started,
            interrupted: interrupted.map { EntityStatus.Scan(page: $0.progress.page, saved: $0.saved) },
            cursors: cursors(of: layout.name, state))
    }

    private func cursors(of entity: String, _ state: DatabaseState) -> [String] {
        let own = state.cursors.filter { $0.key.entity == entity }
        return Dictionary(grouping: own, by: \.key.source).sorted { $0.key < $1.key }.map { source, cursors in
            EntityStatus.line(
                ofScan: source, cursors: cursors.count,
                newest: cursors.compactMap(\.value.cursor.newest?.local).max { ValueOrder.compare($0, $1) < 0 },
                hasToken: cursors.contains { $0.value.cursor.token != nil },
                saved: cursors.map(\.value.saved).max(), full: cursors.map(\.value.cursor.fullAt).max())
        }
    }
}
