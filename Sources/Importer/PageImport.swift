public import StoreContract
public import Mapping
internal import Model
internal import RecordBatch

/// The import of one page: merges batches in a store transaction, then commits it with the scan's progress or rolls it
/// back.
///
/// Not thread-safe.
public final class PageImport {
    /// The origin of a page.
    public struct Origin: Sendable {
        /// The bridge's name in the configuration.
        public var bridge: String
        /// The page's number in the scan, from 1.
        public var page: Int
        /// The scan that the page belongs to; nil for the listing of the entity's own bridge.
        public var walk: WalkTarget?
        /// The incremental field to track, and its greatest plausible value.
        public var watched: (field: WatchedField, limit: StoredValue?)?
        /// The listing under which the records' members are stored; nil to skip them.
        public var listing: MemberListing?
        /// The watermark of an earlier scan of the same listing: a changed record that is not newer is late.
        public var known: StoredValue?
        /// Removes secrets from the text stored about records, apart from their values.
        public var redaction = Redaction.none

        /// Creates the origin of a page from a bridge.
        public init(bridge: String, page: Int, walk: WalkTarget? = nil) {
            self.bridge = bridge
            self.page = page
            self.walk = walk
        }
    }

    package let model: CompiledModel
    /// The index of the page's entity.
    package let entity: Int
    private let origin: Origin
    private let walk: WalkTarget
    private let transaction: any PageTransaction
    private let policy: DeletePolicy
    private var recordsBefore = 0
    private var references: ReferenceMemory
    /// The counts of the page so far.
    public private(set) var counts: ImportCounts
    /// The newest value of the incremental field on the page.
    public private(set) var newest: Watermark?
    /// The number of values of the incremental field that are beyond the limit.
    public private(set) var valuesBeyondLimit = 0
    /// The remaining quarantine budget; nil for no limit.
    public var quarantineRoom: QuarantineRoom?
    /// The number of bytes of representations sent to quarantine.
    public private(set) var quarantinedBytes = 0
    private var samples: [QuarantinedRecord] = []
    private var sampledBytes = 0
    /// The number of changed records that an earlier scan of the listing should already have returned.
    public private(set) var lateRecords = 0
    /// The number of deletions reported by the remote whose key could not be read; these records are in quarantine.
    public private(set) var badTombstones = 0
    /// The reason for the store's latest rejection of a record; the record is in quarantine.
    public private(set) var refusal: String?
    /// The maximum number of ``insertions`` to keep.
    public var insertionLimit = 0
    /// The inserted objects, up to ``insertionLimit``.
    public private(set) var insertions: [(entity: Int, key: [StoredValue])] = []

    /// Begins a page of `entity`.
    ///
    /// - Throws: ``StoreError`` when the store cannot begin a transaction.
    public init(_ entity: Int, of model: CompiledModel, from origin: Origin, into store: any PageStore) throws {
        self.model = model
        self.entity = entity
        self.origin = origin
        let source = model.model.entities[entity]
        walk = origin.walk ?? WalkTarget(scope: WalkScope(entity: source.name), entity: entity)
        policy = model.model.root(of: source).deletes
        references = ReferenceMemory(entityCount: model.entities.count)
        counts = ImportCounts(entityCount: model.entities.count)
        transaction = try store.beginPage()
        do {
            try transaction.access { try transaction.follow(walk) }
        } catch {
            transaction.rollback()
            throw error
        }
    }

    /// Merges a batch of the page.
    ///
    /// Records that cannot be imported go to quarantine. After an error, call ``rollback()``.
    ///
    /// - Parameters:
    ///   - mapped: The mapped records.
    ///   - location: The URL or path they come from, without secrets.
    public func add(_ mapped: MappedBatch, location: String?) throws {
        let (page, batch) = (mapped.page, mapped.batch)
        try transaction.access {
            try setSource(location)
            for (rejection, key) in zip(page.rejections, mapped.rejectedKeys) {
                try quarantine(
                    record: recordsBefore + rejection.record, reason: rejection.reason,
                    representation: rejection.representation, location: location)
                // The remote still lists the object, so the sweep must not delete it.
                if let key { try transaction.spare(entity: entity, key: key) } else { try transaction.spareUnknown() }
                if walk.isListing, policy.tombstone?.fits(batch[rejection.record]) == true { badTombstones += 1 }
            }
            for field in mapped.unknownFields { try note(field) }
            if let listing = origin.listing, !mapped.members.isEmpty {
                try transaction.noteMembers(mapped.members, of: listing)
            }
            let tombstones = tombstones(of: page, batch)
            let refused = try mergeRows(page, tombstones.records, batch, location)
            try mergeLinks(page, without: tombstones.records.union(refused))
            for tombstone in tombstones.keys { try delete(tombstone.key, of: tombstone.entity) }
        }
        recordsBefore += batch.count
        withExtendedLifetime(mapped) {}
    }

