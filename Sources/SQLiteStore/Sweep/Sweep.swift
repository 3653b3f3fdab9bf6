internal import StoreContract
internal import StoreRules
internal import Mapping
internal import Model

/// The deletion of rows that a complete listing lacks, unless a deletion limit prevents it.
///
/// Only rows that the entity's own listing has ever included count: not stubs, not objects that came nested in others,
/// and not those already marked as deleted.
final class Sweep {
    private let model: CompiledModel
    private let rowEditors: RowEditors
    private let remover: RowRemover
    private let origins: OriginTable
    private let cursors: CursorTable
    private let outbox: OutboxTable
    private let connection: OpaquePointer?
    /// The statements that end each scan of a walk by parent.
    private let statements: StatementCache
    /// The state of the scans of an entity's parents, by entity.
    private var waiting: [Int: ParentSweep<Int64>] = [:]
    /// What the pages of the open transaction have noted, by the scope.
    private var noted: [ScanScope: Noted] = [:]
    /// The rows missing from the first of two listings of a scope.
    private var unconfirmed: [ScanScope: Set<Int64>] = [:]

    /// What a rollback takes back.
    private struct Noted {
        /// The number of rows in the scope.
        var total = 0
        /// The number of keys that occurred twice.
        var repeated = 0
        /// The rows that the first of two listings lacked.
        var unconfirmed: Set<Int64>?
    }

    /// The number of rows compared at a time.
    private static let chunk = 1 << 20

    init(
        _ model: CompiledModel, _ rowEditors: RowEditors, _ remover: RowRemover, origins: OriginTable,
        cursors: CursorTable, outbox: OutboxTable, on connection: OpaquePointer?
    ) {
        self.model = model
        self.rowEditors = rowEditors
        self.remover = remover
        self.origins = origins
        self.cursors = cursors
        self.outbox = outbox
        self.connection = connection
        statements = StatementCache(on: connection)
    }

    // MARK: - One scope

    /// Deletes the rows missing from the scan's log.
    func sweep(_ scan: ScanTarget, _ log: SeenLog, _ rule: SweepRule) throws -> SweepResult {
        let (absent, total) = try absent(scan, log)
        let first = rule.listing == .second ? unconfirmed.removeValue(forKey: scan.scope) ?? [] : []
        let gone = rule.confirmed(absent, first: first)
        let name = model.entities[scan.entity].name
        let root = model.entities[scan.entity].root
        // Rows that stay anyway would reach the limit again with each listing.
        let refusals = try remover.refusals(of: gone, root)
        let deletable = gone.count { refusals[RowRemover.RowName(root: root, row: $0)] == nil }
        if let held = try rule.held(deletable, of: total, otherOrigin: otherOrigin(name, rule)) {
            return SweepResult(held: held)
        }
        if deletable > 0 || gone.isEmpty { try origins.save(rule.origin, of: name) }
        guard !gone.isEmpty else { return SweepResult() }
        return SweepResult(deleted: try remover.remove(gone, of: scan.entity, refusals: refusals))
    }

    /// Returns the origin of an entity's rows if it is another than that of the listing, which is then known too.
    private func otherOrigin(_ entity: String, _ rule: SweepRule) throws -> String? {
        guard let origin = try origins.other(than: rule.origin, of: entity) else { return nil }
        try origins.add(rule.origin, of: entity)
        return origin
    }

    /// Notes the rows missing from the first of two listings; returns their number.
    func note(_ scan: ScanTarget, _ log: SeenLog) throws -> Int {
        let gone = try absent(scan, log).rows
        unconfirmed[scan.scope] = gone.isEmpty ? nil : Set(gone)
        return gone.count
    }

    /// Returns the number of rows that the listing lacks, and that the first of two listings lacked, too.
    func unconfirmedCount(_ scan: ScanTarget, _ log: SeenLog) throws -> Int {
        guard let first = unconfirmed[scan.scope] else { return 0 }
        return try absent(scan, log).rows.count(where: first.contains)
    }

