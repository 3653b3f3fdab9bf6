internal import Mapping
internal import Model
internal import StoreContract
internal import StoreRules

/// The rows by conditions.
extension MemoryTables {
    /// All rows: a further call would filter and sort them all again.
    static var portion: Int { .max }

    func rows(of query: RowQuery, on layout: EntityLayout) throws -> [EntityRow] {
        let order = try RowOrder(query.order, of: layout)
        var rows = try matching(query, layout).sorted(by: order.precedes)
        if let after = query.after { rows.removeAll { !order.precedes(after, $0) } }
        return Array(rows.dropFirst(query.offset).prefix(query.limit ?? .max))
    }

    func count(of query: RowQuery, on layout: EntityLayout) throws -> Int {
        let order = try RowOrder(query.order, of: layout)
        let rows = try matching(query, layout)
        return query.after.map { after in rows.count { order.precedes(after, $0) } } ?? rows.count
    }

    /// Returns the rows that meet a query's conditions, by row number.
    private func matching(_ query: RowQuery, _ layout: EntityLayout) throws -> [EntityRow] {
        let filter = try RowFilter(
            layout, query.conditions, query.predicate, includesDeleted: query.includesDeleted)
        let places = layout.columnPlaces
        var rows: [EntityRow] = []
        try forEachRow(of: layout.root) { _, key, values in
            if filter.contains(values) { rows.append(EntityRow(key: key, values: places.map { values[$0] })) }
        }
        return rows
    }

    func count(of root: Int) -> Int { table(root)?.rows.count ?? 0 }

    func lastNumber(in root: Int) -> Int64 { table(root)?.rows.keys.max() ?? 0 }

    func rows(
        on layout: EntityLayout, where conditions: [LocalCondition], afterNumber number: Int64, limit: Int
    ) throws -> [NumberedRow] {
        let filter = try RowFilter(layout, conditions, includesDeleted: false)
        var rows: [NumberedRow] = []
        try forEachRow(of: layout.root) { own, key, values in
            guard own > number, rows.count < limit, filter.contains(values) else { return }
            rows.append(NumberedRow(number: own, key: key, values: values))
        }
        return rows
    }

    func extraTexts(of layout: EntityLayout, limit: Int) throws -> [String] {
        guard let field = layout.extra else { return [] }
        var texts: [String] = []
        try forEachRow(of: layout.root) { _, _, row in
            if texts.count < limit, case .text(let text) = row[field].form { texts.append(text) }
        }
        return texts
    }
}
