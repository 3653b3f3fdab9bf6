internal import Mapping
internal import Model
internal import StoreContract

/// The handling of records whose objects have edits that the remote accepted after the scan began.
///
/// A page requested earlier contains the old state of the object. The record shows this if it still has a value from
/// before an edit. For a deleted object, every record is outdated.
extension EditMerge {
    /// The age of a record in the open page.
    enum Age {
        case current
        /// The record is from before an edit.
        case outdated
        /// The record is from before the object was deleted.
        case deleted
    }

    /// Returns the edits of an object that the remote accepted since the open page's scan began.
    func takenSince(_ root: Int, _ key: [StoredValue]) throws -> [OutboxEntry] {
        guard let scanBegan else { return [] }
        return try tables.acknowledged(root, key, after: scanBegan)
    }

    /// Returns the age of a record.
    func age(of cells: [Cell], _ layout: EntityLayout, _ key: [StoredValue]) throws -> Age {
        let entries = try takenSince(layout.index, key)
        guard let last = entries.last else { return .current }
        if last.operation == .delete { return .deleted }
        let now = Dictionary(
            entries.flatMap(\.changes).compactMap { change in change.new.map { (change.name, $0) } },
            uniquingKeysWith: { $1 })
        let isOutdated = entries.flatMap(\.changes).contains { change in
            guard let old = change.old, let index = layout.fields.firstIndex(where: { $0.name == change.name }),
                let remote = cells[index].value, !cells[index].isFallback
            else { return false }
            let type = layout.fields[index].type
            return remote.isSame(as: old, type) && now[change.name]?.isSame(as: remote, type) != true
        }
        // Without the row, an outdated page cannot revert anything.
        guard isOutdated, try tables.row(layout.index, key) != nil,
            try !isNewerByItself(cells, layout, key)
        else { return .current }
        outdated[layout.index, default: []].insert(key)
        return .outdated
    }

    /// Returns whether a record has a newer time or version than the row, which means that the values were set back
    /// since.
    private func isNewerByItself(_ cells: [Cell], _ layout: EntityLayout, _ key: [StoredValue]) throws -> Bool {
        guard case .field(let attribute, _)? = model.model.entities[layout.index].incremental,
            let field = layout.fields.firstIndex(where: { $0.name == attribute }), let remote = cells[field].value
        else { return false }
        let here = try tables.row(layout.index, key)?[field]
        return Watermark.isNewer(remote, than: here)
    }

    /// Returns the cells of a record that says only that the object exists.
    func onlyKey(_ cells: [Cell], _ layout: EntityLayout) -> [Cell] {
        let kept = Set(layout.key + [layout.discriminator].compactMap { $0 })
        return cells.enumerated().map { kept.contains($0) ? $1 : .absent }
    }

    /// Returns whether a remote's list is from before the object's edits.
    func isOutdated(_ toMany: EntityLayout.ToMany, _ root: Int, _ key: [StoredValue], _ remote: [[StoredValue]])
        throws -> Bool
    {
        let entries = try takenSince(root, key)
        guard let last = entries.last else { return false }
        if last.operation == .delete || outdated[root]?.contains(key) == true { return true }
        let edits = entries.flatMap(\.links).filter { $0.relationship == toMany.name }
        func same(_ left: [[StoredValue]], _ right: [[StoredValue]]) -> Bool {
            toMany.isOrdered ? left == right : Set(left) == Set(right)
        }
        guard let now = edits.last?.new, !same(now, remote) else { return false }
        return edits.contains { same($0.old, remote) }
    }
}
