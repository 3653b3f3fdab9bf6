internal import StoreContract
internal import Mapping

/// The source that wrote each column of a row: tables `bmo_provenance` and `bmo_sources`.
///
/// A row without a record here came entirely from its entity's own listing, so the usual case costs nothing. A record
/// says that another source wrote some columns: a scan that listed the row nested, or a further bridge. The columns
/// belong to that source until another source writes them. `listed` says whether the entity's own listing has ever
/// included the row: only such rows, and those without a record, count as missing when a later listing lacks them.
final class ProvenanceTable {
    private struct Source: Hashable {
        let entity: Int
        let bridge: String
        let scan: String
        let columns: [UInt64]
    }

    private struct Record {
        let source: Int64
        let bridge: String
        let scan: String
        let columns: Set<String>
        let firstRun: Int64?
        let lastRun: Int64?
        let location: String?
        let isListed: Bool
    }

    private let model: CompiledModel
    private let changes: ChangeLog
    private let cursors: CursorTable
    /// The IDs of the sources used so far.
    private var sources: [Source: Int64] = [:]
    /// The last source used, and the number of the page's source at that time; it is mostly used again.
    private var last: (source: Source, number: Int64, pageSource: Int)?
    // Both may stay true for too long, which costs only an unnecessary look-up.
    /// Whether an entity has records, by entity; nil until first needed.
    private var hasAny: [Bool?] = []
    /// Whether an entity has records of rows that were never listed, by entity.
    private var hasUnlisted: [Bool?] = []
    private let anyRecord: RawStatement
    private let anyUnlisted: RawStatement
    private let clearingAll: RawStatement
    private let addSource: RawStatement
    private let findSource: RawStatement
    private let insertion: RawStatement
    private let clearing: RawStatement
    private let scans: RawStatement
    private let deletion: RawStatement
    private let listing: RawStatement
    private let select: RawStatement
    private let unlisted: RawStatement

    init(on connection: OpaquePointer?, model: CompiledModel, changes: ChangeLog, cursors: CursorTable) {
        self.model = model
        self.cursors = cursors
        self.changes = changes
        anyRecord = RawStatement(
            "SELECT EXISTS (SELECT 1 FROM bmo_provenance WHERE entity = ?)", on: connection)
        anyUnlisted = RawStatement(
            "SELECT EXISTS (SELECT 1 FROM bmo_provenance WHERE entity = ? AND listed = 0)", on: connection)
        clearingAll = RawStatement("DELETE FROM bmo_provenance WHERE entity = ?", on: connection)
        addSource = RawStatement(
            "INSERT INTO bmo_sources (entity, bridge, walk, columns) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
            on: connection)
        findSource = RawStatement(
            "SELECT id FROM bmo_sources WHERE entity = ? AND bridge = ? AND walk = ? AND columns = ?", on: connection)
        insertion = RawStatement(
            """
            INSERT INTO bmo_provenance (entity, key, source, first_run, last_run, location, listed)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            ON CONFLICT DO UPDATE SET
                last_run = excluded.last_run, location = excluded.location, listed = excluded.listed
            """, on: connection)
        clearing = RawStatement(
            "DELETE FROM bmo_provenance WHERE entity = ? AND key = ?", on: connection)
        scans = RawStatement(
            """
            SELECT DISTINCT s.walk FROM bmo_provenance p JOIN bmo_sources s ON s.id = p.source
            WHERE p.entity = ? AND s.columns <> ''
            """, on: connection)
        deletion = RawStatement(
            "DELETE FROM bmo_provenance WHERE entity = ? AND key = ? AND source = ?", on: connection)
        listing = RawStatement(
            "UPDATE bmo_provenance SET listed = 1 WHERE entity = ? AND key = ? AND listed = 0", on: connection)
        unlisted = RawStatement(
            "SELECT 1 FROM bmo_provenance WHERE entity = ? AND key = ? AND listed = 0", on: connection)
        select = RawStatement(
            """
            SELECT s.id, s.bridge, s.walk, s.columns, p.first_run, p.last_run, p.location, p.listed
            FROM bmo_provenance p JOIN bmo_sources s ON s.id = p.source WHERE p.entity = ? AND p.key = ?
            """, on: connection)
        forgetMemory()
    }