    /// Deletes the objects that the remote reports as deleted.
    ///
    /// The records need only their keys.
    public func delete(_ mapped: MappedBatch, location: String?) throws {
        guard policy.mode != .ignore, walk.isListing else { return }
        let page = mapped.page
        try transaction.access {
            try setSource(location)
            badTombstones += page.rejections.count
            for rejection in page.rejections {
                try quarantine(
                    record: nil, reason: "a deleted object: \(rejection.reason)",
                    representation: rejection.representation, location: location)
            }
            for field in mapped.unknownFields { try note(field) }
            var record = -1
            for row in page.rows where row.record != record {
                record = row.record
                try delete(key(of: row, page), of: row.entity)
            }
        }
        withExtendedLifetime(mapped) {}
    }

    /// Marks a local edit as done.
    ///
    /// The rest of the page is the remote's reply to it.
    ///
    /// - Parameters:
    ///   - entry: The number of the outbox entry.
    ///   - key: The key that the remote assigned, if it differs from the local one.
    package func acknowledge(_ entry: Int64, key: [StoredValue]?) throws {
        try transaction.access { try transaction.acknowledge(entry, key: key) }
    }

    /// Marks objects that the scan skipped as seen.
    ///
    /// Nil means that they are unknown, so that no row counts as missing.
    public func spare(_ rows: [SparedRows]?) throws {
        try transaction.access {
            if let rows { try transaction.spare(rows) } else { try transaction.spareUnknown() }
        }
    }

    private func setSource(_ location: String?) throws {
        try transaction.setSource(
            PageSource(bridge: origin.bridge, walk: model.entities[entity].name, location: location))
    }

    private func key(of row: MixedPage.Row, _ page: MixedPage) -> [StoredValue] {
        model.entities[row.entity].key.map { page.cells[row.firstCell + $0].value ?? .null }
    }

    private func delete(_ key: [StoredValue], of entity: Int) throws {
        for (entity, count) in try transaction.delete(entity: entity, key: key) { counts[entity].deleted += count }
    }

    /// Returns the tombstone records, and the keys of their objects.
    ///
    /// If a batch has several records of one object, the last one counts: the object may have been restored.
    private func tombstones(
        of page: MixedPage, _ batch: RecordBatch
    ) -> (records: Set<Int>, keys: [(entity: Int, key: [StoredValue])]) {
        guard walk.isListing, let matcher = policy.tombstone else { return ([], []) }
        let records = Set((0..<batch.count).filter { matcher.fits(batch[$0]) })
        guard !records.isEmpty else { return ([], []) }
        var last: [[StoredValue]: (entity: Int, isGone: Bool)] = [:]
        var order: [[StoredValue]] = []
        var record = -1
        for row in page.rows where row.record != record {
            record = row.record
            let key = key(of: row, page)
            if last.updateValue((row.entity, records.contains(record)), forKey: key) == nil { order.append(key) }
        }
        guard policy.mode != .ignore else { return (records, []) }
        return (records, order.compactMap { key in last[key].flatMap { $0.isGone ? ($0.entity, key) : nil } })
    }

    /// Quarantines a record that the bridge could not represent.
    public func reject(record: Int?, reason: String, representation: String, location: String?) throws {
        try transaction.access {
            try quarantine(record: record, reason: reason, representation: representation, location: location)
            try transaction.spareUnknown()
        }
    }

    /// Returns the number of rows listed so far in the scan; nil if the store does not log them.
    public func listedRows() throws -> ListedRows? {
        var rows: ListedRows?
        try transaction.access { rows = try transaction.listedRows() }
        return rows
    }

    /// Commits the page together with the scan's progress.
    ///
    /// - Parameter progress: The scan's position; nil when it is complete.
    /// - Throws: ``StoreError``, after rolling the page back.
    public func commit(progress: WalkProgress?) throws {
        try commit { try transaction.saveProgress(walk.scope, progress: progress) }
    }

