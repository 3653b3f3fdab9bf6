internal import Mapping
internal import StoreContract
internal import StoreRules

/// The bookkeeping of scans.
extension MemoryTables {
    func cursor(of scope: ScanScope) -> ScanCursor? { state.cursors[scope]?.cursor }

    func setCursor(_ cursor: ScanCursor, of scope: ScanScope) { state.cursors[scope] = (cursor, Clock.now()) }

    func forgetStates(ofParents parents: [String], in scan: ScanScope) {
        for parent in parents {
            let scope = ScanScope(entity: scan.entity, source: scan.source, parent: parent)
            guard var known = state.cursors[scope] else { continue }
            known.cursor.request = known.cursor.ownRequest
            state.cursors[scope] = known
        }
    }

    func savedScan(of scope: ScanScope) -> SavedScan? {
        guard let saved = state.scans[scope], saved.schemaVersion == state.schemaVersion else { return nil }
        return saved.scan
    }

    func savedProgress(of scopes: [ScanScope]) -> [SavedProgress?] {
        scopes.map { savedScan(of: $0).map { SavedProgress(progress: $0.progress, saved: $0.saved) } }
    }

    func savedTimes(ofScansOf entities: [String]) -> [String] {
        state.scans.filter { entities.contains($0.key.entity) && $0.key.source.isEmpty }.map(\.value.scan.saved)
    }

    func setSavedScan(_ scan: SavedScan?, of scope: ScanScope) {
        state.scans[scope] = scan.map { ($0, state.schemaVersion) }
    }

    func forgetScans(of entity: String, parent: String?) {
        func isLeft(_ scope: ScanScope) -> Bool {
            scope.entity != entity || parent.map { ExactText(scope.parent) != ExactText($0) } ?? false
        }
        state.cursors = state.cursors.filter { isLeft($0.key) }
        state.scans = state.scans.filter { isLeft($0.key) }
    }

    func forgetCursors(of entity: String, returning: String?) {
        func isForgotten(_ scope: ScanScope) -> Bool {
            scope.entity == entity && (entity != returning || !scope.source.isEmpty && scope.parent.isEmpty)
        }
        state.cursors = state.cursors.filter { !isForgotten($0.key) }
    }

    func origin(of entity: String) -> String? { state.origins[entity] }

    func setOrigin(_ origin: String, of entity: String) { state.origins[entity] = origin }

    func addOrphan(_ orphan: RowReference, scan: String) {
        let known = state.orphans[scan, default: []]
        guard !known.contains(where: { $0.root == name(orphan.root) && $0.key == orphan.key }) else { return }
        state.orphans[scan, default: []].append((name(orphan.root), orphan.key))
    }

    func takeOrphans(scan: String) -> [RowReference] {
        (state.orphans.removeValue(forKey: scan) ?? []).compactMap { orphan in
            model.index(of: orphan.root).map { RowReference(root: $0, key: orphan.key) }
        }
    }

    func renameOrphans(_ root: Int, from old: RowKey, to new: RowKey) {
        for scan in state.orphans.keys {
            for (index, orphan) in (state.orphans[scan] ?? []).enumerated()
            where orphan.root == name(root) && orphan.key == old {
                state.orphans[scan]?[index].key = new
            }
        }
    }
}
