internal import Mapping
package import Model
package import StoreContract

/// Pages and the state of scans.
///
/// The store implements `beginScan` and `endScan` itself if it keeps more than ``TableStore/scans`` about a scan.
extension TableStore {
    /// Begins a page's transaction.
    package func beginPage() throws -> any PageTransaction { try TablePage(self) }

    /// Returns the position of an interrupted scan unless it has expired.
    package func progress(of scope: ScanScope) throws -> ScanProgress? {
        try readOnce { try $0.savedProgress(of: scope) }?.current
    }

    /// Returns all that scans of one listing have to know before they ask the remote: four queries for all of them.
    package func starts(of scopes: [ScanScope], _ listing: MemberListing) throws -> [ScanStart] {
        let positions = try readOnce { try $0.savedProgress(of: scopes) }
        let cursors = try readOnce { try $0.cursors(of: scopes) }
        let (acknowledged, members) = (try newestAcknowledged(), try members(of: listing))
        return zip(positions, cursors).map { position, cursor in
            ScanStart(progress: position?.current, cursor: cursor, acknowledged: acknowledged, members: members)
        }
    }

    /// Forgets the position of a scan.
    package func forgetProgress(of scope: ScanScope) throws {
        guard try read({ try $0.savedProgress(of: scope) }) != nil else { return }
        try keepBooks { try $0.setSavedScan(nil, of: scope) }
    }

    /// Deletes the rows of an interrupted scan that will not resume, for an entity without a key.
    package func removeAbandoned(_ scope: ScanScope, of entity: Int, as source: PageSource) throws -> Int {
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
    package func cursor(of scope: ScanScope) throws -> ScanCursor? { try readOnce { try $0.cursor(of: scope) } }

    /// Returns the cursors of several scopes.
    package func cursors(of scopes: [ScanScope]) throws -> [ScanCursor?] { try read { try $0.cursors(of: scopes) } }

    /// Returns the ID of the newest edit that the remote accepted during a scan.
    package func newestAcknowledged() throws -> Int64 { try readOnce { try $0.newestAcknowledged() } }

    /// Begins to note the rows that a scan lists.
    package func beginScan(_ scope: ScanScope, afterPage page: Int?) throws {
        let log = try page.flatMap { page in try read { try $0.savedScan(of: scope)?.log.through(page: page) } }
        changeScans { $0.logs[scope] = log ?? ScanLog() }
    }

    /// Ends what ``beginScan(_:afterPage:)`` began.
    package func endScan(_ scope: ScanScope) { changeScans { $0.logs[scope] = nil } }

    /// Removes all stubs to which nothing refers; returns their number.
    package func removeAbandonedStubs() throws -> Int {
        let roots = model.entities.filter { $0.index == $0.root && !$0.key.isEmpty }.map(\.index)
        guard try read({ tables in try roots.contains { try !tables.stubs(of: $0).isEmpty } }) else { return 0 }
        return try write { writer in
            var count = 0
            for root in roots {
                let abandoned = try writer.tables.stubs(of: root).filter {
                    try writer.isAbandoned(RowReference(root: root, key: $0))
                }
                for key in abandoned { writer.noteOffered(root, key) }
                count += abandoned.count
            }
            try writer.settle()
            return count
        }
    }

    // MARK: - Parents

    /// Begins the scans of an entity's parents.
    package func beginParents(of entity: Int) {
        changeScans { $0.parents[entity] = ParentSweep() }
    }

    /// Returns the greatest row number of an entity's objects; 0 without objects.
    package func lastRow(of entity: Int) throws -> Int64 {
        try read { try $0.lastNumber(in: model.entities[entity].root) }
    }

    /// Returns objects of an entity in the order of their row numbers.
    package func parents(
        of entity: Int, where conditions: [LocalCondition], after row: Int64, limit: Int
    ) throws -> [ParentRow] {
        let layout = model.entities[entity]
        return try read { tables in
            let rows = try tables.rows(on: layout, where: conditions, afterNumber: row, limit: limit)
            try tables.prefetchState(layout.root, rows.map(\.key))
            return try rows.map { row in
                // The remote cannot be queried with a key that it does not know; the row is included without values
                // because the caller continues after the last row.
                let isUnknown =
                    try tables.isStub(layout.root, row.key)
                    || tables.entries(layout.root, row.key).contains { $0.operation == .create }
                return ParentRow(row: row.number, values: isUnknown ? [] : row.values)
            }
        }
    }
}
