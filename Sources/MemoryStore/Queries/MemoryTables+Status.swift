internal import Mapping
internal import StoreContract
internal import StoreRules

/// The status of the entities.
extension MemoryTables {
    func rowCount(of layout: EntityLayout) throws -> Int {
        let filter = try RowFilter(layout)
        var rows = 0
        try forEachRow(of: layout.root) { _, key, values in
            if filter.contains(values), !isStub(layout.root, key) { rows += 1 }
        }
        return rows
    }

    func stubCount(of layout: EntityLayout) -> Int {
        layout.index == layout.root ? stubs(of: layout.index).count : 0
    }

    func lastRun(changing entity: String) -> (id: Int64, started: String?)? {
        guard let id = state.changes.last(where: { $0.entity == entity })?.run else { return nil }
        return (id, state.runs.last { $0.id == id }?.started)
    }

    func interruptedScan(of entity: String) -> EntityStatus.Scan? {
        state.scans.filter { $0.key.entity == entity }.map(\.value.scan).max { $0.saved < $1.saved }
            .map { EntityStatus.Scan(page: $0.progress.page, saved: $0.saved) }
    }

    func cursors(of entity: String) -> [SourceCursors] {
        SourceCursors.summarize(
            state.cursors.filter { $0.key.entity == entity }.map { scope, saved in
                SourceCursors(
                    source: scope.source, count: 1, newest: saved.cursor.newest?.local,
                    hasToken: saved.cursor.token != nil, saved: saved.saved, full: saved.cursor.fullAt)
            })
    }
}
