internal import Mapping
internal import StoreContract

/// The replies of the remote to edits.
extension EditMerge {
    /// Notes that the open page contains the remote's reply to an edit of this object.
    private func noteAnswer(_ root: Int, _ key: RowKey) { answered[root, default: []].insert(key) }

    /// Removes an entry that the remote accepted, inside the page that imports its reply; does nothing if the entry is
    /// gone.
    ///
    /// - Parameters:
    ///   - key: The key that the remote assigned to the object, if it differs from the local one.
    ///   - isWalked: Whether scans that return the earlier state may be in progress.
    package func acknowledge(_ id: Int64, key: RowKey?, isScanned: Bool) throws {
        guard let entry = try outbox.entry(id), let root = outbox.root(of: entry) else { return }
        guard entry.operation != .create || !entry.hasTemporaryKey || key != nil else {
            throw StoreError(
                .request, "the remote did not say which key \(entry.entity) \(JSONText.key(entry.key).string) has now",
                remedy: "check what the configuration says about the key in the reply")
        }
        try outbox.remove(entry)
        if isScanned { try tables.addAcknowledged(entry, root: root, key: key ?? entry.key) }
        let hasMore = try outbox.hasEdits(root, entry.key)
        if !hasMore { try conflicts.remove(root, entry.key) }
        if entry.operation == .delete {
            guard !hasMore else { return }
            // The row that remained as a stub for its children is deleted with them.
            _ = try writer.remove(entity: root, key: entry.key)
            return
        }
        var now = entry.key
        if let key, key != entry.key {
            now = key
            try KeyRename(writer).rename(root, entry.key, to: key)
        }
        if try outbox.hasEdits(root, now) { noteAnswer(root, now) }
        if entry.operation == .create { try noteCreated(root, now) }
    }

    /// Notes that an object created locally is now on the remote; a listing that began earlier may lack it.
    private func noteCreated(_ root: Int, _ key: RowKey) throws {
        guard try tables.provenance(root, key).isEmpty else { return }
        let run = try writer.runIDIfAny()
        try tables.setProvenance(
            root, key,
            [
                ProvenanceRecord(
                    bridge: writer.source?.bridge ?? "", scan: writer.source?.scan ?? "", columns: [], firstRun: run,
                    lastRun: run, location: writer.source?.location, isListed: false)
            ])
    }
}