    /// Clears the cache, after another process has written or a page was rolled back.
    func forgetMemory() {
        sources = [:]
        last = nil
        hasAny = Array(repeating: nil, count: model.entities.count)
        hasUnlisted = hasAny
    }

    private func mayHaveRecords(_ layout: EntityLayout) throws -> Bool {
        if let known = hasAny[layout.index] { return known }
        let found = try Self.ask(anyRecord, layout)
        hasAny[layout.index] = found
        return found
    }

    private func mayHaveUnlisted(_ layout: EntityLayout) throws -> Bool {
        if let known = hasUnlisted[layout.index] { return known }
        let found = try Self.ask(anyUnlisted, layout)
        hasUnlisted[layout.index] = found
        return found
    }

    private static func ask(_ statement: RawStatement, _ layout: EntityLayout) throws -> Bool {
        statement.bind(layout.name, at: 1)
        _ = try statement.step()
        defer { statement.reset() }
        return statement.int64(0) != 0
    }

    /// Returns whether the row came only nested or from other sources, and never from the entity's own listing.
    func isUnlisted(_ layout: EntityLayout, _ key: JSONText) throws -> Bool {
        guard try mayHaveUnlisted(layout) else { return false }
        unlisted.bind(layout.name, at: 1)
        unlisted.bind(utf8: key.bytes, at: 2)
        defer { unlisted.reset() }
        return try unlisted.step()
    }

    /// Returns those of the fields whose values another source than the page's wrote, with one look-up for all.
    ///
    /// What the entity's own listing wrote has no record.
    func fieldsOfOthers(
        _ fields: [Int], _ layout: EntityLayout, _ key: JSONText, as role: RowRole
    ) throws -> [Int] {
        let records = try records(of: layout, key)
        return fields.filter { field in
            let writers = records.filter { $0.columns.contains(layout.fields[field].name) }
            if role.isOfListing { return !writers.isEmpty }
            return !writers.contains { $0.bridge == changes.source?.bridge && $0.scan == changes.source?.scan }
        }
    }

    /// Has the scans that brought values of a row, which are lost, list everything again.
    ///
    /// Those that ask only for changes would never bring them for the object that has returned.
    ///
    /// - Parameter isLost: Whether the row has no value in a field.
    func askAgain(_ layout: EntityLayout, _ key: JSONText, where isLost: (Int) -> Bool) throws {
        let lost = Set(layout.fields.indices.filter(isLost).map { layout.fields[$0].name })
        try askAgain(try records(of: layout, key).filter { !$0.columns.isDisjoint(with: lost) }.map(\.scan))
    }

    private func askAgain(_ scans: [String]) throws {
        for scan in Set(scans) { try cursors.forget(of: scan, returning: changes.source?.scan) }
    }

    /// Notes that the entity's own listing included the row.
    func noteListed(_ layout: EntityLayout, _ cells: UnsafeBufferPointer<Cell>) throws {
        guard try mayHaveUnlisted(layout) else { return }
        let key = JSONText.key(layout.key.lazy.map { cells[$0] })
        try noteListed(layout, key)
    }

    /// Notes that the row with a key counts as one that the entity's own listing included.
    func noteListed(_ layout: EntityLayout, _ key: JSONText) throws {
        listing.bind(layout.name, at: 1)
        listing.bind(utf8: key.bytes, at: 2)
        try listing.run()
    }