    /// Returns the rows in the scan's scope that are not in its log, and the number of rows in the scope.
    private func absent(_ scan: ScanTarget, _ log: SeenLog) throws -> (rows: [Int64], total: Int) {
        let layout = model.entities[scan.entity]
        guard !layout.key.isEmpty, remover.mode(of: scan.entity) != .ignore else { return ([], 0) }
        let (condition, values) = scope(scan, layout)
        let table = SchemaBuilder.quoted(layout.table)
        if condition.isEmpty, log.isGapless, try bounds(of: layout) == [log.first, log.last] { return ([], log.count) }
        if condition.isEmpty, log.isAscending {
            let count = RawStatement("SELECT count(*) FROM \(table)", on: connection)
            _ = try count.step()
            defer { count.reset() }
            if count.int64(0) == Int64(log.count) { return ([], log.count) }
        }
        let conditions = [condition.isEmpty ? nil : condition, "\(layout.rowIDName) > ?"].compactMap { $0 }
        let select = statements(
            "SELECT \(layout.rowIDName) FROM \(table) WHERE \(conditions.joined(separator: " AND ")) "
                + "ORDER BY \(layout.rowIDName) LIMIT \(Self.chunk)")
        defer { select.reset() }
        var gone: [Int64] = []
        var seen = 0
        // Less than any rowid.
        var last = StoredValue.real(-1e19)
        while true {
            for (index, value) in values.enumerated() { select.bind(value, at: Int32(index + 1)) }
            select.bind(last, at: Int32(values.count + 1))
            var rows: [Int64] = []
            while try select.step() { rows.append(select.int64(0)) }
            select.reset()
            guard let end = rows.last else { break }
            last = .integer(end)
            var marked = MarkedRows(rows)
            marked.mark(log)
            for (row, isSeen) in zip(marked.rows, marked.isSeen) {
                if isSeen { seen += 1 } else if try isListed(row, layout) { gone.append(row) }
            }
            if rows.count < Self.chunk { break }
        }
        return (gone, seen + gone.count)
    }

    /// Returns the first and last row of an entity's table; empty if the table is empty.
    private func bounds(of layout: EntityLayout) throws -> [Int64] {
        let table = SchemaBuilder.quoted(layout.table)
        // Two quick look-ups; a count would read every page of the table.
        let select = RawStatement(
            """
            SELECT (SELECT min(\(layout.rowIDName)) FROM \(table)), (SELECT max(\(layout.rowIDName)) FROM \(table))
            """, on: connection)
        _ = try select.step()
        defer { select.reset() }
        return [select.optionalInt64(0), select.optionalInt64(1)].compactMap { $0 }
    }

    /// Returns the SQL condition for the rows in the scan's scope, with its values.
    private func scope(_ scan: ScanTarget, _ layout: EntityLayout) -> (sql: String, values: [StoredValue]) {
        var conditions: [String] = []
        var values: [StoredValue] = []
        if let field = layout.discriminator {
            let own = SweepScope.kinds(of: layout, in: model)
            conditions.append(
                "\(SchemaBuilder.quoted(layout.fields[field].name)) IN (\(own.map { _ in "?" }.joined(separator: ", ")))"
            )
            values += own.map { .text($0) }
        }
        if let parent = scan.parent {
            let toOne = layout.toOne[parent.relationship]
            for (offset, value) in parent.key.enumerated() {
                conditions.append("\(SchemaBuilder.quoted(layout.fields[toOne.firstField + offset].name)) = ?")
                values.append(value)
            }
        }
        if let field = layout.deletion {
            conditions.append("\(SchemaBuilder.quoted(layout.fields[field].name)) IS NULL")
        }
        return (conditions.joined(separator: " AND "), values)
    }

    private func isListed(_ row: Int64, _ layout: EntityLayout) throws -> Bool {
        guard let key = try rowEditors.key(of: layout.root, row) else { return false }
        let root = model.entities[layout.root]
        // The remote cannot list an object that was never pushed to it.
        if outbox.count(of: root.index).value > 0, try outbox.waitingCreate(root.index, key) != nil {
            return false
        }
        return try remover.hasBeenListed(root, key)
    }

    // MARK: - Skipped rows

    /// Returns the rows of an entity that a scan skipped, using the key's index if the field is the key.
    func rows(_ skipped: [SkippedRows], of entity: Int) throws -> [Int64] {
        let layout = model.entities[entity]
        var rows: [Int64] = []
        var others: [SkippedRows] = []
        for objects in skipped {
            guard layout.key == [objects.field], let range = objects.range(of: layout.fields[objects.field].type) else {
                others.append(objects)
                continue
            }
            let column = SchemaBuilder.quoted(layout.fields[objects.field].name)
            let select = RawStatement(
                "SELECT \(layout.rowIDName) FROM \(SchemaBuilder.quoted(layout.table)) "
                    + "WHERE \(column) >= ?1 AND (?2 IS NULL OR \(column) \(objects.isPrefix ? "<" : "<=") ?2)",
                on: connection)
            select.bind(range.low, at: 1)
            select.bind(range.high, at: 2)
            while try select.step() { rows.append(select.int64(0)) }
        }
        if !others.isEmpty { rows += try scan(for: others, layout) }
        return rows
    }

