internal import StoreContract
internal import Mapping
internal import Model
internal import RecordBatch

/// The merge of a batch: its rows, then the objects that they refer to, then their links.
extension PageImport {
    /// Merges the objects of a batch, except those of some records.
    ///
    /// A record with a row that the store rejects goes to quarantine.
    ///
    /// - Parameter tombstones: The records of deleted objects.
    /// - Returns: The records that the store rejected.
    func merge(
        _ page: MixedPage, without tombstones: Set<Int>, _ batch: RecordBatch, _ location: String?
    ) throws -> Set<Int> {
        try page.cells.withUnsafeBufferPointer { cells in
            let rows = try rows(of: page, cells, without: tombstones, batch)
            let refused = try merge(rows, batch, location)
            try mergeLinks(of: page, cells, without: tombstones.union(refused))
            if !page.metadata.isEmpty { noteMetadata(of: page, without: tombstones.union(refused)) }
            return refused
        }
    }

    /// Returns the rows of a batch except those of some records, and updates the watermark from all records.
    private func rows(
        of page: MixedPage, _ cells: UnsafeBufferPointer<Cell>, without tombstones: Set<Int>, _ batch: RecordBatch
    ) throws -> [PageRow] {
        var rows: [PageRow] = []
        rows.reserveCapacity(page.rows.count)
        var record = -1
        let watched = origin.watched?.field
        var (entity, width, role) = (-1, 0, RowRole.nested)
        for row in page.rows {
            if row.entity != entity {
                entity = row.entity
                (width, role) = (model.entities[entity].fields.count, roleOfRecords(of: entity))
            }
            let own = UnsafeBufferPointer(rebasing: cells[row.firstCell..<row.firstCell + width])
            // A record's own row precedes the rows nested in it.
            let isTop = row.record != record
            record = row.record
            if isTop, let watched { note(own, watched, batch[record]) }
            if !tombstones.isEmpty, tombstones.contains(record) { continue }
            // A copy has what its record says of the object, and the listing of its entity may say otherwise.
            let listing = isTop || row.isReference ? nil : try listing(of: row.entity)
            rows.append(
                PageRow(
                    entity: row.entity, cells: own, record: record,
                    role: row.isReference ? .reference : isTop ? role : .nested, listing: listing))
        }
        return rows
    }

    /// Returns how the page's records of an entity appear: in the listing that says which of its objects are gone, or in
    /// another one of its family.
    private func roleOfRecords(of entity: Int) -> RowRole {
        guard scan.isListing else { return .nested }
        if entity == scan.entity { return .listed }
        if let known = rolesOfRecords[entity] { return known }
        let role: RowRole = model.listings(of: entity).last == scan.entity ? .listed : .listedElsewhere
        rolesOfRecords[entity] = role
        return role
    }

    /// Returns what an entity's own listing brings; nil if it has none, or has not been scanned yet.
    private func listing(of entity: Int) throws -> ListingContent? {
        if let known = listings[entity] { return known }
        var members: Set<ListedMember> = []
        if !model.entities[entity].key.isEmpty {
            for listing in model.listings(of: entity) {
                members.formUnion(try transaction.members(ofListing: listing))
            }
        }
        let content = members.isEmpty ? nil : model.content(of: entity, listed: members)
        listings[entity] = .some(content)
        return content
    }

    private func cells(of row: MixedPage.Row, in cells: UnsafeBufferPointer<Cell>) -> UnsafeBufferPointer<Cell> {
        UnsafeBufferPointer(
            rebasing: cells[row.firstCell..<row.firstCell + model.entities[row.entity].fields.count])
    }

    /// Updates the watermark from a record's own row.
    private func note(_ cells: UnsafeBufferPointer<Cell>, _ watched: WatchedField, _ record: BatchValue) {
        guard let value = cells[watched.field].value, value != .null else { return }
        if let last, Watermark.isNewer(value, than: last) { rises = true }
        last = value
        watermark?.note(value) { watched.remoteText(in: record) ?? value.description }
    }

