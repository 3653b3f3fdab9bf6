internal import Mapping
internal import Model
package import StoreContract

/// The end of a scan: the deletion of rows that a complete listing lacks, unless a deletion limit prevents it.
///
/// Only rows that the entity's own listing has ever included count: not stubs, not objects that came nested in others,
/// and not those already marked as deleted.
extension PageWriter {
    /// The log of the page's scan; nil if it is not a listing or has not begun.
    private var log: ScanLog? { walk.flatMap { $0.isListing ? scans.logs[$0.scope] : nil } }

    /// Marks objects that the scan skipped as seen.
    package func spare(_ rows: [SparedRows]) throws {
        guard let walk, log != nil else { return }
        let root = model.entities[walk.entity].root
        var found: [Int64] = []
        try tables.forEachRow(of: root) { number, _, row in
            if rows.contains(where: { $0.contains(row) }) { found.append(number) }
        }
        for row in found { scans.logs[walk.scope]?.append(row) }
    }

    /// Marks an object as seen although its record could not be imported.
    package func spare(entity: Int, key: RowKey) throws {
        guard let walk, log != nil else { return }
        if let row = try tables.number(of: key, in: model.entities[entity].root) {
            scans.logs[walk.scope]?.append(row)
        }
    }

    /// Notes that the scan skipped unidentified objects.
    package func spareUnknown() {
        if let walk, log != nil { scans.logs[walk.scope]?.hasUnknown = true }
    }

    /// Returns the rows listed so far; nil if the scan is not logged.
    package func listedRows() -> ListedRows? {
        guard let walk, let log = scans.logs[walk.scope] else { return nil }
        return ListedRows(distinct: log.distinctCount, repeated: log.repeatedRows.count)
    }

    /// Ends the current scan; see `PageTransaction.finish`.
    package func finish(_ end: WalkEnd) throws -> SweepResult {
        guard let walk else { return SweepResult() }
        var result = SweepResult()
        var keepsCursor = true
        let relinked = try settleLists(of: walk.scope)
        let log = scans.logs[walk.scope]
        let repeated = try log.flatMap { try self.repeated(in: $0, of: walk) }
        if let rule = end.sweep, let log {
            if log.hasUnknown {
                result.isUncertain = true
                // If the token were saved, the remote would not list the missing rows again.
                keepsCursor = end.cursor?.token == nil
            } else if rule.listing == .first, case let gone = try absent(walk, log).rows, !gone.isEmpty {
                scans.unconfirmed[walk.scope] = Set(gone)
                result.unconfirmed = gone.count
                keepsCursor = false
            } else if end.defersSweep {
                keepsCursor = try !wait(walk, log, end.cursor, rule.listing)
            } else {
                result = try sweep(walk, log, rule)
                keepsCursor = result.held == nil
            }
            if rule.listing == .first, result.unconfirmed == 0 { scans.unconfirmed[walk.scope] = nil }
        }
        if let repeated, end.defersSweep {
            scans.parents[walk.entity]?.note(repeated)
        } else if result.unconfirmed == 0 {
            result.repeated = repeated
        }
        if keepsCursor, let cursor = end.cursor { try save(cursor, of: walk.scope) }
        if !end.defersSweep {
            let orphans = try writer.settleOrphans(ofScan: walk.scope.entity)
            result.deleted.merge(orphans, uniquingKeysWith: +)
        }
        result.relinked = relinked
        return result
    }

    /// Sweeps after the last scan of an entity's parents.
    package func finishParents(of entity: Int, _ rule: SweepRule) throws -> SweepResult {
        let name = model.entities[entity].name
        var result = try sweepParents(of: entity, name, rule)
        result.deleted.merge(try writer.settleOrphans(ofScan: name), uniquingKeysWith: +)
        return result
    }

    // MARK: - One scope

    private func sweep(_ walk: WalkTarget, _ log: ScanLog, _ rule: SweepRule) throws -> SweepResult {
        var (gone, total) = try absent(walk, log)
        if rule.listing == .second {
            let first = scans.unconfirmed.removeValue(forKey: walk.scope) ?? []
            gone.removeAll { !first.contains($0) }
        }
        let name = model.entities[walk.entity].name
        if !gone.isEmpty, let held = try held(gone.count, of: total, name, rule) { return SweepResult(held: held) }
        try saveOrigin(rule.origin, of: name)
        guard !gone.isEmpty else { return SweepResult() }
        return SweepResult(deleted: try remove(gone, of: walk.entity))
    }