    /// Commits the last page of a scan together with its outcome: the sweep, and the cursor for the next scan.
    ///
    /// - Throws: ``StoreError``, after rolling the page back.
    public func commit(end: WalkEnd) throws -> SweepResult {
        var result = SweepResult()
        try commit {
            result = try transaction.finish(end)
            for (entity, count) in result.deleted { counts[entity].deleted += count }
            for (entity, count) in result.relinked { counts[entity].relinked += count }
            try transaction.saveProgress(walk.scope, progress: nil)
        }
        return result
    }

    private func commit(_ body: () throws -> Void) throws {
        do {
            try transaction.access(body)
            try transaction.commit()
        } catch {
            transaction.rollback()
            throw error
        }
    }

    /// Commits the page without changing the scan's progress, for records that do not come from a scan.
    ///
    /// - Throws: ``StoreError``, after rolling the page back.
    public func commitKeepingProgress() throws {
        do {
            try transaction.commit()
        } catch {
            transaction.rollback()
            throw error
        }
    }

    /// Rolls the page back.
    public func rollback() { transaction.rollback() }

    private func note(_ field: UnknownField) throws {
        try transaction.noteUnknownField(UnknownField(entity: field.entity, path: origin.redaction.words(field.path)))
    }

    private func quarantine(record: Int?, reason: String, representation: String, location: String?) throws {
        counts[entity].quarantined += 1
        // Redact before cutting: a secret that the cut splits would not be found.
        let shown = origin.redaction.data(representation)
        let isWhole = shown == representation && shown.utf8.count <= Self.largestRepresentation
        let kept = QuarantinedRecord(
            entity: model.entities[entity].name, bridge: origin.bridge, page: origin.page,
            record: record.map { $0 + 1 }, reason: origin.redaction.words(reason),
            representation: Self.cut(shown), location: location,
            cutFrom: isWhole ? nil : representation.utf8.count)
        if let room = quarantineRoom {
            quarantinedBytes += kept.representation.utf8.count
            sample(kept)
            guard counts[entity].quarantined <= room.records, quarantinedBytes <= room.bytes else {
                throw QuarantineOverflow(
                    samples: samples, isOfBytes: counts[entity].quarantined <= room.records)
            }
        }
        try transaction.quarantine(kept)
    }

    /// Keeps the first records in memory, because a rollback of the page discards those in the store.
    private func sample(_ record: QuarantinedRecord) {
        guard samples.count < 100, sampledBytes < 1 << 20 else { return }
        samples.append(record)
        sampledBytes += record.representation.utf8.count
    }

    /// Quarantines records of an earlier page that was rolled back.
    public func keep(_ records: [QuarantinedRecord]) throws {
        try transaction.access {
            for record in records {
                counts[entity].quarantined += 1
                try transaction.quarantine(record)
            }
        }
    }

