internal import StoreContract
internal import Mapping
internal import Model

/// The deletion of rows that a complete listing lacks, unless a deletion limit prevents it.
///
/// Only rows that the entity's own listing has ever included count: not stubs, not objects that came nested in others,
/// and not those already marked as deleted.
final class Sweep {
    /// The rows missing so far from the scans of an entity's parents.
    private struct Waiting {
        /// The scope of one parent.
        struct Scope {
            let scope: WalkScope
            var cursor: WalkCursor?
            var gone: Int
            let total: Int
        }

        var scopes: [Scope] = []
        /// The missing rows, each with its scope's index; a row that another scan lists is removed.
        var rows: [Int64: Int] = [:]
        /// Rows that a parent's scan listed but that refer to another parent.
        var strangers: Set<Int64> = []
        var total = 0
        /// The parents whose scans are complete, as hashes of their keys' text.
        var ended: Set<Int> = []
        /// The first row that two parents listed, and the keys of these parents.
        var shared: (row: Int64, parents: [[StoredValue]])?
        var sharedRows: Set<Int64> = []
        /// The keys that occurred twice in the listing of one parent.
        var repeated: RepeatedKeys?
    }

    private let model: CompiledModel
    private unowned let writers: Writers
    private let connection: OpaquePointer?
    private var waiting: [Int: Waiting] = [:]
    /// The rows missing from the first of two listings of a scope.
    private var unconfirmed: [WalkScope: Set<Int64>] = [:]

    /// The number of rows compared at a time.
    private static let chunk = 1 << 20

    init(_ model: CompiledModel, _ writers: Writers, on connection: OpaquePointer?) {
        self.model = model
        self.writers = writers
        self.connection = connection
    }

    // MARK: - One scope

    /// Deletes the rows missing from the scan's log.
    func sweep(_ walk: WalkTarget, _ log: SeenLog, _ rule: SweepRule) throws -> SweepResult {
        var (gone, total) = try absent(walk, log)
        if rule.listing == .second {
            let first = unconfirmed.removeValue(forKey: walk.scope) ?? []
            gone.removeAll { !first.contains($0) }
        }
        let name = model.entities[walk.entity].name
        if !gone.isEmpty {
            if let held = try held(gone.count, of: total, name, rule) { return SweepResult(held: held) }
        }
        try writers.origins.save(rule.origin, of: name)
        guard !gone.isEmpty else { return SweepResult() }
        return SweepResult(deleted: try writers.remover.remove(gone, of: walk.entity))
    }

    /// Returns the deletion limit that prevents this many deletions; nil if none does.
    private func held(_ gone: Int, of total: Int, _ entity: String, _ rule: SweepRule) throws -> SweepResult.Held? {
        if rule.brake != nil, let origin = try writers.origins.other(than: rule.origin, of: entity) {
            try writers.origins.add(rule.origin, of: entity)
            return SweepResult.Held(gone: gone, total: total, origin: origin)
        }
        return rule.holds(gone, of: total) ? SweepResult.Held(gone: gone, total: total) : nil
    }

    /// Notes the rows missing from the first of two listings; returns their number.
    func note(_ walk: WalkTarget, _ log: SeenLog) throws -> Int {
        let gone = try absent(walk, log).rows
        unconfirmed[walk.scope] = gone.isEmpty ? nil : Set(gone)
        return gone.count
    }

