internal import Mapping
internal import Model
package import StoreContract

/// The end of a scan: the deletion of rows that a complete listing lacks, unless a deletion limit prevents it.
///
/// Only rows that the entity's own listing has ever included count: not stubs, not objects that came nested in others,
/// and not those already marked as deleted.
extension TablePageWriter {
    /// The log of the page's scan; nil if it is not a listing or has not begun.
    private var log: ScanLog? { scan.flatMap { $0.isListing ? scans.logs[$0.scope] : nil } }

    /// Marks objects that the scan skipped as seen.
    package func markSkipped(_ rows: [SkippedRows]) throws {
        guard let scan, log != nil else { return }
        let root = model.entities[scan.entity].root
        let matcher = SparedRowMatcher(rows)
        var found: [Int64] = []
        try tables.forEachRow(of: root) { number, _, row in
            if matcher.matches({ row[matcher.fields[$0]] }) { found.append(number) }
        }
        for row in found { scans.logs[scan.scope]?.append(row) }
    }

    /// Marks an object as seen although its record could not be imported.
    package func markSkipped(entity: Int, key: RowKey) throws {
        guard let scan, log != nil else { return }
        if let row = try tables.number(of: key, in: model.entities[entity].root) {
            scans.logs[scan.scope]?.append(row)
        }
    }

    /// Notes that the scan skipped unidentified objects.
    package func skipUnknown() {
        if let scan, log != nil { scans.logs[scan.scope]?.hasUnknown = true }
    }

    /// Returns the rows listed so far; nil if the scan is not logged.
    package func listedRows() -> ListedRows? {
        guard let scan, let log = scans.logs[scan.scope] else { return nil }
        let distinct = log.distinctCount
        return ListedRows(
            count: log.rows.count, distinct: distinct, repeated: log.repeatedRows.count,
            repeatedOnPage: distinct.map { $0 < log.rows.count } ?? false ? log.repeatedOnPage : 0)
    }

    /// Returns the number of rows that the listing lacks, and that the first of two listings lacked, too.
    package func unconfirmedRows() throws -> Int {
        guard let scan, let log = scans.logs[scan.scope], let first = scans.unconfirmed[scan.scope] else { return 0 }
        return try absent(scan, log, isCounted: false).rows.count(where: first.contains)
    }

    /// Ends the current scan; see `PageTransaction.finish`.
    package func finish(_ end: ScanEnd) throws -> SweepResult {
        guard let scan else { return SweepResult() }
        sweeps = end.sweep != nil
        var result = SweepResult()
        let relinked = try settleLists(of: scan.scope)
        let log = scans.logs[scan.scope]
        let repeated = try log.flatMap { try self.repeated(in: $0, of: scan) }
        // The sweep of a confirmed listing needs what the check of the first one has found.
        var found: AbsentRows?
        let step = try SweepStep(end, hasUnknown: log?.hasUnknown) {
            guard let log else { return 0 }
            let absent = try absent(scan, log, isCounted: end.defersSweep)
            found = absent
            return noteMissing(scan, absent)
        }
        var isSettled = true
        if let log, let rule = end.sweep {
            switch step {
            case .none: break
            case .isUncertain: result.isUncertain = true
            case .waitsForSecondListing(let count): result.unconfirmed = count
            case .waitsForParents:
                isSettled = try !wait(scan, found ?? absent(scan, log, isCounted: true), end.cursor, rule.listing)
            case .sweeps:
                result = try sweep(scan, found ?? absent(scan, log, isCounted: false), rule)
                isSettled = result.held == nil
            }
        }
        if let repeated, end.defersSweep {
            scans.parents[scan.entity]?.note(repeated)
        } else if result.unconfirmed == 0 {
            result.repeated = repeated
        }
        if step.savesCursor(of: end, isSettled: isSettled), let cursor = end.cursor {
            try save(cursor, of: scan.scope, followsStored: end.followsCursor)
        }
        if !end.defersSweep {
            let orphans = try writer.settleOrphans(ofScan: scan.scope.entity)
            result.deleted.merge(orphans, uniquingKeysWith: +)
        }
        result.relinked = relinked
        return result
    }

    /// Sweeps after the last scan of an entity's parents.
    package func finishParents(of entity: Int, _ rule: SweepRule) throws -> SweepResult {
        followed.entities.insert(entity)
        let name = model.entities[entity].name
        var result = try sweepParents(of: entity, name, rule)
        result.deleted.merge(try writer.settleOrphans(ofScan: name), uniquingKeysWith: +)
        return result
    }

    // MARK: - One scope

    /// The rows in a scan's scope that its listing lacks, and the number of rows in the scope.
    private typealias AbsentRows = (rows: [Int64], total: Int)

    private func sweep(_ scan: ScanTarget, _ missing: AbsentRows, _ rule: SweepRule) throws -> SweepResult {
        let (absent, total) = missing
        let first = rule.listing == .second ? scans.unconfirmed.removeValue(forKey: scan.scope) ?? [] : []
        let gone = rule.confirmed(absent, first: first)
        let name = model.entities[scan.entity].name
        if let held = try rule.held(gone.count, of: total, otherOrigin: otherOrigin(name, rule)) {
            return SweepResult(held: held)
        }
        try saveOrigin(rule.origin, of: name)
        guard !gone.isEmpty else { return SweepResult() }
        return SweepResult(deleted: try remove(gone, of: scan.entity))
    }

