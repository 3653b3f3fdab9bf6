internal import Mapping
internal import Model
internal import StoreContract

/// The rows of queries.
extension PostgreSQLTables {
    /// Returns a portion of an entity's rows in key order.
    func rows(
        of layout: EntityLayout, _ conditions: [LocalCondition], after: EntityRow?, limit: Int, _ fields: [Int]
    ) throws -> [EntityRow] {
        var query = RowQuery(layout.name, where: conditions, limit: limit)
        query.after = after
        return try rows(of: layout, query, fields)
    }

    /// Returns the rows of a query, with the values of some fields of the table.
    func rows(of layout: EntityLayout, _ query: RowQuery, _ fields: [Int]) throws -> [EntityRow] {
        let table = try table(layout.root)
        let condition = try SQLCondition(query, layout, table)
        let order = try query.order.map { term in
            let column = condition.column(try condition.field(term.field))
            return "\(column) \(term.isDescending ? "DESC NULLS LAST" : "ASC NULLS FIRST")"
        }
        let terms = order + table.keyColumns.map { "t.\($0)" }
        let result = try connection.query(
            "\(table.select) WHERE \(condition.text) ORDER BY \(terms.joined(separator: ", "))"
                + (query.limit.map { " LIMIT \($0)" } ?? "") + (query.offset > 0 ? " OFFSET \(query.offset)" : ""),
            condition.parameters, for: "reading rows of \(layout.name)")
        return (0..<result.count).map { row in
            let (_, key, values) = read(result, row, table)
            return EntityRow(key: key, values: fields.map { values[$0] })
        }
    }
}
