internal import Mapping
internal import StoreContract

/// The replies of the remote to edits.
extension EditMerge {
    /// Removes an entry that the remote accepted, inside the page that imports its reply; does nothing if the entry is
    /// gone.
    ///
    /// - Parameters:
    ///   - key: The key that the remote assigned to the object, or nil if it is the local one. For a temporary key it is
    ///     never nil: the remote may assign the same value.
    ///   - isScanned: Whether scans that return the earlier state may be in progress.
    package func acknowledge(_ id: Int64, key: RowKey?, isScanned: Bool) throws {
        guard let entry = try outbox.entry(id), let root = model.root(of: entry) else { return }
        guard entry.operation != .create || !entry.hasTemporaryKey || key != nil else {
            throw StoreError(
                .request, "the remote did not say which key \(entry.entity) \(JSONText.key(entry.key).string) has now",
                remedy: "check what the configuration says about the key in the reply")
        }
        try outbox.removeEntry(entry)
        if isScanned {
            try tables.acknowledged.addAcknowledged(entry, root: root, key: key ?? entry.key)
        } else if entry.operation == .create {
            // The scans that begin later look for the new object, and none before them. They compare none of its values.
            var created = entry
            (created.changes, created.links) = ([], [])
            try tables.acknowledged.addAcknowledged(created, root: root, key: key ?? entry.key)
        }
        let hasMore = try !outbox.entries(root, entry.key).isEmpty
        if !hasMore { try conflicts.removeConflicts(root, entry.key) }
        if entry.operation == .delete {
            guard !hasMore else { return }
            // The row that remained as a stub for its children is deleted with them.
            try objects.remove(entity: root, key: entry.key)
            return
        }
        var now = entry.key
        if let key, key != entry.key {
            now = key
            // The remote's key may be one that another new object has here for now.
            if let first = try outbox.entries(root, key).first, first.operation == .create, first.hasTemporaryKey {
                try evade(model.entities[root], key)
            }
            try KeyRename(tables).rename(root, entry.key, to: key)
        } else if entry.hasTemporaryKey {
            try outbox.renameEntries(root, from: now, to: now, isTemporary: false)
        }
        if try !outbox.entries(root, now).isEmpty { answered[root, default: [:]][now] = AnsweredEdit(entry) }
        if entry.operation == .create { try objects.noteCreated(root, now) }
    }
}