    private func remove(_ rows: [Int64], of entity: Int) throws -> [Int: Int] {
        let root = model.entities[entity].root
        return try writer.remove(rows.compactMap { try tables.key(ofRow: $0, in: root) }, of: entity)
    }

    /// Notes the rows missing from the first of two listings; returns their number.
    private func noteMissing(_ scan: ScanTarget, _ absent: AbsentRows) -> Int {
        scans.unconfirmed[scan.scope] = absent.rows.isEmpty ? nil : Set(absent.rows)
        return absent.rows.count
    }

    /// Returns the origin of an entity's rows if it is another than that of the listing, which is then known too.
    private func otherOrigin(_ entity: String, _ rule: SweepRule) throws -> String? {
        guard let origin = rule.origin, let known = try tables.origin(of: entity), known != origin else { return nil }
        // From now on the rows come from several places, and no listing covers those of another place.
        let separator = " and "
        if !known.split(separator: separator).contains(Substring(origin)) {
            try tables.setOrigin(known + separator + origin, of: entity)
        }
        return known
    }

    private func saveOrigin(_ origin: String?, of entity: String) throws {
        guard let origin, try tables.origin(of: entity) != origin else { return }
        try tables.setOrigin(origin, of: entity)
    }

    /// - Parameter followsStored: Whether the cursor is only worth something together with the stored one.
    private func save(_ cursor: ScanCursor, of scope: ScanScope, followsStored: Bool = false) throws {
        let stored = try tables.cursor(of: scope)
        // A sync without changes writes nothing.
        guard stored != cursor, stored != nil || !followsStored else { return }
        try tables.setCursor(cursor, of: scope)
    }

    /// Returns the rows in the scan's scope that are not in its log, and the number of rows in the scope.
    ///
    /// - Parameter isCounted: Whether the number of rows matters also if none is absent.
    private func absent(_ scan: ScanTarget, _ log: ScanLog, isCounted: Bool) throws -> AbsentRows {
        let layout = model.entities[scan.entity]
        guard !layout.key.isEmpty, writer.deletionMode(of: scan.entity) != .ignore else { return ([], 0) }
        let scope = SweepScope(scan, layout, in: model)
        let (rows, total) = try tables.unlistedRows(of: layout.root, in: scope, notIn: log, isCounted: isCounted)
        let gone = try rows.filter { try isListed(layout.root, $0.key) }.map(\.number)
        return (gone, total - rows.count + gone.count)
    }

    /// Returns whether the own listing of an object's entity has included the object.
    func isListed(_ root: Int, _ key: RowKey) throws -> Bool {
        // The remote cannot list an object that was never pushed to it.
        if try tables.waitingCreate(root, key) != nil { return false }
        return try tables.hasBeenListed(root, key)
    }

    /// Returns the keys that a listing contained twice with different values; nil if there are none.
    private func repeated(in log: ScanLog, of scan: ScanTarget) throws -> RepeatedKeys? {
        let rows = log.repeatedRows
        guard let first = rows.first, let key = try tables.key(ofRow: first, in: model.entities[scan.entity].root)
        else { return nil }
        return RepeatedKeys(count: rows.count, key: key)
    }

    // MARK: - Many parents

    private func wait(
        _ scan: ScanTarget, _ missing: @autoclosure () throws -> AbsentRows, _ cursor: ScanCursor?,
        _ listing: SweepRule.Listing
    ) throws -> Bool {
        guard scans.parents[scan.entity] != nil else { return false }
        let (absent, total) = try missing()
        let first = listing == .second ? scans.unconfirmed.removeValue(forKey: scan.scope) ?? [] : nil
        return scans.parents[scan.entity]?.end(scan.scope, absent: absent, of: total, cursor: cursor, first: first)
            ?? false
    }

    /// Deletes the rows missing from the parents' scans; a deletion limit may apply to one parent's scope or to all of
    /// them together.
    private func sweepParents(of entity: Int, _ name: String, _ rule: SweepRule) throws -> SweepResult {
        guard let waiting = scans.parents.removeValue(forKey: entity) else { return SweepResult() }
        var result = SweepResult()
        result.repeated = waiting.repeated
        if let (row, parents) = waiting.shared, let key = try tables.key(ofRow: row, in: model.entities[entity].root) {
            result.shared = RepeatedKeys(count: waiting.sharedCount, key: key, parents: parents)
        }
        let decision = try waiting.decide(by: rule, otherOrigin: otherOrigin(name, rule))
        result.held = decision.held
        guard !decision.preventsAll else { return result }
        try saveOrigin(rule.origin, of: name)
        for (scope, cursor) in decision.cursors { try save(cursor, of: scope) }
        result.deleted = try remove(decision.rows, of: entity)
        return result
    }
}
