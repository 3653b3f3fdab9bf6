internal import Mapping
internal import StoreContract
internal import StoreRules

/// The rows of entities.
extension PostgreSQLTables {
    /// Reads rows that the transaction needs, one statement for all of a table.
    func prefetch(_ root: Int, _ keys: some Sequence<RowKey>) throws {
        let table = try table(root)
        guard !table.isNumbered else { return try fetch(table, keys.compactMap(Self.number)) }
        var wanted = Set(keys).filter { rows[root]?[$0] == nil }
        guard !wanted.isEmpty else { return }
        defer {
            for key in wanted { rows[root, default: [:]][key] = CachedRow(number: 0, values: nil, isStored: false) }
        }
        guard let parameters = table.parameters(wanted) else { return }
        let result = try connection.query(table.selectByKey, parameters, for: "reading rows of \(name(root))")
        for row in 0..<result.count {
            let (number, key, values) = read(result, row, table)
            wanted.remove(key)
            rows[root, default: [:]][key] = CachedRow(number: number, values: values, isStored: true)
        }
    }

    /// Reads rows by their numbers, and keeps them as the server sends them.
    func fetch(_ table: RowTableSQL, _ numbers: [Int64]) throws {
        let root = table.layout.index
        let used = rows[root] ?? [:]
        let known = fetched[root] ?? FetchedRows(root, table.codecs, keyColumn: table.layout.key[0])
        let asked = numbers.count == 1 ? known.takeWritten(with: numbers[0]) : numbers
        let wanted = asked.filter { number in
            !known.isKnown(number) && (used.isEmpty || used[[.integer(number)]] == nil)
        }
        guard !wanted.isEmpty else { return }
        fetched[root] = known
        let action = "reading rows of \(name(root))"
        if let range = Self.range(of: wanted) {
            let ends: [SQLParameter] = [.bigint(range.lowerBound), .bigint(range.upperBound)]
            known.add(try connection.query(table.selectByRange, ends, for: action), in: range)
        } else {
            known.add(try connection.query(table.selectByKey, [.bigints(wanted)], for: action), of: wanted)
        }
    }

    /// Returns the range of numbers if they are dense; a range is read faster than a list.
    private static func range(of numbers: [Int64]) -> ClosedRange<Int64>? {
        guard numbers.count > 8, let low = numbers.min(), let high = numbers.max() else { return nil }
        let (distance, overflow) = high.subtractingReportingOverflow(low)
        return !overflow && distance < 2 * Int64(numbers.count) ? low...high : nil
    }

    func read(_ result: QueryResult, _ row: Int, _ table: RowTableSQL) -> (Int64, RowKey, [StoredValue]) {
        let number = result.bigint(row, 0) ?? 0
        let values = result.values(row, from: 1, table.codecs)
        return (number, table.key(number, values), values)
    }

    /// Returns what was read of a row, or written.
    private func known(_ root: Int, _ key: RowKey) throws -> CachedRow? {
        if let row = rows[root]?[key] { return row }
        guard let fetched = fetched[root], let number = Self.number(key), fetched.isKnown(number) else { return nil }
        if fetched.isNew(number) {
            try keepValues(ofNewRowsOf: root)
            return rows[root]?[key]
        }
        guard let place = fetched.row(number), let table = sql.rows[root] else {
            return CachedRow(number: 0, values: nil, isStored: false)
        }
        let values = read(place.result, place.row, table).2
        let row = CachedRow(number: number, values: values, isStored: true)
        rows[root, default: [:]][key] = row
        return row
    }

    private static func number(_ key: RowKey) -> Int64? {
        if key.count == 1, case .integer(let number) = key[0].form { number } else { nil }
    }

    private func cached(_ root: Int, _ key: RowKey) throws -> CachedRow? {
        if let row = try known(root, key) { return row }
        try prefetch(root, [key])
        return try known(root, key)
    }

    func row(_ root: Int, _ key: RowKey) throws -> [StoredValue]? { try cached(root, key)?.values }

    func number(of key: RowKey, in root: Int) throws -> Int64? {
        try cached(root, key).flatMap { $0.values == nil ? nil : $0.number }
    }

    func key(ofRow number: Int64, in root: Int) throws -> RowKey? {
        let table = try table(root)
        if table.isNumbered || table.layout.key.isEmpty {
            return try row(root, [.integer(number)]) == nil ? nil : [.integer(number)]
        }
        try flush(root)
        let result = try connection.query(
            "\(table.select) WHERE t.\(RowTableSQL.numberColumn) = $1::bigint", [.bigint(number)],
            for: "reading a row of \(name(root))")
        return result.count == 0 ? nil : Optional(read(result, 0, table).1).flatMap { isErased(root, $0) ? nil : $0 }
    }

    func nextNumber(in root: Int) throws -> Int64 {
        if let last = lastNumbers[root] { return last + 1 }
        let unsaved = (rows[root] ?? [:]).values.lazy.filter { $0.values != nil }.map(\.number).max() ?? 0
        let last = max(try lastNumber(in: root), unsaved)
        lastNumbers[root] = last
        return last + 1
    }

    func write(_ root: Int, _ key: RowKey, _ values: [StoredValue]) throws {
        let table = try table(root)
        // As a database stores them: not a number is null, and zero has no sign.
        let values = zip(values, table.layout.fields).map { value, field -> StoredValue in
            guard case .real(let real) = value else { return value.typed(as: field.type) }
            return real.isNaN ? .null : real == 0 ? .real(0) : value
        }
        let encoded = try table.encode(key, values)
        let known = try cached(root, key)
        var row = known ?? CachedRow(number: 0, values: nil, isStored: false)
        if row.values == nil, !row.isStored || row.number == 0 {
            if table.isNumbered || table.layout.key.isEmpty, case .integer(let number)? = key.first?.form {
                row.number = number
                if let last = lastNumbers[root] { lastNumbers[root] = max(last, number) }
            } else {
                row.number = try nextNumber(in: root)
                lastNumbers[root] = row.number
            }
        }
        noteReferences(table, key, row.number, from: row.values, to: values)
        scopeRows[root]?.note(row.number, key, from: row.values, to: values)
        (row.values, row.encoded, row.isDirty) = (values, encoded, true)
        rows[root, default: [:]][key] = row
        dirtyRows[root, default: []].insert(key)
    }

