internal import Mapping
public import Model
public import StoreContract
internal import StoreRules

/// Pages and the state of scans.
extension MemoryStore {
    /// Begins a page's transaction.
    public func beginPage() throws -> any PageTransaction { try MemoryPage(self) }

    /// Returns the position of an interrupted scan if it is at most an hour old.
    public func progress(of scope: ScanScope) throws -> ScanProgress? {
        guard let saved = try read().savedScan(of: scope), saved.saved > Clock.text(secondsAgo: 3600) else {
            return nil
        }
        return saved.progress
    }

    /// Forgets the position of a scan.
    public func forgetProgress(of scope: ScanScope) throws {
        guard try snapshot().scans[scope] != nil else { return }
        try keepBooks { $0.setSavedScan(nil, of: scope) }
    }

    /// Deletes the rows of an interrupted scan that will not resume, for an entity without a key.
    public func removeAbandoned(_ scope: ScanScope, of entity: Int, as source: PageSource) throws -> Int {
        guard let saved = try read().savedScan(of: scope), !saved.log.rows.isEmpty else { return 0 }
        return try write { writer in
            writer.source = source
            let root = model.entities[entity].root
            var count = 0
            for number in saved.log.rows {
                guard let row = try writer.row(root, [.integer(number)]) else { continue }
                try writer.delete(root, [.integer(number)], row)
                count += 1
            }
            try writer.tables.setSavedScan(nil, of: scope)
            return count
        }
    }

    /// Returns the cursor that an earlier scan left.
    public func cursor(of scope: ScanScope) throws -> ScanCursor? { try read().cursor(of: scope) }

    /// Returns the ID of the newest edit that the remote accepted during a scan.
    public func newestAcknowledged() throws -> Int64 { try snapshot().acknowledged.last?.entry.id ?? 0 }

    /// Begins to note the rows that a scan lists.
    public func beginScan(_ scope: ScanScope, afterPage page: Int?) throws {
        let log = try page.flatMap { page in try read().savedScan(of: scope)?.log.through(page: page) }
        scans.logs[scope] = log ?? ScanLog()
    }

    /// Ends what ``beginScan(_:afterPage:)`` began.
    public func endScan(_ scope: ScanScope) { scans.logs[scope] = nil }

    /// Removes all stubs to which nothing refers; returns their number.
    public func removeAbandonedStubs() throws -> Int {
        guard try snapshot().stubs.contains(where: { !$0.value.isEmpty }) else { return 0 }
        return try write { writer in
            var count = 0
            for layout in model.entities where layout.index == layout.root && !layout.key.isEmpty {
                let abandoned = try writer.tables.stubs(of: layout.index).filter {
                    try writer.isAbandoned(RowReference(root: layout.index, key: $0))
                }
                for key in abandoned { writer.noteOffered(layout.index, key) }
                count += abandoned.count
            }
            try writer.settle()
            return count
        }
    }

    // MARK: - Parents

    /// Begins the scans of an entity's parents.
    public func beginParents(of entity: Int) { scans.parents[entity] = ParentSweep() }

    /// Returns the greatest row number of an entity's objects; 0 without objects.
    public func lastRow(of entity: Int) throws -> Int64 {
        try read().table(model.entities[entity].root)?.rows.keys.max() ?? 0
    }

    /// Returns objects of an entity in the order of their row numbers.
    public func parents(
        of entity: Int, where conditions: [LocalCondition], after row: Int64, limit: Int
    ) throws -> [ParentRow] {
        let layout = model.entities[entity]
        let filter = try RowFilter(layout, conditions, includesDeleted: false)
        let tables = try read()
        var parents: [ParentRow] = []
        try tables.forEachRow(of: layout.root) { number, key, values in
            guard number > row, parents.count < limit, filter.contains(values) else { return }
            // The remote cannot be queried with a key that it does not know; the row is included without values, because
            // the caller continues after the last row.
            let isUnknown =
                tables.isStub(layout.root, key)
                || tables.entries(layout.root, key).contains { $0.operation == .create }
            parents.append(ParentRow(row: number, values: isUnknown ? [] : values))
        }
        return parents
    }
}
