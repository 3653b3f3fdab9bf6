public import Mapping
public import RecordBatch

/// The import of one page: batches go in, rows come to lie in the store's transaction, and all of it is committed with
/// the walk's progress or taken back.
///
/// Not thread-safe: one thread at a time.
public final class PageImport {
    /// What the bridge and the walk are called in quarantine.
    public struct Origin: Sendable {
        /// The config's name of the bridge.
        public var bridge: String
        /// The page's number in the walk, from 1.
        public var page: Int

        /// Whether the walk is the entity's own listing, and no further source of it.
        public var isListing: Bool

        /// A page of a bridge.
        public init(bridge: String, page: Int, isListing: Bool = true) {
            self.bridge = bridge
            self.page = page
            self.isListing = isListing
        }
    }

    private let model: CompiledModel
    private let entity: Int
    private let origin: Origin
    private let mapper: Mapper
    private let transaction: any PageTransaction
    private var recordsBefore = 0
    private var references: ReferenceMemory
    /// What the page did so far.
    public private(set) var counts: ImportCounts

    /// Begins a page of `entity`.
    ///
    /// - Throws: ``StoreError`` when the store cannot begin.
    public init(
        _ entity: Int, of model: CompiledModel, from origin: Origin, mapper: Mapper, into store: any Store
    ) throws {
        self.model = model
        self.entity = entity
        self.origin = origin
        self.mapper = mapper
        transaction = try store.beginPage()
        references = ReferenceMemory(entityCount: model.entities.count)
        counts = ImportCounts(entityCount: model.entities.count)
    }

    /// Maps and merges a batch of the page.
    ///
    /// Records that do not fit are kept in quarantine. When this throws, call ``rollback()``: nothing of the page stays.
    ///
    /// - Parameters:
    ///   - batch: The records.
    ///   - location: Where they come from, without secrets.
    ///   - plan: The plan that maps them, for a walk of a further source; nil for the entity's own.
    ///   - parent: The key of the object that a walk per parent asked for.
    public func add(
        _ batch: RecordBatch, location: String?, plan: Int? = nil, parent: [StoredValue]? = nil
    ) throws {
        let page = mapper.map(batch, as: plan ?? entity, parent: parent)
        try transaction.access {
            try transaction.setSource(
                PageSource(bridge: origin.bridge, walk: model.entities[entity].name, location: location))
            for rejection in page.rejections {
                try quarantine(
                    record: recordsBefore + rejection.record, reason: rejection.reason,
                    representation: rejection.representation, location: location)
            }
            try mergeRows(page)
            try mergeLinks(page)
        }
        recordsBefore += batch.count
        withExtendedLifetime(page) {}
    }

    /// Keeps a record that the bridge could not represent.
    public func reject(record: Int?, reason: String, representation: String, location: String?) throws {
        try transaction.access {
            try quarantine(record: record, reason: reason, representation: representation, location: location)
        }
    }

    /// Makes the page last, together with the walk's progress.
    ///
    /// - Parameter progress: Where the walk stands now; nil when it is over.
    /// - Throws: ``StoreError``; then the page is taken back.
    public func commit(progress: WalkProgress?) throws {
        do {
            try transaction.access { try transaction.saveProgress(entity: entity, progress: progress) }
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

    private func mergeRows(_ page: MixedPage) throws {
        try page.cells.withUnsafeBufferPointer { cells in
            // What an unchanged object refers to was made sure of when that was written.
            var written: [Int] = []
            var record = -1
            for (index, row) in page.rows.enumerated() {
                let layout = model.entities[row.entity]
                let own = UnsafeBufferPointer(rebasing: cells[row.firstCell..<row.firstCell + layout.fields.count])
                // A record's own row comes before those that are nested in it.
                let role: RowRole =
                    row.isReference ? .reference : row.record == record || !origin.isListing ? .nested : .listed
                record = row.record
                switch try transaction.merge(entity: row.entity, cells: own, as: role) {
                case .inserted where row.isReference: counts[row.entity].stubs += 1
                case .inserted: counts[row.entity].inserted += 1
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

    private func mergeLinks(_ page: MixedPage) throws {
        guard !page.links.isEmpty else { return }
        try page.linkCells.withUnsafeBufferPointer { targets in
            for link in page.links {
                let row = page.rows[link.row]
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

    /// Adds what another import did.
    public static func += (left: inout ImportCounts, right: ImportCounts) {
        for index in left.entities.indices {
            left.entities[index].inserted += right.entities[index].inserted
            left.entities[index].updated += right.entities[index].updated
            left.entities[index].unchanged += right.entities[index].unchanged
            left.entities[index].quarantined += right.entities[index].quarantined
            left.entities[index].stubs += right.entities[index].stubs
            left.entities[index].relinked += right.entities[index].relinked
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