    /// Returns the rows in the scan's scope that are not in its log, and the number of rows in the scope.
    private func absent(_ walk: WalkTarget, _ log: SeenLog) throws -> (rows: [Int64], total: Int) {
        let layout = model.entities[walk.entity]
        guard !layout.key.isEmpty, writers.remover.mode(of: walk.entity) != .ignore else { return ([], 0) }
        let (condition, values) = scope(walk, layout)
        let table = SchemaBuilder.quoted(layout.table)
        if condition.isEmpty, log.isGapless, try bounds(of: layout) == [log.first, log.last] { return ([], log.count) }
        if condition.isEmpty, log.isAscending {
            let count = try RawStatement("SELECT count(*) FROM \(table)", on: connection)
            _ = try count.step()
            defer { count.reset() }
            if count.int64(0) == Int64(log.count) { return ([], log.count) }
        }
        let conditions = [condition.isEmpty ? nil : condition, "\(layout.rowIDName) > ?"].compactMap { $0 }
        let select = try RawStatement(
            "SELECT \(layout.rowIDName) FROM \(table) WHERE \(conditions.joined(separator: " AND ")) "
                + "ORDER BY \(layout.rowIDName) LIMIT \(Self.chunk)", on: connection)
        var gone: [Int64] = []
        var seen = 0
        var last = Int64.min
        while true {
            for (index, value) in values.enumerated() { select.bind(value, at: Int32(index + 1)) }
            select.bind(last, at: Int32(values.count + 1))
            var rows: [Int64] = []
            while try select.step() { rows.append(select.int64(0)) }
            select.reset()
            guard let end = rows.last else { break }
            last = end
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
        let select = try RawStatement(
            """
            SELECT (SELECT min(\(layout.rowIDName)) FROM \(table)), (SELECT max(\(layout.rowIDName)) FROM \(table))
            """, on: connection)
        _ = try select.step()
        defer { select.reset() }
        return [select.optionalInt64(0), select.optionalInt64(1)].compactMap { $0 }
    }

    /// Returns the SQL condition for the rows in the scan's scope, with its values.
    private func scope(_ walk: WalkTarget, _ layout: EntityLayout) -> (sql: String, values: [StoredValue]) {
        var conditions: [String] = []
        var values: [StoredValue] = []
        if let field = layout.discriminator {
            // Sub-entities with their own listing belong to that listing.
            let source = model.model
            let foreign = source.entities.filter { entity in
                entity.isWalked && entity.name != layout.name && layout.kinds.contains(entity.name)
            }.flatMap { entity in model.index(of: entity.name).map { model.entities[$0].kinds } ?? [] }
            let own = layout.kinds.filter { !foreign.contains($0) }
            conditions.append(
                "\(SchemaBuilder.quoted(layout.fields[field].name)) IN (\(own.map { _ in "?" }.joined(separator: ", ")))"
            )
            values += own.map { .text($0) }
        }
        if let parent = walk.parent {
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
        guard let key = try writers.remover.key(of: layout.root, row) else { return false }
        let root = model.entities[layout.root]
        let text = JSONText.key(key)
        // The remote cannot list an object that was never pushed to it.
        if writers.outbox.count(of: root.index).value > 0, try writers.outbox.waitingCreate(root.index, key) != nil {
            return false
        }
        return try !writers.stubs.contains(root.name, text) && !writers.provenance.isUnlisted(root, text)
    }

    // MARK: - Skipped rows

    /// Returns the rows of an entity that a scan skipped, using the key's index if the field is the key.
    func rows(_ spared: [SparedRows], of entity: Int) throws -> [Int64] {
        let layout = model.entities[entity]
        var rows: [Int64] = []
        var others: [SparedRows] = []
        for objects in spared {
            guard layout.key == [objects.field], let range = keyRange(objects, layout.fields[objects.field].type) else {
                others.append(objects)
                continue
            }
            let column = SchemaBuilder.quoted(layout.fields[objects.field].name)
            let select = try RawStatement(
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

    /// Returns the bounds of the skipped keys: the upper one is inclusive, or exclusive for a prefix.
    private func keyRange(_ objects: SparedRows, _ type: AttributeType) -> (low: StoredValue, high: StoredValue)? {
        switch type {
        case .integer where !objects.isPrefix:
            return Int64(objects.value).map { (.integer($0), .integer($0)) }
        case .text, .url, .uuid:
            guard objects.isPrefix else { return (.text(objects.value), .text(objects.value)) }
            guard var last = objects.value.unicodeScalars.last else { return nil }
            // The least text after all texts with this prefix, whose last scalar is the next one.
            guard let next = Unicode.Scalar(last.value == 0xD7FF ? 0xE000 : last.value + 1) else { return nil }
            last = next
            return (
                .text(objects.value),
                .text(
                    String(
                        String.UnicodeScalarView(
                            objects.value.unicodeScalars.dropLast() + [last])))
            )
        default: return nil
        }
    }

    /// Finds all of them in one pass over the table.
    private func scan(for spared: [SparedRows], _ layout: EntityLayout) throws -> [Int64] {
        let fields = Set(spared.map(\.field)).sorted()
        let exact = Set(spared.filter { !$0.isPrefix }.map { "\($0.field) \($0.value)" })
        // The prefixes, by field and length.
        var prefixes: [Int: [Int: Set<[UInt8]>]] = [:]
        for objects in spared where objects.isPrefix {
            prefixes[objects.field, default: [:]][objects.value.utf8.count, default: []].insert(
                Array(objects.value.utf8))
        }
        let columns = fields.map { SchemaBuilder.quoted(layout.fields[$0].name) }
        let select = try RawStatement(
            "SELECT \(layout.rowIDName), \(columns.joined(separator: ", ")) "
                + "FROM \(SchemaBuilder.quoted(layout.table))", on: connection)
        var rows: [Int64] = []
        while try select.step() {
            let isSpared = fields.enumerated().contains { position, field in
                let value = select.value(Int32(position + 1))
                guard value != .null else { return false }
                let text = value.description
                if exact.contains("\(field) \(text)") { return true }
                let bytes = Array(text.utf8)
                return (prefixes[field] ?? [:]).contains { $0 <= bytes.count && $1.contains(Array(bytes.prefix($0))) }
            }
            if isSpared { rows.append(select.int64(0)) }
        }
        return rows
    }

    // MARK: - Many parents

    /// Discards the rows missing from the scans of an entity's parents.
    func beginParents(of entity: Int) { waiting[entity] = Waiting() }

    /// Notes the rows missing from one parent's scan; returns whether there are any, so that its cursor waits too.
    func wait(
        _ walk: WalkTarget, _ log: SeenLog, _ cursor: WalkCursor?, _ listing: SweepRule.Listing
    ) throws -> Bool {
        guard var waiting = waiting[walk.entity] else { return false }
        self.waiting[walk.entity] = nil
        defer { self.waiting[walk.entity] = waiting }
        let (absent, total) = try absent(walk, log)
        waiting.ended.insert(walk.scope.parent.hashValue)
        waiting.total += total
        let first = listing == .second ? unconfirmed.removeValue(forKey: walk.scope) ?? [] : nil
        let gone = absent.filter { !waiting.strangers.contains($0) && first?.contains($0) != false }
        guard !gone.isEmpty else { return false }
        for row in gone { waiting.rows[row] = waiting.scopes.count }
        waiting.scopes.append(
            Waiting.Scope(scope: walk.scope, cursor: cursor, gone: gone.count, total: total))
        return true
    }

    /// Reverts the notes of a parent's scan whose last page was rolled back.
    func takeBack(_ walk: WalkTarget) {
        guard walk.parent != nil else { return }
        waiting[walk.entity]?.ended.remove(walk.scope.parent.hashValue)
        guard var waiting = waiting[walk.entity],
            let place = waiting.scopes.firstIndex(where: { $0.scope == walk.scope })
        else { return }
        waiting.rows = waiting.rows.filter { $0.value != place }
        waiting.scopes[place].gone = 0
        waiting.scopes[place].cursor = nil
        self.waiting[walk.entity] = waiting
    }

    /// Notes that a parent's scan lists a row, which is then not missing, whichever parent it refers to.
    func note(_ row: Int64, of walk: WalkTarget, refersElsewhere: Bool) {
        guard waiting[walk.entity] != nil else { return }
        if refersElsewhere { waiting[walk.entity]?.strangers.insert(row) }
        if waiting[walk.entity]?.rows.isEmpty == false,
            let place = waiting[walk.entity]?.rows.removeValue(forKey: row)
        {
            waiting[walk.entity]?.scopes[place].gone -= 1
        }
    }

    /// Notes that a parent's scan lists a row that referred to another parent and was not missing from that one's
    /// listing.
    ///
    /// Call it before ``note(_:of:refersElsewhere:)``.
    func noteTaken(_ row: Int64, by walk: WalkTarget, from former: [StoredValue]) {
        guard let parent = walk.parent, !former.contains(.null), former != parent.key,
            let waiting = waiting[walk.entity], waiting.rows[row] == nil,
            waiting.ended.contains(JSONText.key(former).string.hashValue)
        else { return }
        if waiting.shared == nil { self.waiting[walk.entity]?.shared = (row, [former, parent.key]) }
        self.waiting[walk.entity]?.sharedRows.insert(row)
    }

    /// Notes keys that occurred twice in the listing of one parent.
    func note(_ repeated: RepeatedKeys, of walk: WalkTarget) {
        guard waiting[walk.entity] != nil else { return }
        var all = waiting[walk.entity]?.repeated ?? RepeatedKeys(count: 0, key: repeated.key)
        all.count += repeated.count
        waiting[walk.entity]?.repeated = all
    }

    /// Returns the keys that a listing contained twice with different values; nil if there are none.
    func repeated(in log: SeenLog, of walk: WalkTarget) throws -> RepeatedKeys? {
        let rows = log.repeatedRows
        guard let first = rows.first, let key = try writers.remover.key(of: model.entities[walk.entity].root, first)
        else { return nil }
        return RepeatedKeys(count: rows.count, key: key)
    }

    /// Deletes the rows missing from the parents' scans, after the last of them.
    ///
    /// A deletion limit may apply to one parent's scope or to all of them together.
    func sweepParents(of entity: Int, _ rule: SweepRule) throws -> SweepResult {
        guard let waiting = waiting.removeValue(forKey: entity) else { return SweepResult() }
        let layout = model.entities[entity]
        var result = SweepResult()
        result.repeated = waiting.repeated
        if let (row, parents) = waiting.shared, let key = try writers.remover.key(of: layout.root, row) {
            result.shared = RepeatedKeys(count: waiting.sharedRows.count, key: key, parents: parents)
        }
        let gone = waiting.scopes.reduce(0) { $0 + $1.gone }
        if gone > 0, var held = try held(gone, of: waiting.total, layout.name, rule) {
            held.scopes = waiting.scopes.count
            result.held = held
            return result
        }
        try writers.origins.save(rule.origin, of: layout.name)
        var held = Set<Int>()
        for (place, scope) in waiting.scopes.enumerated() {
            if rule.holds(scope.gone, of: scope.total) {
                held.insert(place)
                let before = result.held ?? SweepResult.Held(gone: 0, total: 0, scopes: 0)
                result.held = SweepResult.Held(
                    gone: before.gone + scope.gone, total: before.total + scope.total, scopes: before.scopes + 1)
            } else if let cursor = scope.cursor {
                try writers.cursors.save(cursor, of: scope.scope)
            }
        }
        let rows = waiting.rows.filter { !held.contains($0.value) }.map(\.key).sorted()
        result.deleted = try writers.remover.remove(rows, of: layout.index)
        return result
    }
}