    private func remove(_ rows: [Int64], of entity: Int) throws -> [Int: Int] {
        let root = model.entities[entity].root
        return try writer.remove(rows.compactMap { try tables.key(ofRow: $0, in: root) }, of: entity)
    }

    /// Returns the deletion limit that prevents this many deletions; nil if none does.
    private func held(_ gone: Int, of total: Int, _ entity: String, _ rule: SweepRule) throws -> SweepResult.Held? {
        if rule.brake != nil, let origin = rule.origin, let known = try tables.origin(of: entity), known != origin {
            // From now on the rows come from several places, and no listing covers those of another place.
            let separator = " and "
            if !known.split(separator: separator).contains(Substring(origin)) {
                try tables.setOrigin(known + separator + origin, of: entity)
            }
            return SweepResult.Held(gone: gone, total: total, origin: known)
        }
        return rule.holds(gone, of: total) ? SweepResult.Held(gone: gone, total: total) : nil
    }

    private func saveOrigin(_ origin: String?, of entity: String) throws {
        guard let origin, try tables.origin(of: entity) != origin else { return }
        try tables.setOrigin(origin, of: entity)
    }

    private func save(_ cursor: WalkCursor, of scope: WalkScope) throws {
        // A sync without changes writes nothing.
        if try tables.cursor(of: scope) != cursor { try tables.setCursor(cursor, of: scope) }
    }

    /// Returns the rows in the scan's scope that are not in its log, and the number of rows in the scope.
    private func absent(_ walk: WalkTarget, _ log: ScanLog) throws -> (rows: [Int64], total: Int) {
        let layout = model.entities[walk.entity]
        guard !layout.key.isEmpty, writer.deletionMode(of: walk.entity) != .ignore else { return ([], 0) }
        let scope = SweepScope(walk, layout, in: model)
        var gone: [Int64] = []
        var seen = 0
        try tables.forEachRow(of: layout.root) { number, key, row in
            guard scope.contains(row) else { return }
            if log.contains(number) { seen += 1 } else if try isListed(layout.root, key) { gone.append(number) }
        }
        return (gone, seen + gone.count)
    }

    private func isListed(_ root: Int, _ key: RowKey) throws -> Bool {
        // The remote cannot list an object that was never pushed to it.
        if try Outbox(tables).waitingCreate(root, key) != nil { return false }
        return try !tables.isStub(root, key) && !tables.provenance(root, key).contains { !$0.isListed }
    }

    /// Returns the keys that a listing contained twice with different values; nil if there are none.
    private func repeated(in log: ScanLog, of walk: WalkTarget) throws -> RepeatedKeys? {
        let rows = log.repeatedRows
        guard let first = rows.first, let key = try tables.key(ofRow: first, in: model.entities[walk.entity].root)
        else { return nil }
        return RepeatedKeys(count: rows.count, key: key)
    }

    // MARK: - Many parents

    private func wait(
        _ walk: WalkTarget, _ log: ScanLog, _ cursor: WalkCursor?, _ listing: SweepRule.Listing
    ) throws -> Bool {
        guard scans.parents[walk.entity] != nil else { return false }
        let (absent, total) = try absent(walk, log)
        let first = listing == .second ? scans.unconfirmed.removeValue(forKey: walk.scope) ?? [] : nil
        return scans.parents[walk.entity]?.note(absent, of: total, walk.scope, cursor, first: first) ?? false
    }

    /// Deletes the rows missing from the parents' scans; a deletion limit may apply to one parent's scope or to all of
    /// them together.
    private func sweepParents(of entity: Int, _ name: String, _ rule: SweepRule) throws -> SweepResult {
        guard let waiting = scans.parents.removeValue(forKey: entity) else { return SweepResult() }
        var result = SweepResult()
        result.repeated = waiting.repeated
        if let (row, parents) = waiting.shared, let key = try tables.key(ofRow: row, in: model.entities[entity].root) {
            result.shared = RepeatedKeys(count: waiting.sharedRows.count, key: key, parents: parents)
        }
        let gone = waiting.scopes.reduce(0) { $0 + $1.gone }
        if gone > 0, var held = try held(gone, of: waiting.total, name, rule) {
            held.scopes = waiting.scopes.count
            result.held = held
            return result
        }
        try saveOrigin(rule.origin, of: name)
        let (rows, cursors, held) = waiting.settled(rule)
        result.held = held
        for scope in cursors { if let cursor = scope.cursor { try save(cursor, of: scope.scope) } }
        result.deleted = try remove(rows, of: entity)
        return result
    }
}