    /// Merges rows, and then ensures that the objects exist to which the written ones refer.
    ///
    /// - Returns: The records that the store rejected, which are now in quarantine.
    private func merge(_ rows: [PageRow], _ batch: RecordBatch, _ location: String?) throws -> Set<Int> {
        guard !rows.isEmpty else { return [] }
        var refused: Set<Int> = []
        // The targets of an unchanged object were ensured when that object was written.
        var written: [Int] = []
        // Checked for each row that is written.
        let keepsInsertions = insertionLimit > 0
        let mayBeLate = origin.known != nil
        var inserted = 0
        var last: (entity: Int, refers: Bool)?
        defer { counts[rows[0].entity].inserted += inserted }
        try transaction.merge(rows) { index, result in
            let row = rows[index]
            switch result {
            case .failure(let error):
                // A record's own row precedes the rows nested in it.
                let own = rows[...index].lastIndex { $0.record != row.record }.map { $0 + 1 } ?? 0
                try refuse(row, of: key(of: rows[own]), batch, location, because: error)
                refused.insert(row.record)
                return
            case .success(.inserted) where row.role == .reference: counts[row.entity].stubs += 1
            case .success(.inserted):
                if row.entity == rows[0].entity { inserted += 1 } else { counts[row.entity].inserted += 1 }
                if keepsInsertions, insertions.count < insertionLimit {
                    insertions.append((row.entity, key(of: row)))
                }
            case .success(.updated): counts[row.entity].updated += 1
            case .success(.unchanged):
                if row.role != .reference { counts[row.entity].unchanged += 1 }
                return
            }
            let isTop = index == 0 || rows[index - 1].record != row.record
            if mayBeLate, isTop, isLate(row.cells) { lateRecords += 1 }
            if last?.entity != row.entity { last = (row.entity, !model.entities[row.entity].toOne.isEmpty) }
            if last?.refers == true { written.append(index) }
        }
        // Deferred, so that an object of the same batch does not become a stub first.
        try ensureTargets(of: written, in: rows)
        return refused
    }

    private func key(of row: PageRow) -> [StoredValue] {
        model.entities[row.entity].key.map { row.cells[$0].value ?? .null }
    }

    private func isLate(_ cells: UnsafeBufferPointer<Cell>) -> Bool {
        guard let known = origin.known, let watched = origin.watched?.field else { return false }
        return cells[watched.field].value.map { !Watermark.isNewer($0, than: known) } ?? true
    }

    /// Quarantines a record with a row that the store rejects.
    ///
    /// The record's earlier rows stay.
    ///
    /// - Parameter own: The key of the record's own object.
    private func refuse(
        _ row: PageRow, of own: [StoredValue], _ batch: RecordBatch, _ location: String?, because error: StoreError
    ) throws {
        let name = model.entities[row.entity].name
        let key = key(of: row)
        let words = "\(name) \(key.map(\.description).joined(separator: ", "))"
        let reason = "\(words): \(error.description)"
        refusal = reason
        try quarantine(
            record: recordsBefore + row.record, reason: reason,
            representation: batch[row.record].json, location: location, key: own)
        // The object may exist with its earlier values.
        if key.isEmpty {
            try transaction.skipUnknown()
        } else {
            try transaction.markSkipped(entity: row.entity, key: key)
        }
    }

    private func ensureTargets(of written: [Int], in rows: [PageRow]) throws {
        var targets: [PageReference] = []
        for index in written {
            let row = rows[index]
            for relationship in model.entities[row.entity].toOne {
                let fields = relationship.firstField..<relationship.firstField + relationship.fieldCount
                let key = UnsafeBufferPointer(rebasing: row.cells[fields])
                guard key.allSatisfy({ $0.kind != .absent && $0.kind != .null }),
                    references.isNew(entity: relationship.target, key)
                else { continue }
                targets.append(PageReference(entity: relationship.target, key: key))
            }
        }
        guard !targets.isEmpty else { return }
        try transaction.ensure(targets) { counts[targets[$0].entity].stubs += 1 }
    }

    private func mergeLinks(
        of page: MixedPage, _ cells: UnsafeBufferPointer<Cell>, without left: Set<Int>
    ) throws {
        guard !page.links.isEmpty else { return }
        try page.linkCells.withUnsafeBufferPointer { targets in
            var lists: [PageLinks] = []
            for link in page.links {
                let row = page.rows[link.row]
                if !left.isEmpty, left.contains(row.record) { continue }
                let toMany = model.entities[row.entity].toMany[link.relationship]
                let isCopy = link.row > 0 && page.rows[link.row - 1].record == row.record && !row.isReference
                let yields = try isCopy && listing(of: row.entity)?.lists.contains(link.relationship) == true
                let end = link.firstCell + link.count * model.entities[toMany.target].key.count
                lists.append(
                    PageLinks(
                        entity: row.entity, relationship: link.relationship, owner: self.cells(of: row, in: cells),
                        targets: UnsafeBufferPointer(rebasing: targets[link.firstCell..<end]), yieldsToListing: yields))
            }
            try transaction.mergeLinks(lists) { counts[lists[$0].entity].relinked += 1 }
        }
    }
}
