internal import Mapping
public import Model
public import StoreContract
internal import StoreRules

/// Pages and the state of scans.
extension PostgreSQLStore {
    /// Begins a page's transaction.
    public func beginPage() throws -> any PageTransaction { try PostgreSQLPage(self) }

    /// Returns the position of an interrupted scan if it is at most an hour old.
    public func progress(of scope: ScanScope) throws -> ScanProgress? {
        guard let saved = try read({ try $0.savedProgress(of: scope) }), saved.saved > Clock.text(secondsAgo: 3600)
        else { return nil }
        return saved.progress
    }

    /// Forgets the position of a scan.
    public func forgetProgress(of scope: ScanScope) throws {
        guard try read({ try $0.savedProgress(of: scope) }) != nil else { return }
        try keepBooks { try $0.setSavedScan(nil, of: scope) }
    }

    /// Deletes the rows of an interrupted scan that will not resume, for an entity without a key.
    public func removeAbandoned(_ scope: ScanScope, of entity: Int, as source: PageSource) throws -> Int {
        guard let saved = try read({ try $0.savedScan(of: scope) }), !saved.log.rows.isEmpty else { return 0 }
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
    public func cursor(of scope: ScanScope) throws -> ScanCursor? { try read { try $0.cursor(of: scope) } }

    /// Returns the ID of the newest edit that the remote accepted during a scan.
    public func newestAcknowledged() throws -> Int64 { try read { try $0.newestAcknowledged() } }

    /// Begins to note the rows that a scan lists.
    public func beginScan(_ scope: ScanScope, afterPage page: Int?) throws {
        let log = try page.flatMap { page in try read { try $0.savedScan(of: scope)?.log.through(page: page) } }
        scans.logs[scope] = log ?? ScanLog()
        savedScans[scope] = SavedPlace(rows: log?.rows.count ?? 0, owners: log?.owners.count ?? 0)
    }

    /// Ends what ``beginScan(_:afterPage:)`` began.
    public func endScan(_ scope: ScanScope) {
        scans.logs[scope] = nil
        savedScans[scope] = nil
    }

    /// Removes all stubs to which nothing refers; returns their number.
    public func removeAbandonedStubs() throws -> Int {
        guard try read({ !$0.hasStubs.isEmpty }) else { return 0 }
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
        try read { tables in
            let table = try tables.table(model.entities[entity].root)
            return try tables.connection.query(
                "SELECT max(t.\(table.numberName)) FROM \(table.name) t", for: "reading the last row"
            ).bigint(0, 0) ?? 0
        }
    }

    /// Returns objects of an entity in the order of their row numbers.
    public func parents(
        of entity: Int, where conditions: [LocalCondition], after row: Int64, limit: Int
    ) throws -> [ParentRow] {
        let layout = model.entities[entity]
        return try read { tables in
            let table = try tables.table(layout.root)
            var condition = SQLCondition(layout, table)
            try condition.addKinds()
            condition.excludeDeleted()
            try condition.add(conditions)
            condition.add("t.\(table.numberName) > \(condition.bind(.bigint(row), "bigint"))")
            let result = try tables.connection.query(
                "\(table.select) WHERE \(condition.text) ORDER BY t.\(table.numberName) LIMIT \(limit)",
                condition.parameters, for: "reading parents")
            let rows = (0..<result.count).map { tables.read(result, $0, table) }
            try tables.prefetchState(layout.root, rows.map { $0.1 })
            return try rows.map { number, key, values in
                // The remote cannot be queried with a key that it does not know; the row is included without values,
                // because the caller continues after the last row.
                let isUnknown =
                    try tables.isStub(layout.root, key)
                    || tables.entries(layout.root, key).contains { $0.operation == .create }
                return ParentRow(row: number, values: isUnknown ? [] : values)
            }
        }
    }
}
