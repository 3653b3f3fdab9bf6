internal import Mapping
internal import StoreRules

/// The rows that a scan has not listed.
extension PostgreSQLTables {
    func unlistedRows(
        of root: Int, in scope: SweepScope, notIn log: ScanLog, isCounted: Bool
    ) throws -> (rows: [(number: Int64, key: RowKey)], total: Int) {
        if let known = scopeRows[root]?.rows(in: scope) {
            let unlisted = known.filter { !log.contains($0.key) }.sorted { $0.key < $1.key }
            if !unlisted.isEmpty { try prefetchState(root, unlisted.map(\.value)) }
            return (unlisted.map { (number: $0.key, key: $0.value) }, known.count)
        }
        try flush(root)
        let table = try table(root)
        var rows: [(number: Int64, key: RowKey)] = []
        var total = 0
        // No row has a parent's key that does not fit the columns.
        guard let (condition, parameters) = try? table.condition(scope) else { return ([], 0) }
        if let found = try rowsInGaps(of: log, table, scope, condition, parameters, isCounted: isCounted) {
            return found
        }
        // The rows of one parent are few, and a limit would make the server walk through the whole table by number.
        let isDivided = scope.parent == nil
        let limit = isDivided ? " LIMIT \(Self.keyPortion)" : ""
        var last: Int64?
        while true {
            let further = last == nil ? "" : " AND t.\(table.numberName) > $\(parameters.count + 1)::bigint"
            let result = try connection.query(
                "\(table.selectKeys) WHERE true\(condition)\(further) ORDER BY t.\(table.numberName)\(limit)",
                parameters + (last.map { [.bigint($0)] } ?? []), for: "reading the rows of \(name(root))")
            var unlisted: [(number: Int64, key: RowKey)] = []
            for row in 0..<result.count {
                let number = result.bigint(row, 0) ?? 0
                last = number
                // Most rows are listed, and their keys need not be known, unless the transaction deletes rows.
                let wasListed = log.contains(number)
                if wasListed, dirtyRows[root] == nil {
                    total += 1
                    continue
                }
                let key = table.isNumbered ? [.integer(number)] : result.values(row, from: 1, table.keyCodecs)
                guard !isErased(root, key) else { continue }
                total += 1
                if !wasListed { unlisted.append((number, key)) }
            }
            // The rules ask next whether these are stubs, and where they came from.
            if !unlisted.isEmpty { try prefetchState(root, unlisted.map(\.key)) }
            rows += unlisted
            guard isDivided, result.count == Self.keyPortion else { return (rows, total) }
        }
    }

    func prefetchRows(of root: Int, in scopes: [SweepScope]) throws {
        guard var known = ScopeRows(scopes), let parent = scopes.first?.parent else { return }
        try flush(root)
        let table = try table(root)
        let columns = parent.fields.map { Identifier.quoted(table.layout.fields[$0].name) }
        let codecs = parent.fields.map { table.codecs[$0] }
        // No row has a parent's key that does not fit the columns.
        if let parents = RowTableSQL.parameters(scopes.compactMap { $0.parent?.key }, codecs),
            let (condition, others) = try? table.condition(scopes[0].besidesParent, after: parents.count)
        {
            let read = zip(columns, codecs).map { $1.sqlType.read("t.\($0)") }
            let select = "SELECT \(table.keyList), \(read.joined(separator: ", ")) FROM \(table.name) t"
            let result = try connection.query(
                RowTableSQL.join(select, columns, codecs) + condition, parents + others,
                for: "reading the rows of \(name(root))")
            let keyCodecs = table.isNumbered ? [] : table.keyCodecs
            for row in 0..<result.count {
                let number = result.bigint(row, 0) ?? 0
                let key = table.isNumbered ? [.integer(number)] : result.values(row, from: 1, keyCodecs)
                guard !isErased(root, key) else { continue }
                // A key that the server holds for equal, although it is written in another way: each scan asks for itself.
                guard known.add(number, key, of: result.values(row, from: 1 + keyCodecs.count, codecs)) else { return }
            }
        }
        scopeRows[root] = known
    }

    /// The number of keys read at a time.
    private static let keyPortion = 50_000

    /// The most gaps between the numbers of listed rows that are looked up one by one.
    private static let mostGaps = 1_000

    /// Returns the rows with numbers between those of the listed ones; nil if there are too many gaps or rows for that.
    ///
    /// Where the numbers of the listed rows follow one another, the server needs to look at none of these rows.
    private func rowsInGaps(
        of log: ScanLog, _ table: RowTableSQL, _ scope: SweepScope, _ condition: String, _ parameters: [SQLParameter],
        isCounted: Bool
    ) throws -> (rows: [(number: Int64, key: RowKey)], total: Int)? {
        let root = table.layout.index
        guard scope.parent == nil, sql.engine.hasOtherUniqueColumns, dirtyRows[root]?.isEmpty != false,
            let gaps = log.gaps(atMost: Self.mostGaps)
        else { return nil }
        let (low, high) = (parameters.count + 1, parameters.count + 2)
        let found = try connection.query(
            """
            SELECT f.* FROM unnest($\(low)::bigint[], $\(high)::bigint[]) AS g(low, high) CROSS JOIN LATERAL (
                \(table.selectKeys) WHERE t.\(table.numberName) BETWEEN g.low AND g.high\(condition)
                ORDER BY t.\(table.numberName) LIMIT \(Self.keyPortion)) f LIMIT \(Self.keyPortion)
            """, parameters + [.bigints(gaps.map(\.lowerBound)), .bigints(gaps.map(\.upperBound))],
            for: "reading the rows of \(name(root))")
        guard found.count < Self.keyPortion else { return nil }
        let rows = (0..<found.count).map { row -> (number: Int64, key: RowKey) in
            let number = found.bigint(row, 0) ?? 0
            return (number, table.isNumbered ? [.integer(number)] : found.values(row, from: 1, table.keyCodecs))
        }.sorted { $0.number < $1.number }
        guard isCounted || !rows.isEmpty else { return ([], 0) }
        if !rows.isEmpty { try prefetchState(root, rows.map(\.key)) }
        let total = try connection.query(
            "SELECT count(*) FROM \(table.name) t WHERE true\(condition)", parameters,
            for: "counting the rows of \(name(root))")
        return (rows, Int(total.bigint(0, 0) ?? 0))
    }
}