    /// The maximum size of a stored representation, in bytes.
    ///
    /// A longer one is cut and cannot be retried.
    static let largestRepresentation = 1 << 20

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > largestRepresentation else { return text }
        // Cut at a character boundary.
        let end = text.utf8.index(text.startIndex, offsetBy: largestRepresentation)
        let start = text.unicodeScalars.index(before: text.unicodeScalars.index(after: end))
        return String(text.unicodeScalars[..<start]) + "… (\(text.utf8.count) bytes)"
    }

    /// - Returns: The records that the store rejected, which are now in quarantine.
    private func mergeRows(
        _ page: MixedPage, _ tombstones: Set<Int>, _ batch: RecordBatch, _ location: String?
    ) throws -> Set<Int> {
        var refused: Set<Int> = []
        try page.cells.withUnsafeBufferPointer { cells in
            // The targets of an unchanged object were ensured when that object was written.
            var written: [Int] = []
            var record = -1
            for (index, row) in page.rows.enumerated() {
                let layout = model.entities[row.entity]
                let own = UnsafeBufferPointer(rebasing: cells[row.firstCell..<row.firstCell + layout.fields.count])
                // A record's own row precedes the rows nested in it.
                let isTop = row.record != record
                let role: RowRole = row.isReference ? .reference : isTop && walk.isListing ? .listed : .nested
                record = row.record
                if isTop, let watched = origin.watched { note(own, of: row, watched, batch) }
                if !tombstones.isEmpty, tombstones.contains(record) { continue }
                if !refused.isEmpty, refused.contains(record) { continue }
                let outcome: MergeOutcome
                do {
                    outcome = try transaction.merge(entity: row.entity, cells: own, as: role)
                } catch let error as StoreError where error.code == .constraint {
                    try refuse(row, page, batch, location, because: error)
                    refused.insert(record)
                    continue
                }
                switch outcome {
                case .inserted where row.isReference: counts[row.entity].stubs += 1
                case .inserted:
                    counts[row.entity].inserted += 1
                    if insertions.count < insertionLimit { insertions.append((row.entity, key(of: row, page))) }
                case .updated: counts[row.entity].updated += 1
                case .unchanged:
                    if !row.isReference { counts[row.entity].unchanged += 1 }
                    continue
                }
                if isTop, isLate(own) { lateRecords += 1 }
                if !layout.toOne.isEmpty { written.append(index) }
            }
            // Deferred, so that an object of the same page does not become a stub first.
            for index in written { try ensureTargets(of: page.rows[index], cells) }
        }
        return refused
    }

    /// Quarantines a record with a row that the store rejects.
    ///
    /// The record's earlier rows stay.
    private func refuse(
        _ row: MixedPage.Row, _ page: MixedPage, _ batch: RecordBatch, _ location: String?, because error: StoreError
    ) throws {
        let name = model.entities[row.entity].name
        let key = key(of: row, page)
        let words = "\(name) \(key.map(\.description).joined(separator: ", "))"
        let reason = "\(words): \(error.description)"
        refusal = reason
        try quarantine(
            record: recordsBefore + row.record, reason: reason,
            representation: batch[row.record].json, location: location)
        // The object may exist with its earlier values.
        if key.isEmpty {
            try transaction.spareUnknown()
        } else {
            try transaction.spare(entity: row.entity, key: key)
        }
    }

    private func ensureTargets(of row: MixedPage.Row, _ cells: UnsafeBufferPointer<Cell>) throws {
        for relationship in model.entities[row.entity].toOne {
            let first = row.firstCell + relationship.firstField
            let key = UnsafeBufferPointer(rebasing: cells[first..<first + relationship.fieldCount])
            guard key.allSatisfy({ $0.kind != .absent && $0.kind != .null }),
                references.isNew(entity: relationship.target, key)
            else { continue }
            if try transaction.ensure(entity: relationship.target, key: key) {
                counts[relationship.target].stubs += 1
            }
        }
    }

    private func isLate(_ cells: UnsafeBufferPointer<Cell>) -> Bool {
        guard let known = origin.known, let watched = origin.watched else { return false }
        return cells[watched.field.field].value.map { !Watermark.isNewer($0, than: known) } ?? true
    }

    /// Updates the watermark from a row.
    private func note(
        _ cells: UnsafeBufferPointer<Cell>, of row: MixedPage.Row,
        _ watched: (field: WatchedField, limit: StoredValue?),
        _ batch: RecordBatch
    ) {
        guard let value = cells[watched.field.field].value, Watermark.isNewer(value, than: newest?.local) else {
            return
        }
        if let limit = watched.limit, Watermark.isNewer(value, than: limit) {
            valuesBeyondLimit += 1
            return
        }
        newest = Watermark(local: value, remote: watched.field.remoteText(in: batch[row.record]) ?? value.description)
    }

    private func mergeLinks(_ page: MixedPage, without left: Set<Int>) throws {
        guard !page.links.isEmpty else { return }
        try page.linkCells.withUnsafeBufferPointer { targets in
            for link in page.links {
                let row = page.rows[link.row]
                if !left.isEmpty, left.contains(row.record) { continue }
                let layout = model.entities[row.entity]
                let width = model.entities[layout.toMany[link.relationship].target].key.count
                let changed = try transaction.mergeLinks(
                    entity: row.entity, relationship: link.relationship,
                    owner: layout.key.map { page.cells[row.firstCell + $0] },
                    targets: UnsafeBufferPointer(
                        rebasing: targets[link.firstCell..<link.firstCell + link.count * width]))
                if changed { counts[row.entity].relinked += 1 }
            }
        }
    }
}

/// The last reference to each entity.
///
/// Consecutive records often refer to the same object.
private struct ReferenceMemory {
    private var last: [[StoredValue]]

    init(entityCount: Int) { last = Array(repeating: [], count: entityCount) }

    mutating func isNew(entity: Int, _ key: UnsafeBufferPointer<Cell>) -> Bool {
        let known = last[entity]
        if known.count == key.count, key.indices.allSatisfy({ key[$0].equals(known[$0]) }) { return false }
        last[entity] = key.compactMap(\.value)
        return true
    }
}