    /// Finds all of them in one pass over the table.
    private func scan(for skipped: [SkippedRows], _ layout: EntityLayout) throws -> [Int64] {
        let matcher = SparedRowMatcher(skipped)
        let columns = matcher.fields.map { SchemaBuilder.quoted(layout.fields[$0].name) }
        let select = RawStatement(
            "SELECT \(layout.rowIDName), \(columns.joined(separator: ", ")) "
                + "FROM \(SchemaBuilder.quoted(layout.table))", on: connection)
        var rows: [Int64] = []
        while try select.step() {
            if matcher.matches({ select.value(Int32($0 + 1)) }) { rows.append(select.int64(0)) }
        }
        return rows
    }

    // MARK: - Many parents

    /// Discards the rows missing from the scans of an entity's parents.
    func beginParents(of entity: Int) { waiting[entity] = ParentSweep() }

    /// Notes the rows missing from one parent's scan; returns whether there are any, so that its cursor waits too.
    func wait(
        _ scan: ScanTarget, _ log: SeenLog, _ cursor: ScanCursor?, _ listing: SweepRule.Listing
    ) throws -> Bool {
        guard waiting[scan.entity] != nil else { return false }
        let (absent, total) = try absent(scan, log)
        let first = listing == .second ? unconfirmed.removeValue(forKey: scan.scope) ?? [] : nil
        noted[scan.scope, default: Noted()].total = total
        noted[scan.scope]?.unconfirmed = first
        return waiting[scan.entity]?.end(scan.scope, absent: absent, of: total, cursor: cursor, first: first) ?? false
    }

    /// Reverts the notes of a parent's scan whose last page was rolled back.
    func takeBack(_ scan: ScanTarget) {
        let noted = noted.removeValue(forKey: scan.scope) ?? Noted()
        if let first = noted.unconfirmed { unconfirmed[scan.scope] = first }
        if scan.parent != nil {
            waiting[scan.entity]?.takeBack(scan.scope, of: noted.total, repeated: noted.repeated)
        }
    }

    /// Keeps what the pages of a transaction have noted.
    func pageCommitted() { noted = [:] }

    /// Notes that a parent's scan lists a row.
    func note(_ row: Int64, of scan: ScanTarget, refersElsewhere: Bool) {
        waiting[scan.entity]?.noteListed(row, refersElsewhere: refersElsewhere)
    }

    /// Notes that a parent's scan lists a row that referred to another parent; see ``ParentSweep/noteTaken(_:by:from:)``.
    func noteTaken(_ row: Int64, by scan: ScanTarget, from former: [StoredValue]) {
        if let parent = scan.parent { waiting[scan.entity]?.noteTaken(row, by: parent.key, from: former) }
    }

    /// Notes keys that occurred twice in the listing of one parent.
    func note(_ repeated: RepeatedKeys, of scan: ScanTarget) {
        noted[scan.scope, default: Noted()].repeated += repeated.count
        waiting[scan.entity]?.note(repeated)
    }

    /// Returns the keys that a listing contained twice with different values; nil if there are none.
    func repeated(in log: SeenLog, of scan: ScanTarget) throws -> RepeatedKeys? {
        let rows = log.repeatedRows
        guard let first = rows.first, let key = try rowEditors.key(of: model.entities[scan.entity].root, first)
        else { return nil }
        return RepeatedKeys(count: rows.count, key: key)
    }

    /// Deletes the rows missing from the parents' scans, after the last of them.
    ///
    /// A deletion limit may apply to one parent's scope or to all of them together.
    func sweepParents(of entity: Int, _ rule: SweepRule) throws -> SweepResult {
        guard var waiting = waiting.removeValue(forKey: entity) else { return SweepResult() }
        let layout = model.entities[entity]
        var result = SweepResult()
        result.repeated = waiting.repeated
        if let (row, parents) = waiting.shared, let key = try rowEditors.key(of: layout.root, row) {
            result.shared = RepeatedKeys(count: waiting.sharedCount, key: key, parents: parents)
        }
        // Rows that stay anyway do not count.
        let missing = try remover.canRefuse(layout.root) ? waiting.saved.scopes.flatMap(\.rows).sorted() : []
        let refusals = try remover.refusals(of: missing, layout.root)
        func stays(_ row: Int64) -> Bool { refusals[RowRemover.RowName(root: layout.root, row: row)] != nil }
        if !refusals.isEmpty { waiting.keepMissing { row, _ in !stays(row) } }
        let decision = try waiting.decide(by: rule, otherOrigin: otherOrigin(layout.name, rule))
        result.held = decision.held
        guard !decision.preventsAll else { return result }
        let kept = missing.filter(stays)
        if kept.isEmpty || !decision.rows.isEmpty { try origins.save(rule.origin, of: layout.name) }
        for (scope, cursor) in decision.cursors { try cursors.save(cursor, of: scope) }
        let rows = kept + decision.rows
        // The rows of a scope that the limit held stay, and may keep others.
        result.deleted = try remover.remove(
            rows, of: layout.index, refusals: rows.count == missing.count ? refusals : nil)
        return result
    }
}
