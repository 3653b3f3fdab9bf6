internal import Mapping
internal import Model
internal import StoreContract

/// The handling of records whose objects have edits that the remote accepted after the scan began; see ``RecordAge``.
extension EditMerge {
    /// Returns the edits of an object that the remote accepted since the open page's scan began.
    func takenSince(_ root: Int, _ key: [StoredValue]) throws -> [OutboxEntry] {
        guard let scanBegan else { return [] }
        return try tables.acknowledged.acknowledged(root, key, after: scanBegan)
    }

    /// Returns the age of a record in the open page.
    func age(of cells: [Cell], _ layout: EntityLayout, _ key: [StoredValue]) throws -> RecordAge {
        let age = RecordAge(of: cells, layout, since: try takenSince(layout.index, key))
        guard age == .outdated else { return age }
        // Without the row, an outdated page cannot revert anything.
        guard try objects.row(layout.index, key) != nil, try !isNewerByItself(cells, layout, key) else {
            return .current
        }
        outdated[layout.index, default: []].insert(key)
        return .outdated
    }

    /// Returns whether a record has a newer time or version than the row, which means that the values were set back
    /// since.
    private func isNewerByItself(_ cells: [Cell], _ layout: EntityLayout, _ key: [StoredValue]) throws -> Bool {
        guard case .field(let attribute, _, _)? = model.model.entities[layout.index].incremental,
            let field = layout.fields.firstIndex(where: { $0.name == attribute }), let remote = cells[field].value
        else { return false }
        let here = try objects.row(layout.index, key)?[field]
        return Watermark.isNewer(remote, than: here)
    }

    /// Returns the cells of a record that says only that the object exists.
    func onlyKey(_ cells: [Cell], _ layout: EntityLayout) -> [Cell] {
        let kept = Set(layout.key + [layout.discriminator].compactMap { $0 })
        return cells.enumerated().map { kept.contains($0) ? $1 : .absent }
    }

    /// Whether the cells say more of an object than that it exists.
    func saysMoreThanKey(_ cells: [Cell], _ layout: EntityLayout) -> Bool {
        cells.indices.contains { index in
            cells[index].kind != .absent && index != layout.discriminator && !layout.key.contains(index)
        }
    }

    /// Returns whether a remote's list is from before the object's edits.
    func isOutdated(_ toMany: EntityLayout.ToMany, _ root: Int, _ key: [StoredValue], _ remote: [[StoredValue]])
        throws -> Bool
    {
        RecordAge.isOutdated(
            remote, toMany, since: try takenSince(root, key),
            isRecordOutdated: outdated[root]?.contains(key) == true)
    }
}
