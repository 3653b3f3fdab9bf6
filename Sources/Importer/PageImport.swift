public import Mapping
internal import Model
internal import RecordBatch

/// The import of one page: batches go in, rows come to lie in the store's transaction, and all of it is committed with
/// the walk's progress or taken back.
///
/// Not thread-safe: one thread at a time.
public final class PageImport {
    /// Where a page comes from.
    public struct Origin: Sendable {
        /// The config's name of the bridge.
        public var bridge: String
        /// The page's number in the walk, from 1.
        public var page: Int
        /// The walk that the page belongs to; nil for the listing of the entity's own bridge.
        public var walk: WalkTarget?
        /// The field whose newest value is kept, and the greatest sensible value.
        public var watched: (field: WatchedField, limit: StoredValue?)?

        /// A page of a bridge.
        public init(bridge: String, page: Int, walk: WalkTarget? = nil) {
            self.bridge = bridge
            self.page = page
            self.walk = walk
        }
    }

    package let model: CompiledModel
    /// The index of the entity whose page it is.
    package let entity: Int
    private let origin: Origin
    private let walk: WalkTarget
    private let transaction: any PageTransaction
    private let policy: DeletePolicy
    private var recordsBefore = 0
    private var references: ReferenceMemory
    /// What the page did so far.
    public private(set) var counts: ImportCounts
    /// The newest value of the watched field on the page.
    public private(set) var newest: Watermark?
    /// Values of the watched field that are beyond the limit.
    public private(set) var valuesBeyondLimit = 0
    /// Why the store refused the last record that it refused; it is in quarantine.
    public private(set) var refusal: String?
    /// How many of the objects that were new are kept in ``insertions``.
    public var insertionLimit = 0
    /// The objects that were new, up to the limit.
    public private(set) var insertions: [(entity: Int, key: [StoredValue])] = []

