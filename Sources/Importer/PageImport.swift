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
        public var scan: ScanTarget?
        /// The further source whose mapping the records have; empty for the entity's own.
        public var source = ""
        /// The key of the object whose scan returned the records, as a JSON array; nil in a scan without a parent.
        public var parent: String?
        /// Whether the records have all values of their objects, so that an earlier one in quarantine is out of date.
        public var replacesQuarantined = true
        /// Whether members that no attribute reads are noted as fields of the entity's records.
        public var notesUnknownFields = true
        /// The incremental field to track, and the values of the pages before.
        public var watched: (field: WatchedField, watermark: ScanWatermark)?
        /// The listing under which the records' members are stored; nil to skip them.
        public var listing: MemberListing?
        /// The watermark of an earlier scan of the same listing: a changed record that is not newer is late.
        public var known: StoredValue?
        /// Removes secrets from the text stored about records, apart from their values.
        public var redaction = Redaction.none

        /// Creates the origin of a page from a bridge.
        public init(bridge: String, page: Int, scan: ScanTarget? = nil) {
            self.bridge = bridge
            self.page = page
            self.scan = scan
        }
    }

    package let model: CompiledModel
    /// The index of the page's entity.
    package let entity: Int
    let origin: Origin
    let scan: ScanTarget
    let transaction: any PageTransaction
    /// Whether the page is all that its transaction has, so that it commits it or rolls it back.
    private let ownsTransaction: Bool
    private let policy: DeletePolicy
    var recordsBefore = 0
    var references: ReferenceMemory
    /// How the page's records of an entity of the family appear, by entity, as far as known.
    var rolesOfRecords: [Int: RowRole] = [:]
    /// What the own listings of nested entities bring, as known for the batch.
    var listings: [Int: ListingContent?] = [:]
    /// The counts of the page so far.
    public internal(set) var counts: ImportCounts
    /// The values of the incremental field, those of the pages before included.
    public internal(set) var watermark: ScanWatermark?
    /// The value of the incremental field in the last record that has one.
    public internal(set) var last: StoredValue?
    /// Whether a record of the page has a newer value of the incremental field than the record before it.
    public internal(set) var rises = false
    /// The remaining quarantine budget; nil for no limit.
    public var quarantineRoom: QuarantineRoom?
    /// The number of bytes of representations sent to quarantine.
    public private(set) var quarantinedBytes = 0
    /// Whether records of the entity may be in quarantine whose keys are known; nil if the store was not asked yet.
    var mayHaveQuarantined: Bool?
    private var samples: [QuarantinedRecord] = []
    /// The URL or path of the last records.
    private var location: String?
    private var sampledBytes = 0
    /// The number of changed records that an earlier scan of the listing should already have returned.
    public internal(set) var lateRecords = 0
    /// The number of deletions reported by the remote whose key could not be read; these records are in quarantine.
    public private(set) var badTombstones = 0
    /// The reason for the store's latest rejection of a record; the record is in quarantine.
    public internal(set) var refusal: String?
    /// The maximum number of ``insertions`` to keep.
    public var insertionLimit = 0
    /// The inserted objects, up to ``insertionLimit``.
    public internal(set) var insertions: [(entity: Int, key: [StoredValue])] = []
    /// What the records say about their lists; set its room before the first batch.
    package var listMetadata = NestedMetadata()

    /// Begins a page of `entity`.
    ///
    /// - Throws: `StoreError` when the store cannot begin a transaction.
    public convenience init(
        _ entity: Int, of model: CompiledModel, from origin: Origin, into store: any PageStore
    ) throws {
        let transaction = try store.beginPage()
        do {
            try self.init(entity, of: model, from: origin, in: transaction, isOwner: true)
        } catch {
            transaction.rollback()
            throw error
        }
    }

    /// Begins a page of `entity` in a transaction that has the pages of several scans.
    ///
    /// The caller commits the transaction, or rolls it back: `commit` and ``rollback()`` of the page leave it open.
    ///
    /// - Throws: `StoreError`.
    public convenience init(
        _ entity: Int, of model: CompiledModel, from origin: Origin, sharing transaction: any PageTransaction
    ) throws {
        try self.init(entity, of: model, from: origin, in: transaction, isOwner: false)
    }

    private init(
        _ entity: Int, of model: CompiledModel, from origin: Origin, in transaction: any PageTransaction, isOwner: Bool
    ) throws {
        self.model = model
        self.entity = entity
        self.origin = origin
        watermark = origin.watched?.watermark
        let source = model.model.entities[entity]
        scan = origin.scan ?? ScanTarget(scope: ScanScope(entity: source.name), entity: entity)
        policy = model.model.root(of: source).deletes
        references = ReferenceMemory(entityCount: model.entities.count)
        counts = ImportCounts(entityCount: model.entities.count)
        self.transaction = transaction
        ownsTransaction = isOwner
        try transaction.access {
            try transaction.follow(scan)
            // A page without records has a source, too: what its end deletes is this scan's doing.
            try setSource(nil)
        }
    }

    /// Merges a batch of the page.
    ///
    /// Records that cannot be imported go to quarantine. After an error, call ``rollback()``.
    ///
    /// - Parameters:
    ///   - mapped: The mapped records.
    ///   - location: The URL or path they come from, without secrets.
    ///   - remembered: The batch as the store may remember it, if its records have no further effect.
    public func add(
        _ mapped: MappedBatch, location: String?, remembered: (digest: BatchDigest, summary: BatchSummary)? = nil
    ) throws {
        let (page, batch) = (mapped.page, mapped.batch)
        listings = [:]
        try transaction.access {
            try setSource(location)
            for (rejection, key) in zip(page.rejections, mapped.rejectedKeys) {
                try quarantine(
                    record: recordsBefore + rejection.record, reason: rejection.reason,
                    representation: rejection.representation, location: location, key: key)
                // The remote still lists the object, so the sweep must not delete it.
                if let key {
                    try transaction.markSkipped(entity: entity, key: key)
                } else {
                    try transaction.skipUnknown()
                }
                if scan.isListing, policy.tombstone?.fits(batch[rejection.record]) == true { badTombstones += 1 }
            }
            if origin.notesUnknownFields { for field in mapped.unknownFields { try note(field) } }
            if let listing = origin.listing, !mapped.members.isEmpty {
                try transaction.noteMembers(mapped.members, of: listing)
            }
            let tombstones = tombstones(of: page, batch)
            let refused = try merge(page, without: tombstones.records, batch, location)
            try transaction.rememberBatch(refused.isEmpty && tombstones.records.isEmpty ? remembered : nil)
            try delete(tombstones.keys)
            try releaseOutdated(mapped, refused: refused, deleted: tombstones.keys)
        }
        recordsBefore += batch.count
        withExtendedLifetime(mapped) {}
    }

    /// Lists the rows of a batch that the listing had before, and whose records are as its rows are.
    ///
    /// - Returns: Whether it did; otherwise add the mapped batch.
    public func repeatBatch(_ digest: BatchDigest, _ summary: BatchSummary) throws -> Bool {
        var isRepeated = false
        try transaction.access {
            // Its records would release those in quarantine.
            isRepeated = try !mayHaveOutdated() && transaction.repeatBatch(digest)
            if isRepeated, let listing = origin.listing {
                try transaction.noteMembers(Array(summary.members), of: listing)
            }
        }
        guard isRepeated else { return false }
        counts[entity].unchanged += summary.records
        recordsBefore += summary.records
        return true
    }

    /// Deletes the objects that the remote reports as deleted.
    ///
    /// The records need only their keys: what else they have is not noted as unknown.
    public func delete(_ mapped: MappedBatch, location: String?) throws {
        guard policy.mode != .ignore, scan.isListing else { return }
        let page = mapped.page
        try transaction.access {
            try setSource(location)
            badTombstones += page.rejections.count
            for (rejection, key) in zip(page.rejections, mapped.rejectedKeys) {
                // A list of keys instead of objects, as a bridge passes it on.
                let isBare = rejection.representation.hasPrefix(#"{"@value":"#)
                try quarantine(
                    record: nil, reason: Self.deletion + rejection.reason + (isBare ? Self.bareKey : ""),
                    representation: rejection.representation, location: location, key: key)
            }
            var keys: [ObjectKey] = []
            var record = -1
            for row in page.rows where row.record != record {
                record = row.record
                keys.append(ObjectKey(entity: row.entity, values: key(of: row, page)))
            }
            try delete(keys)
            try releaseDeleted(keys.map(\.values))
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
    public func markSkipped(_ rows: [SkippedRows]?) throws {
        try transaction.access {
            if let rows { try transaction.markSkipped(rows) } else { try transaction.skipUnknown() }
        }
    }

    private func setSource(_ location: String?) throws {
        self.location = location ?? self.location
        try transaction.setSource(
            PageSource(bridge: origin.bridge, scan: model.entities[entity].name, location: self.location))
    }

    func key(of row: MixedPage.Row, _ page: MixedPage) -> [StoredValue] {
        page.key(of: row, in: model)
    }

    private func delete(_ keys: [ObjectKey]) throws {
        guard !keys.isEmpty else { return }
        try transaction.delete(keys) { _, deleted in
            for (entity, count) in deleted { counts[entity].deleted += count }
        }
    }

    /// Returns the tombstone records, and the keys of their objects.
    ///
    /// If a batch has several records of one object, the last one counts: the object may have been restored.
    private func tombstones(
        of page: MixedPage, _ batch: RecordBatch
    ) -> (records: Set<Int>, keys: [ObjectKey]) {
        guard scan.isListing, let matcher = policy.tombstone else { return ([], []) }
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
        let keys = order.compactMap { key in
            last[key].flatMap { $0.isGone ? ObjectKey(entity: $0.entity, values: key) : nil }
        }
        return (records, keys)
    }

    /// Quarantines a record that the bridge could not represent.
    public func reject(record: Int?, reason: String, representation: String, location: String?) throws {
        try transaction.access {
            try quarantine(record: record, reason: reason, representation: representation, location: location)
            try transaction.skipUnknown()
        }
    }

    /// Returns the number of rows listed so far in the scan; nil if the store does not log them.
    public func listedRows() throws -> ListedRows? {
        var rows: ListedRows?
        try transaction.access { rows = try transaction.listedRows() }
        return rows
    }

    /// Returns the number of rows that two listings in a row lack; the current one is the second.
    public func unconfirmedRows() throws -> Int {
        var count = 0
        try transaction.access { count = try transaction.unconfirmedRows() }
        return count
    }

    /// Commits the page together with the scan's progress.
    ///
    /// - Parameter progress: The scan's position; nil when it is complete.
    /// - Throws: `StoreError`, after rolling the page back.
    public func commit(progress: ScanProgress?) throws {
        try commit { try transaction.saveProgress(scan.scope, progress: progress) }
    }

    /// Commits the last page of a scan together with its outcome: the sweep, and the cursor for the next scan.
    ///
    /// - Throws: `StoreError`, after rolling the page back.
    public func commit(end: ScanEnd) throws -> SweepResult {
        var result = SweepResult()
        try commit {
            // Another page of the transaction may have set its own.
            try setSource(nil)
            result = try transaction.finish(end)
            for (entity, count) in result.deleted { counts[entity].deleted += count }
            for (entity, count) in result.relinked { counts[entity].relinked += count }
            try transaction.saveProgress(scan.scope, progress: nil)
        }
        return result
    }

    private func commit(_ body: () throws -> Void) throws {
        do {
            try transaction.access(body)
            if ownsTransaction { try transaction.commit() }
        } catch {
            rollback()
            throw error
        }
    }

    /// Commits the page without changing the scan's progress, for records that do not come from a scan.
    ///
    /// - Throws: `StoreError`, after rolling the page back.
    public func commitKeepingProgress() throws {
        do {
            if ownsTransaction { try transaction.commit() }
        } catch {
            rollback()
            throw error
        }
    }

    /// Rolls the page back.
    public func rollback() { if ownsTransaction { transaction.rollback() } }

    private func note(_ field: UnknownField) throws {
        try transaction.noteUnknownField(UnknownField(entity: field.entity, path: origin.redaction.words(field.path)))
    }

    func quarantine(
        record: Int?, reason: String, representation: String, location: String?, key: [StoredValue]? = nil
    ) throws {
        counts[entity].quarantined += 1
        // Redact before cutting: a secret that the cut splits would not be found.
        let shown = origin.redaction.data(representation)
        let isWhole = shown == representation && shown.utf8.count <= Self.maxRepresentationSize
        let kept = QuarantinedRecord(
            entity: model.entities[entity].name, bridge: origin.bridge, page: origin.page,
            record: record.map { $0 + 1 }, reason: origin.redaction.words(reason),
            representation: Self.cut(shown), location: location,
            cutFrom: isWhole ? nil : representation.utf8.count, source: origin.source, parent: origin.parent,
            key: key.flatMap(quarantineKey))
        if kept.key != nil { mayHaveQuarantined = true }
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
    static let maxRepresentationSize = 1 << 20

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > maxRepresentationSize else { return text }
        // Cut at a character boundary.
        let end = text.utf8.index(text.startIndex, offsetBy: maxRepresentationSize)
        let start = text.unicodeScalars.index(before: text.unicodeScalars.index(after: end))
        return String(text.unicodeScalars[..<start]) + "… (\(text.utf8.count) bytes)"
    }
}
