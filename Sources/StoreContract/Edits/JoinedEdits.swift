internal import Mapping

/// The pending edits of two rows that prove to be one object: a row created locally, and the row that a sync imported
/// before the remote's reply to the create arrived.
///
/// The newest edit of a column or list decides its value in the joined row. Each later edit of a column is based on
/// the value of the one before it.
package struct JoinedEdits {
    /// The columns whose value in the joined row is that of the row created locally.
    package let localColumns: Set<String>
    /// The to-many relationships whose list in the joined row is that of the row created locally.
    package let localLists: Set<String>
    /// The entries whose base values changed.
    package let rebased: [OutboxEntry]

    /// Joins the edits of two rows.
    ///
    /// - Parameters:
    ///   - local: The entries of the row created locally.
    ///   - imported: The entries of the imported row.
    package init(_ local: [OutboxEntry], _ imported: [OutboxEntry]) {
        let isLocal = Set(local.map(\.id))
        var columns: [String: (value: StoredValue, isLocal: Bool)] = [:]
        var lists: [String: (keys: [[StoredValue]], isLocal: Bool)] = [:]
        var rebased: [OutboxEntry] = []
        for original in (local + imported).sorted(by: { $0.id < $1.id }) {
            var entry = original
            for (index, change) in entry.changes.enumerated() {
                if let before = columns[change.name] { entry.changes[index].old = before.value }
                columns[change.name] = (change.new ?? .null, isLocal.contains(entry.id))
            }
            for (index, link) in entry.links.enumerated() {
                if let before = lists[link.relationship] { entry.links[index].old = before.keys }
                lists[link.relationship] = (link.new, isLocal.contains(entry.id))
            }
            if entry != original, entry.operation == .update, entry.takesEdits { rebased.append(entry) }
        }
        localColumns = Set(columns.filter(\.value.isLocal).keys)
        localLists = Set(lists.filter(\.value.isLocal).keys)
        self.rebased = rebased
    }
}