    func erase(_ root: Int, _ key: RowKey) throws {
        guard var row = try cached(root, key), row.values != nil else { return }
        noteReferences(try table(root), key, row.number, from: row.values, to: nil)
        scopeRows[root]?.note(row.number, key, from: row.values, to: nil)
        (row.values, row.encoded, row.isDirty) = (nil, nil, row.isStored)
        rows[root]?[key] = row
        if row.isStored { dirtyRows[root, default: []].insert(key) } else { dirtyRows[root]?.remove(key) }
    }

    func isEmpty(_ root: Int) throws -> Bool {
        if newRows[root] != nil { return false }
        if (rows[root] ?? [:]).values.contains(where: { $0.values != nil }) { return false }
        try flush(root)
        let table = try table(root)
        let erased = erasedCount(root)
        return try connection.query(
            "SELECT 1 FROM \(table.name) LIMIT \(erased + 1)", for: "reading \(name(root))"
        ).count <= erased
    }

    /// The number of rows read at a time.
    static let readPortion = 5_000

    func forEachRow(
        of root: Int, _ body: (_ number: Int64, _ key: RowKey, _ values: [StoredValue]) throws -> Void
    ) throws {
        try flush(root)
        let table = try table(root)
        var last: Int64?
        while true {
            let result = try connection.query(
                "\(table.select) WHERE $1::bigint IS NULL OR t.\(table.numberName) > $1 "
                    + "ORDER BY t.\(table.numberName) LIMIT \(Self.readPortion)", [.bigint(last)],
                for: "reading the rows of \(name(root))")
            for row in 0..<result.count {
                let (number, key, values) = read(result, row, table)
                last = number
                if let changed = rows[root]?[key], changed.isDirty {
                    if let values = changed.values { try body(number, key, values) }
                } else {
                    try body(number, key, values)
                }
            }
            guard result.count == Self.readPortion else { return }
        }
    }

    /// Returns the least value of a column; null without rows.
    func leastValue(of field: Int, in root: Int) throws -> StoredValue {
        try flush(root)
        let table = try table(root)
        let column = Identifier.quoted(table.layout.fields[field].name)
        let result = try connection.query(
            "SELECT min(\(table.codecs[field].sqlType.read("t.\(column)"))) FROM \(table.name) t",
            for: "reading \(name(root))")
        return result.values(0, [table.codecs[field]])[0]
    }

    // MARK: - References

    /// Reads the rows that refer to keys, one statement for all.
    func prefetchReferrers(_ root: Int, _ toOne: Int, to keys: some Sequence<RowKey>) throws {
        let names = Set(keys.map { ReferrerName(root: root, toOne: toOne, key: $0) }).filter { referrers[$0] == nil }
        guard !names.isEmpty else { return }
        try flush(root)
        let table = try table(root)
        let relationship = table.layout.toOne[toOne]
        let fields = Array(relationship.firstField..<relationship.firstField + relationship.fieldCount)
        for name in names { referrers[name] = [] }
        let columns = fields.map { Identifier.quoted(table.layout.fields[$0].name) }
        let codecs = fields.map { table.codecs[$0] }
        guard let parameters = RowTableSQL.parameters(names.map(\.key), codecs) else { return }
        let result = try connection.query(
            RowTableSQL.join(table.select, columns, codecs) + " ORDER BY t.\(table.numberName)", parameters,
            for: "reading the rows of \(self.name(root)) that refer to others")
        for row in 0..<result.count {
            let (number, key, values) = read(result, row, table)
            guard !isErased(root, key) else { continue }
            let name = ReferrerName(root: root, toOne: toOne, key: fields.map { values[$0] })
            referrers[name, default: []].append((number, key))
            if rows[root]?[key] == nil {
                rows[root, default: [:]][key] = CachedRow(number: number, values: values, isStored: true)
            }
        }
    }

    func referrers(_ root: Int, _ toOne: Int, to key: RowKey) throws -> [RowKey] {
        let name = ReferrerName(root: root, toOne: toOne, key: key)
        if referrers[name] == nil { try prefetchReferrers(root, toOne, to: [key]) }
        return (referrers[name] ?? []).map(\.key)
    }

    /// Keeps the known referrers up to date with a write.
    private func noteReferences(
        _ table: RowTableSQL, _ key: RowKey, _ number: Int64, from old: [StoredValue]?, to new: [StoredValue]?
    ) {
        guard !referrers.isEmpty else { return }
        for (index, toOne) in table.layout.toOne.enumerated() {
            let fields = toOne.firstField..<toOne.firstField + toOne.fieldCount
            let before = old.map { Array($0[fields]) }
            let after = new.map { Array($0[fields]) }
            guard before != after else { continue }
            if let before {
                let name = ReferrerName(root: table.layout.index, toOne: index, key: before)
                referrers[name]?.removeAll { $0.key == key }
            }
            if let after, !after.contains(.null) {
                let name = ReferrerName(root: table.layout.index, toOne: index, key: after)
                let place = referrers[name]?.firstIndex { $0.number > number } ?? referrers[name]?.count ?? 0
                referrers[name]?.insert((number, key), at: place)
            }
        }
    }
}