    /// Begins a page of `entity`.
    ///
    /// - Throws: ``StoreError`` when the store cannot begin.
    public init(_ entity: Int, of model: CompiledModel, from origin: Origin, into store: any Store) throws {
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
    /// Records that do not fit are kept in quarantine. When this throws, call ``rollback()``: nothing of the page stays.
    ///
    /// - Parameters:
    ///   - mapped: The records.
    ///   - location: Where they come from, without secrets.
    public func add(_ mapped: MappedBatch, location: String?) throws {
        let (page, batch) = (mapped.page, mapped.batch)
        try transaction.access {
            try setSource(location)
            for (rejection, key) in zip(page.rejections, mapped.rejectedKeys) {
                try quarantine(
                    record: recordsBefore + rejection.record, reason: rejection.reason,
                    representation: rejection.representation, location: location)
                // The object is still there, as its record is.
                if let key { try transaction.spare(entity: entity, key: key) } else { try transaction.spareUnknown() }
            }
            for field in mapped.unknownFields { try transaction.noteUnknownField(field) }
            let tombstones = tombstones(of: page, batch)
            let refused = try mergeRows(page, tombstones.records, batch, location)
            try mergeLinks(page, without: tombstones.records.union(refused))
            for tombstone in tombstones.keys { try delete(tombstone.key, of: tombstone.entity) }
        }
        recordsBefore += batch.count
        withExtendedLifetime(mapped) {}
    }

    /// Deletes the objects that the remote says are gone: records, of which the key suffices.
    public func delete(_ mapped: MappedBatch, location: String?) throws {
        guard policy.mode != .ignore, walk.isListing else { return }
        let page = mapped.page
        try transaction.access {
            try setSource(location)
            for rejection in page.rejections {
                try quarantine(
                    record: nil, reason: "a deleted object: \(rejection.reason)",
                    representation: rejection.representation, location: location)
            }
            for field in mapped.unknownFields { try transaction.noteUnknownField(field) }
            var record = -1
            for row in page.rows where row.record != record {
                record = row.record
                try delete(key(of: row, page), of: row.entity)
            }
        }
        withExtendedLifetime(mapped) {}
    }

    /// Takes a local edit as done: what comes next on this page is the remote's answer to it.
    ///
    /// - Parameters:
    ///   - entry: The number of the outbox entry.
    ///   - key: The key that the remote gave the object, where that is not the local one.
    package func acknowledge(_ entry: Int64, key: [StoredValue]?) throws {
        try transaction.access { try transaction.acknowledge(entry, key: key) }
    }

    /// Takes objects that the walk did not look at as seen; nil: nobody knows which they are, so nothing is missed.
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

    /// The records that stand for an object that is gone, and the keys of these objects.
    ///
    /// Of several records of one object in a batch the last counts: it may have come back.
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

    /// Keeps a record that the bridge could not represent.
    public func reject(record: Int?, reason: String, representation: String, location: String?) throws {
        try transaction.access {
            try quarantine(record: record, reason: reason, representation: representation, location: location)
            try transaction.spareUnknown()
        }
    }

    /// Makes the page last, together with the walk's progress.
    ///
    /// - Parameter progress: Where the walk stands now; nil when it is over.
    /// - Throws: ``StoreError``; then the page is taken back.
    public func commit(progress: WalkProgress?) throws {
        try commit { try transaction.saveProgress(walk.scope, progress: progress) }
    }

    /// Makes the walk's last page last, with what the walk leaves: rows deleted, and what the next one goes on from.
    ///
    /// - Throws: ``StoreError``; then the page is taken back.
    public func commit(end: WalkEnd) throws -> SweepResult {
        var result = SweepResult()
        try commit {
            result = try transaction.finish(end)
            for (entity, count) in result.deleted { counts[entity].deleted += count }
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

    /// Makes the page last, and leaves the place of its entity's walk as it is: for records that no walk brought.
    ///
    /// - Throws: ``StoreError``; then the page is taken back.
    public func commitKeepingProgress() throws {
        do {
            try transaction.commit()
        } catch {
            transaction.rollback()
            throw error
        }
    }

    /// Takes the page back.
    public func rollback() { transaction.rollback() }

    private func quarantine(record: Int?, reason: String, representation: String, location: String?) throws {
        counts[entity].quarantined += 1
        try transaction.quarantine(
            QuarantinedRecord(
                entity: model.entities[entity].name, bridge: origin.bridge, page: origin.page,
                record: record.map { $0 + 1 }, reason: reason,
                representation: Self.cut(representation), location: location,
                cutFrom: representation.utf8.count > Self.largestRepresentation ? representation.utf8.count : nil))
    }

    /// The most bytes of a representation that are kept: what has more is cut and cannot be tried again.
    static let largestRepresentation = 1 << 20

    private static func cut(_ text: String) -> String {
        guard text.utf8.count > largestRepresentation else { return text }
        // Not in the middle of a character.
        let end = text.utf8.index(text.startIndex, offsetBy: largestRepresentation)
        let start = text.unicodeScalars.index(before: text.unicodeScalars.index(after: end))
        return String(text.unicodeScalars[..<start]) + "… (\(text.utf8.count) bytes)"
    }

    /// - Returns: The records that the store refuses, which are in quarantine now.
    private func mergeRows(
        _ page: MixedPage, _ tombstones: Set<Int>, _ batch: RecordBatch, _ location: String?
    ) throws -> Set<Int> {
        var refused: Set<Int> = []
        try page.cells.withUnsafeBufferPointer { cells in
            // What an unchanged object refers to was made sure of when that was written.
            var written: [Int] = []
            var record = -1
            for (index, row) in page.rows.enumerated() {
                let layout = model.entities[row.entity]
                let own = UnsafeBufferPointer(rebasing: cells[row.firstCell..<row.firstCell + layout.fields.count])
                // A record's own row comes before those that are nested in it.
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
                if !layout.toOne.isEmpty { written.append(index) }
            }
            // Only now, so that an object of the same page does not become a stub first.
            for index in written { try ensureTargets(of: page.rows[index], cells) }
        }
        return refused
    }

    /// Keeps a record of which the store refuses a row; the rows before it stay.
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
        // The object may be there as it was before.
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

    /// Keeps the watched field's value if it is the newest.
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

/// What an import did, per entity of the model: a nested object counts for its own entity.
public struct ImportCounts: Sendable, Equatable {
    /// The counts of one entity.
    public struct Entity: Sendable, Equatable {
        /// Objects that were new, or were only stubs before.
        public var inserted = 0
        /// Objects of which something changed.
        public var updated = 0
        /// Objects that were as they are.
        public var unchanged = 0
        /// Records that could not be imported.
        public var quarantined = 0
        /// Objects that were only referred to so far.
        public var stubs = 0
        /// To-many relationships that changed.
        public var relinked = 0
        /// Objects that went, or became stubs again because others refer to them.
        public var deleted = 0

        /// Nothing yet.
        public init() {}
    }

    private var entities: [Entity]

    /// Zeros.
    public init(entityCount: Int) { entities = Array(repeating: Entity(), count: entityCount) }

    /// The counts of the entity with this index.
    public subscript(entity: Int) -> Entity {
        get { entities[entity] }
        set { entities[entity] = newValue }
    }

    /// What was done to the objects of several entities together.
    public func sum(of indexes: [Int]) -> Entity {
        var all = ImportCounts(entityCount: 1)
        for index in indexes {
            var one = ImportCounts(entityCount: 1)
            one[0] = entities[index]
            all += one
        }
        return all[0]
    }

    /// What was done since `right`.
    public static func - (left: ImportCounts, right: ImportCounts) -> ImportCounts {
        var difference = left
        for index in left.entities.indices {
            difference.entities[index].inserted -= right.entities[index].inserted
            difference.entities[index].updated -= right.entities[index].updated
            difference.entities[index].unchanged -= right.entities[index].unchanged
            difference.entities[index].quarantined -= right.entities[index].quarantined
            difference.entities[index].stubs -= right.entities[index].stubs
            difference.entities[index].relinked -= right.entities[index].relinked
            difference.entities[index].deleted -= right.entities[index].deleted
        }
        return difference
    }

    /// Adds what another import did.
    public static func += (left: inout ImportCounts, right: ImportCounts) {
        for index in left.entities.indices {
            left.entities[index].inserted += right.entities[index].inserted
            left.entities[index].updated += right.entities[index].updated
            left.entities[index].unchanged += right.entities[index].unchanged
            left.entities[index].quarantined += right.entities[index].quarantined
            left.entities[index].stubs += right.entities[index].stubs
            left.entities[index].relinked += right.entities[index].relinked
            left.entities[index].deleted += right.entities[index].deleted
        }
    }
}

/// Remembers the last reference to each entity: records that follow each other often refer to the same object.
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
