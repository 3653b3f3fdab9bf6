internal import Mapping
internal import StoreContract
internal import StoreRules

/// The bookkeeping of scans.
extension MemoryTables {
    func cursor(of scope: WalkScope) -> WalkCursor? { state.cursors[scope]?.cursor }

    func setCursor(_ cursor: WalkCursor, of scope: WalkScope) { state.cursors[scope] = (cursor, Clock.now()) }

    func savedScan(of scope: WalkScope) -> SavedScan? {
        guard let saved = state.scans[scope], saved.schemaVersion == state.schemaVersion else { return nil }
        return saved.scan
    }

    func setSavedScan(_ scan: SavedScan?, of scope: WalkScope) {
        state.scans[scope] = scan.map { ($0, state.schemaVersion) }
    }

    func forgetScans(of entity: String, parent: String?) {
        func isLeft(_ scope: WalkScope) -> Bool {
            scope.entity != entity || (parent != nil && scope.parent != parent)
        }
        state.cursors = state.cursors.filter { isLeft($0.key) }
        state.scans = state.scans.filter { isLeft($0.key) }
    }

    func origin(of entity: String) -> String? { state.origins[entity] }

    func setOrigin(_ origin: String, of entity: String) { state.origins[entity] = origin }

    func addOrphan(_ orphan: RowReference, walk: String) {
        let known = state.orphans[walk, default: []]
        guard !known.contains(where: { $0.root == name(orphan.root) && $0.key == orphan.key }) else { return }
        state.orphans[walk, default: []].append((name(orphan.root), orphan.key))
    }

    func takeOrphans(walk: String) -> [RowReference] {
        (state.orphans.removeValue(forKey: walk) ?? []).compactMap { orphan in
            model.index(of: orphan.root).map { RowReference(root: $0, key: orphan.key) }
        }
    }

    func renameOrphans(_ root: Int, from old: RowKey, to new: RowKey) {
        for walk in state.orphans.keys {
            for (index, orphan) in (state.orphans[walk] ?? []).enumerated()
            where orphan.root == name(root) && orphan.key == old {
                state.orphans[walk]?[index].key = new
            }
        }
    }
}
