internal import StoreContract
internal import Mapping

extension Writers {
    /// Removes an entry that the remote accepted, inside the page that imports its reply; does nothing if the entry is
    /// gone.
    ///
    /// - Parameters:
    ///   - key: The key that the remote assigned to the object, if it differs from the local one.
    ///   - isWalked: Whether scans that return the earlier state may be in progress.
    /// - Returns: The roots of the entities whose rows changed.
    func acknowledge(_ id: Int64, key: [StoredValue]?, isScanned: Bool) throws -> Set<Int> {
        guard let entry = try outbox.entry(id), let root = outbox.root(of: entry) else { return [] }
        guard entry.operation != .create || !entry.hasTemporaryKey || key != nil else {
            throw StoreError(
                .request, "the remote did not say which key \(entry.entity) \(JSONText.key(entry.key).string) has now",
                remedy: "check what the configuration says about the key in the reply")
        }
        try outbox.remove(entry, root: root)
        if isScanned { try acknowledged.add(entry, root: root, key: key ?? entry.key) }
        let hasMore = outbox.hasEdits(root, entry.key)
        if !hasMore { try conflicts.remove(root, entry.key) }
        var touched: Set<Int> = []
        if entry.operation == .delete {
            guard !hasMore else { return [] }
            // The row that remained as a stub for its children is deleted with them.
            return Set(try remover.remove(entity: root, key: entry.key).keys)
        }
        var now = entry.key
        if let key, key != entry.key {
            now = key
            touched = try keyRename.rename(root, entry.key, to: key)
        }
        if outbox.hasEdits(root, now) { edits.noteAnswer(root, now) }
        if entry.operation == .create { try provenance.noteCreated(model.entities[root], .key(now)) }
        return touched
    }
}