    /// Notes that the page's source inserted the row.
    func noteInsert(_ layout: EntityLayout, _ cells: UnsafeBufferPointer<Cell>, as role: RowRole) throws {
        // A row without a key cannot be queried, and no listing can lack it.
        guard !layout.key.isEmpty else { return }
        let mayHaveRecords = try concernsNewRows(layout)
        guard role.isUnlisted || mayHaveRecords else { return }
        let key = JSONText.key(layout.key.lazy.map { cells[$0] })
        if mayHaveRecords { try forgetPredecessor(layout, key) }
        guard role.isUnlisted else { return }
        var mask = [UInt64](repeating: 0, count: (cells.count + 63) / 64)
        // What a listing wrote has no record.
        for index in cells.indices where role == .nested && cells[index].kind != .absent {
            mask[index / 64] |= 1 << UInt64(index % 64)
        }
        try add(layout, key, mask, firstRun: nil, isListed: false)
    }

    /// Returns whether there may be records about deleted objects, which say nothing about new ones with the same key.
    func concernsNewRows(_ layout: EntityLayout) throws -> Bool {
        try !changes.isLoading(layout.index) && mayHaveRecords(layout)
    }

    /// Notes that an object created locally is now on the remote; a listing that began earlier may lack it.
    func noteCreated(_ layout: EntityLayout, _ key: JSONText) throws {
        guard try records(of: layout, key).isEmpty else { return }
        let mask = [UInt64](repeating: 0, count: (layout.fields.count + 63) / 64)
        try add(layout, key, mask, firstRun: nil, isListed: false)
    }

    /// Notes that the page's source wrote these fields of an existing row.
    ///
    /// - Parameter wasUnlisted: Whether its own listing has never had the row, or does not have it any more: a stub, or a row
    ///   that was marked as deleted.
    func noteUpdate(
        _ layout: EntityLayout, _ cells: UnsafeBufferPointer<Cell>, fields: [Int], as role: RowRole, wasUnlisted: Bool
    ) throws {
        var needsMark = role == .listedElsewhere && wasUnlisted
        guard try !role.isOfListing || needsMark || mayHaveRecords(layout) else { return }
        let key = JSONText.key(layout.key.lazy.map { cells[$0] })
        let written = Set(fields.map { layout.fields[$0].name })
        let records = try records(of: layout, key)
        let source = changes.source
        var own = written
        var firstRun: Int64?
        // A row that came only from its entity's listing has no record.
        var isListed = !wasUnlisted && (records.isEmpty || records.contains(where: \.isListed))
        if role == .listed { isListed = true }
        for record in records {
            let isSame = record.bridge == source?.bridge && record.scan == source?.scan
            if !role.isOfListing, isSame {
                own.formUnion(record.columns)
                firstRun = record.firstRun
                if own != record.columns { try remove(record, layout, key) }
                continue
            }
            let left = record.columns.subtracting(written)
            let isMark = needsMark && isSame
            guard left.count < record.columns.count || isMark else { continue }
            try remove(record, layout, key)
            if !left.isEmpty || isMark {
                try add(layout, key, mask(of: left, layout), of: record, firstRun: record.firstRun, isListed: isListed)
            }
            if isMark { needsMark = false }
        }
        guard !role.isOfListing || needsMark else { return }
        try add(layout, key, mask(of: needsMark ? [] : own, layout), firstRun: firstRun, isListed: isListed)
    }

    /// Forgets the records of an empty table, which are about deleted rows.
    func forgetRows(of layout: EntityLayout) throws {
        guard try mayHaveRecords(layout) else { return }
        try askAgain(try scansOfRecords(of: layout))
        clearingAll.bind(layout.name, at: 1)
        try clearingAll.run()
    }

    /// Returns the scans that brought columns of a table's rows.
    private func scansOfRecords(of layout: EntityLayout) throws -> [String] {
        scans.bind(layout.name, at: 1)
        defer { scans.reset() }
        var found: [String] = []
        while try scans.step() { found.append(scans.text(0) ?? "") }
        return found
    }

    /// Forgets what is recorded of a deleted object with the key of a new row.
    private func forgetPredecessor(_ layout: EntityLayout, _ key: JSONText) throws {
        let records = try records(of: layout, key)
        guard !records.isEmpty else { return }
        try askAgain(records.filter { !$0.columns.isEmpty }.map(\.scan))
        clearing.bind(layout.name, at: 1)
        clearing.bind(utf8: key.bytes, at: 2)
        try clearing.run()
    }

