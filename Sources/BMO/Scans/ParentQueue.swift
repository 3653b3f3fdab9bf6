internal import Mapping
internal import Model
internal import StoreContract

/// The parents of scans, read as needed.
struct ParentQueue {
    /// The limit of tree levels in one sync: a remote may generate a new folder in each folder, without end.
    static let maxLevels = 1_000

    private let scans: ParentScans
    private let entity: Int
    private let relationship: Int?
    private let conditions: [LocalCondition]
    private var waiting: ArraySlice<ParentRow> = []
    /// Parents that are due, with the starts of their scans.
    private var due: ArraySlice<ParentObject> = []
    /// The number of parents that were left out because they have not changed.
    private(set) var spared = 0
    private var last: Int64
    private var isAtEnd = false
    /// Whether the scans may add further parents: those after row `end` wait for the next level.
    private let growsItself: Bool
    private var end: Int64?
    /// Whether new objects are scanned, too, such as the folders in a folder.
    private let isTree: Bool
    /// Whether new objects come after all others: not where the key is SQLite's rowid.
    private let isInOrder: Bool
    /// The parents of a tree that were scanned; the tree may contain a cycle.
    private var scanned: Set<ExactText> = []
    /// Whether there were parents since the table was last restarted, and in this level.
    private var hasNew = false
    private var hasNewInLevel = false
    /// The number of levels so far.
    private(set) var level = 0
    /// Whether a further level exists that is not scanned.
    private(set) var isCut = false

    /// Creates a queue of all parents, or of those after a row, through another one.
    init(_ scans: ParentScans, after: Int64 = .min, through: Int64? = nil) throws {
        last = after
        end = through
        self.scans = scans
        let model = scans.context.workspace.model
        let layout = model.entities[scans.plan.index]
        relationship = scans.scan.relationship.flatMap { name in layout.toOne.firstIndex { $0.name == name } }
        entity = relationship.map { layout.toOne[$0].target } ?? scans.plan.index
        growsItself = model.family(of: entity).contains(scans.plan.index)
        isTree = growsItself && relationship != nil && scans.plan.isListing
        let target = model.entities[entity]
        isInOrder = target.key.count != 1 || ![.integer, .boolean].contains(target.fields[target.key[0]].type)
        conditions =
            ParentRows(
                scans.scan, scans.context.options.conditions, of: layout, target: target, relationship: relationship
            ).conditions
    }

    mutating func next() async throws -> ParentObject? {
        let layout = scans.context.workspace.model.entities[entity]
        guard !scans.context.isPartial else { return try await nextRow(layout) }
        while true {
            if let parent = due.popFirst() { return parent }
            // Others may use the store while the remote is asked for these, so not too many are looked up ahead.
            let most = skipsUnchanged ? ParentScans.chunk : ParentScans.starts
            var parents: [ParentObject] = []
            while parents.count < most, let parent = try await nextRow(layout) { parents.append(parent) }
            guard !parents.isEmpty else { return nil }
            let rule = DueScans(plan: scans.plan, isFull: scans.context.options.full)
            let found = try await scans.context.thread.run {
                [parents, store = scans.context.store, plan = scans.plan] in
                let starts = try store.starts(of: parents.map { plan.scope(parent: $0) }, plan.memberListing)
                var started = parents
                for (index, start) in starts.enumerated() { started[index].start = start }
                return rule.due(started) { _ in starts.map(\.cursor) }
            }
            spared += parents.count - found.count
            due = found[...]
        }
    }

    /// Whether parents that have not changed are left out.
    private var skipsUnchanged: Bool { scans.scan.skipsUnchanged && !scans.context.isPartial }

    private mutating func nextRow(_ layout: EntityLayout) async throws -> ParentObject? {
        while true {
            if let row = waiting.popFirst() {
                // A stub, which has no values.
                if row.values.isEmpty { continue }
                var parent = try ParentObject(row.values, layout, relationship: relationship)
                if skipsUnchanged { parent.state = scans.plan.state(of: row.values, layout) }
                if let shard = scans.shard, !shard.owns(parent.text) { continue }
                if isTree, scanned.contains(ExactText(parent.text)) { continue }
                if !hasNewInLevel {
                    guard level < Self.maxLevels else {
                        (isCut, isAtEnd, waiting) = (true, true, [])
                        return nil
                    }
                    level += 1
                }
                if isTree { scanned.insert(ExactText(parent.text)) }
                (hasNew, hasNewInLevel) = (true, true)
                return parent
            }
            guard !isAtEnd else { return nil }
            try await read()
        }
    }

    private mutating func read() async throws {
        let thread = scans.context.thread
        if growsItself, end == nil {
            end = try await thread.run { [store = scans.context.store, entity] in try store.lastRow(of: entity) }
        }
        let rows = try await thread.run { [context = scans.context, entity, conditions, last] in
            try context.store.parents(of: entity, where: conditions, after: last, limit: ParentScans.chunk)
        }
        let now = rows.prefix { $0.row <= end ?? .max }
        isAtEnd = now.count < ParentScans.chunk
        last = now.last?.row ?? last
        waiting = now
    }

    /// Re-reads the parents of a tree, which may include objects from the scans.
    ///
    /// - Returns: Whether more parents are possible.
    mutating func beginAnew() -> Bool {
        guard isTree, hasNew, !isCut else { return false }
        if !isInOrder || !hasNewInLevel {
            // Includes earlier rows that have come to meet the conditions.
            (hasNew, last) = (false, .min)
        }
        (hasNewInLevel, isAtEnd, end) = (false, false, nil)
        return true
    }
}

/// The selection of parent objects that have a scan.
struct ParentRows {
    /// The conditions, which must all hold.
    let conditions: [LocalCondition]
    /// The conditions as written.
    let words: [String]

    /// Combines the configured conditions with those of the user.
    ///
    /// - Parameters:
    ///   - wanted: The user's conditions on the children: where they name one parent, the others are not scanned.
    ///   - target: The parent's layout.
    ///   - relationship: The index in `layout` of the relationship that leads to the parent; nil where the parent is
    ///     the object itself.
    init(
        _ scan: ParentScan, _ wanted: [LocalCondition], of layout: EntityLayout, target: EntityLayout,
        relationship: Int?
    ) {
        var all = scan.conditions
        if let relationship, layout.toOne[relationship].fieldCount == 1, let key = target.key.first {
            let name = layout.fields[layout.toOne[relationship].firstField].name
            all += wanted.filter { $0.field == name && $0.value != nil }.map {
                LocalCondition(field: target.fields[key].name, comparison: $0.comparison, value: $0.value)
            }
        }
        words = all.map(\.text)
        conditions = all
    }
}
