package import Mapping

/// The age of a record, if the remote accepted edits of its object after the record's scan began.
///
/// A page requested earlier contains the old state of the object. The record shows this if it still has a value from
/// before an edit. For a deleted object, every record is outdated.
package enum RecordAge {
    case current
    /// The record has a value from before an edit.
    case outdated
    /// The record is from before the object was deleted.
    case deleted

    /// Compares a record with the edits.
    ///
    /// - Parameters:
    ///   - cells: The record's cells, one per field of the layout.
    ///   - layout: The layout of the object's table.
    ///   - accepted: The edits of the object that the remote accepted since the scan began, in order.
    package init(of cells: [Cell], _ layout: EntityLayout, since accepted: [OutboxEntry]) {
        guard let last = accepted.last else {
            self = .current
            return
        }
        guard last.operation != .delete else {
            self = .deleted
            return
        }
        let changes = accepted.flatMap(\.changes)
        let now = Dictionary(
            changes.compactMap { change in change.new.map { (change.name, $0) } }, uniquingKeysWith: { $1 })
        let isOutdated = changes.contains { change in
            guard let old = change.old, let index = layout.fields.firstIndex(where: { $0.name == change.name }),
                let remote = cells[index].value, !cells[index].isFallback
            else { return false }
            let type = layout.fields[index].type
            return remote.isSame(as: old, type) && now[change.name]?.isSame(as: remote, type) != true
        }
        self = isOutdated ? .outdated : .current
    }

    /// Returns whether a remote's list is from before the edits.
    ///
    /// - Parameters:
    ///   - remote: The list.
    ///   - toMany: The relationship.
    ///   - accepted: The edits of the owner that the remote accepted since the scan began, in order.
    ///   - isRecordOutdated: Whether the record with the list is known to be outdated.
    package static func isOutdated(
        _ remote: [[StoredValue]], _ toMany: EntityLayout.ToMany, since accepted: [OutboxEntry],
        isRecordOutdated: Bool
    ) -> Bool {
        guard let last = accepted.last else { return false }
        if last.operation == .delete || isRecordOutdated { return true }
        let edits = accepted.flatMap(\.links).filter { $0.relationship == toMany.name }
        guard let now = edits.last?.new, !toMany.isSame(now, remote) else { return false }
        return edits.contains { toMany.isSame($0.old, remote) }
    }
}
