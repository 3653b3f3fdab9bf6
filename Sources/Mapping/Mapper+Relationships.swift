internal import RecordBatch

/// Maps relationship values to rows of other entities, links to these rows, and references by key.
extension Mapper {
    func follow(
        _ pending: Pending, from row: Int, _ layout: EntityLayout, record: Int, in batch: RecordBatch,
        _ page: MixedPage
    ) throws(Rejection) {
        switch pending.binding {
        case .attribute, .part, .metadata: break
        case .toOne(let index):
            try followOne(layout.toOne[index], pending, from: row, layout, record: record, in: batch, page)
        case .toMany(let index):
            try followMany(index, pending, from: row, layout, record: record, in: batch, page)
        }
    }

    private func followOne(
        _ relationship: EntityLayout.ToOne, _ pending: Pending, from row: Int, _ layout: EntityLayout, record: Int,
        in batch: RecordBatch, _ page: MixedPage
    ) throws(Rejection) {
        let name = "\(layout.name).\(relationship.name)"
        guard pending.values.count <= 1 else {
            throw Rejection(reason: "\(name): a list of \(pending.values.count) for a relationship to one")
        }
        let first = page.rows[row].firstCell + relationship.firstField
        guard let value = pending.values.first, value.tag != .null else {
            for offset in 0..<relationship.fieldCount { page.cells[first + offset] = .null }
            return
        }
        let target = model.entities[relationship.target]
        if value.tag == .object {
            if readsMetadata { trail.append(relationship.name) }
            defer { if readsMetadata { trail.removeLast() } }
            let nested = try mapObject(
                value, as: relationship.target, record: record, parent: nil, in: batch, page)
            for (offset, field) in target.key.enumerated() {
                page.cells[first + offset] = page.cells[page.rows[nested].firstCell + field]
            }
        } else {
            page.cells[first] = try bareKey(value, of: target, name, page)
        }
    }

    private func followMany(
        _ index: Int, _ pending: Pending, from row: Int, _ layout: EntityLayout, record: Int, in batch: RecordBatch,
        _ page: MixedPage
    ) throws(Rejection) {
        let relationship = layout.toMany[index]
        let target = model.entities[relationship.target]
        let name = "\(layout.name).\(relationship.name)"
        var parent: Parent?
        if case .inverse(let toOne) = relationship.storage {
            parent = Parent(toOne: target.toOne[toOne], row: row, key: layout.key)
        }
        if readsMetadata { trail.append(relationship.name) }
        defer { if readsMetadata { trail.removeLast() } }
        var keys: [Cell] = []
        for (place, value) in pending.values.enumerated() where value.tag != .null {
            let child: Int
            if value.tag == .object {
                child = try mapObject(
                    value, as: relationship.target, record: record, parent: parent, index: place, in: batch, page)
            } else {
                let cell = try bareKey(value, of: target, name, page)
                child = appendRow(target, record: record, isReference: true, page)
                page.cells[page.rows[child].firstCell + target.key[0]] = cell
                if let parent { copyKey(of: parent, to: page.rows[child].firstCell, page) }
            }
            for field in target.key { keys.append(page.cells[page.rows[child].firstCell + field]) }
        }
        page.links.append(
            MixedPage.Link(
                row: row, relationship: index, firstCell: page.linkCells.count, count: keys.count / target.key.count))
        page.linkCells.append(contentsOf: keys)
    }

    /// Returns the key cell of a reference by key, converted like the target's key attribute.
    private func bareKey(
        _ value: BatchValue, of target: EntityLayout, _ name: String, _ page: MixedPage
    ) throws(Rejection) -> Cell {
        guard target.key.count == 1 else {
            throw Rejection(
                reason: "\(name): \(RemoteScalar(value).shown) cannot name a \(target.name), whose key has "
                    + "\(target.key.count) attributes; an object can")
        }
        let cell: Cell
        do {
            cell = try model.plans[target.index].converters[target.key[0]].convert(value, page.arena)
        } catch {
            throw Rejection(reason: "\(name): \(error.reason)")
        }
        guard cell.kind != .null else {
            throw Rejection(reason: "\(name): \(RemoteScalar(value).shown) is not a key of \(target.name)")
        }
        return cell
    }
}
