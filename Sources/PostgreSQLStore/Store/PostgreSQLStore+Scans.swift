internal import Mapping
internal import StoreContract
internal import StoreRules

/// The scans, with how much of them is saved.
extension PostgreSQLStore {
    /// How much of a scan's state is saved.
    struct SavedPlace {
        var rows = 0
        var owners = 0
        /// When a page of the scan was committed or saved last without having changed anything.
        var time = ContinuousClock.now
    }

    /// Begins to note the rows that a scan lists.
    func beginScan(_ scope: ScanScope, afterPage page: Int?) throws {
        let log = try page.flatMap { page in try read { try $0.savedScan(of: scope)?.log.through(page: page) } }
        changeScans { $0.logs[scope] = log ?? ScanLog() }
        savedScans[scope] = SavedPlace(rows: log?.rows.count ?? 0, owners: log?.owners.count ?? 0)
    }

    /// Returns the memory of a listing's batches, if it lists the rows of a table without a parent.
    func batchMemory(of scan: ScanTarget, mapping: String) throws -> (any BatchMemory)? {
        guard let remembered, work.worker == nil, scan.isListing, scan.parent == nil,
            !model.entities[scan.entity].key.isEmpty
        else { return nil }
        return remembered.begin(scan, mapping: mapping)
    }

    /// Checks the memories of the scans that have begun, if there are any; returns whether they have batches.
    func checkMemories() throws -> Bool? {
        guard let remembered, remembered.needsCheck else { return nil }
        do {
            try read { try remembered.check(over: $0) }
        } catch let error as StoreError where error.code != .internal {
            // The sync can do without. If the server cannot be reached, the page says so.
            remembered.giveUp()
        }
        return remembered.hasBatches
    }

    func memory(of scope: ScanScope) -> ListingMemory? { remembered?.memory(of: scope) }

    /// Ends what ``beginScan(_:afterPage:)`` began.
    func endScan(_ scope: ScanScope) {
        remembered?.end(scope)
        changeScans { $0.logs[scope] = nil }
        savedScans[scope] = nil
    }

    func commit(_ tables: PostgreSQLTables, _ page: TablePageWriter, positions: [ScanScope: ScanProgress?]) throws {
        let saved: [ScanScope: SavedPlace]
        do {
            saved = try save(positions, page.scans, in: tables)
        } catch {
            rollBack()
            throw error
        }
        try commit(tables, page.writer, (page, saved))
    }

    /// The pause between savings of a scan whose pages change nothing: such a scan, if it is interrupted, resumes from an
    /// older position and loses nothing.
    private static let pause = Duration.seconds(30)

    /// Saves the positions of scans, unless that is all that the page would write; returns how much is saved then.
    private func save(
        _ positions: [ScanScope: ScanProgress?], _ scans: OpenScans, in tables: PostgreSQLTables
    ) throws -> [ScanScope: SavedPlace] {
        var saved: [ScanScope: SavedPlace] = [:]
        // Nothing was saved unless a page of the scan was, or an earlier scan was interrupted.
        let ended = positions.filter { $0.value == nil }.map(\.key)
        for scope in ended { saved[scope] = SavedPlace() }
        try tables.forget(ended)
        try tables.flush(isLast: true)
        for case (let scope, let progress?) in positions {
            var place = savedScans[scope] ?? SavedPlace()
            defer { saved[scope] = place }
            guard tables.hasWritten || ContinuousClock.now - place.time > Self.pause else { continue }
            let log = scans.logs[scope] ?? ScanLog()
            if log.rows.count < place.rows || log.owners.count < place.owners { place = SavedPlace() }
            try tables.save(progress, log, of: scope, from: (place.rows, place.owners))
            place = SavedPlace(rows: log.rows.count, owners: log.owners.count)
        }
        return saved
    }
}