    private func mask(of columns: Set<String>, _ layout: EntityLayout) -> [UInt64] {
        var mask = [UInt64](repeating: 0, count: (layout.fields.count + 63) / 64)
        for (index, field) in layout.fields.enumerated() where columns.contains(field.name) {
            mask[index / 64] |= 1 << UInt64(index % 64)
        }
        return mask
    }

    private func add(
        _ layout: EntityLayout, _ key: JSONText, _ mask: [UInt64], of other: Record? = nil, firstRun: Int64?,
        isListed: Bool
    ) throws {
        let run = try other == nil ? changes.runIDIfAny() : other?.lastRun
        // Before the first bind, as the next run of the statement would report a failure between binding and running.
        let number = try number(of: mask, layout, of: other)
        insertion.bind(layout.name, at: 1)
        insertion.bind(utf8: key.bytes, at: 2)
        insertion.bind(number, at: 3)
        insertion.bind(optional: firstRun ?? run, at: 4)
        insertion.bind(optional: run, at: 5)
        insertion.bind(other == nil ? changes.source?.location : other?.location, at: 6)
        insertion.bind(isListed ? 1 : 0 as Int64, at: 7)
        try insertion.run()
        hasAny[layout.index] = true
        if !isListed { hasUnlisted[layout.index] = true }
    }

    private func remove(_ record: Record, _ layout: EntityLayout, _ key: JSONText) throws {
        deletion.bind(layout.name, at: 1)
        deletion.bind(utf8: key.bytes, at: 2)
        deletion.bind(record.source, at: 3)
        try deletion.run()
    }

    private func records(of layout: EntityLayout, _ key: JSONText) throws -> [Record] {
        guard try mayHaveRecords(layout) else { return [] }
        select.bind(layout.name, at: 1)
        select.bind(utf8: key.bytes, at: 2)
        defer { select.reset() }
        var records: [Record] = []
        while try select.step() {
            records.append(
                Record(
                    source: select.int64(0), bridge: select.text(1) ?? "", scan: select.text(2) ?? "",
                    columns: Set((select.text(3) ?? "").split(separator: " ").map(String.init)),
                    firstRun: select.optionalInt64(4), lastRun: select.optionalInt64(5), location: select.text(6),
                    isListed: select.int64(7) != 0))
        }
        return records
    }

    private func number(of mask: [UInt64], _ layout: EntityLayout, of other: Record?) throws -> Int64 {
        if other == nil, let last, last.pageSource == changes.sourceNumber, last.source.entity == layout.index,
            last.source.columns == mask
        {
            return last.number
        }
        let source = Source(
            entity: layout.index, bridge: other?.bridge ?? changes.source?.bridge ?? "",
            scan: other?.scan ?? changes.source?.scan ?? "", columns: mask)
        let number = try number(of: source, layout)
        if other == nil { last = (source, number, changes.sourceNumber) }
        return number
    }

    private func number(of source: Source, _ layout: EntityLayout) throws -> Int64 {
        if let known = sources[source] { return known }
        // Column names contain no spaces.
        let columns = layout.fields.indices.filter { source.columns[$0 / 64] >> UInt64($0 % 64) & 1 == 1 }
            .map { layout.fields[$0].name }.joined(separator: " ")
        func bind(_ statement: RawStatement) {
            for (index, text) in [layout.name, source.bridge, source.scan, columns].enumerated() {
                statement.bind(text, at: Int32(index + 1))
            }
        }
        bind(addSource)
        try addSource.run()
        bind(findSource)
        _ = try findSource.step()
        defer { findSource.reset() }
        let number = findSource.int64(0)
        // Bounds the cache: a remote could otherwise cause 2^columns entries.
        if sources.count >= 4096 { sources = [:] }
        sources[source] = number
        return number
    }
}
