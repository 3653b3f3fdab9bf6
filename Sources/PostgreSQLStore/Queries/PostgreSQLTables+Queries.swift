internal import Mapping
internal import Model
internal import StoreContract
internal import StoreRules

/// The rows of queries.
extension PostgreSQLTables {
    static var portion: Int { 5_000 }

    func rows(of query: RowQuery, on layout: EntityLayout) throws -> [EntityRow] {
        let table = try table(layout.root)
        let places = layout.columnPlaces
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
            return EntityRow(key: key, values: places.map { values[$0] })
        }
    }

    func count(of query: RowQuery, on layout: EntityLayout) throws -> Int {
        let table = try table(layout.root)
        let condition = try SQLCondition(query, layout, table)
        let result = try connection.query(
            "SELECT count(*) FROM \(table.name) t WHERE \(condition.text)", condition.parameters,
            for: "counting rows of \(layout.name)")
        return Int(result.bigint(0, 0) ?? 0)
    }

    func count(of root: Int) throws -> Int {
        Int(
            try connection.query("SELECT count(*) FROM \(try table(root).name)", for: "counting rows of \(name(root))")
                .bigint(0, 0) ?? 0)
    }

    func lastNumber(in root: Int) throws -> Int64 {
        let table = try table(root)
        return try connection.query(
            "SELECT max(t.\(table.numberName)) FROM \(table.name) t", for: "reading the last row of \(name(root))"
        ).bigint(0, 0) ?? 0
    }

    func rows(
        on layout: EntityLayout, where conditions: [LocalCondition], afterNumber number: Int64, limit: Int
    ) throws -> [NumberedRow] {
        let table = try table(layout.root)
        var condition = SQLCondition(layout, table)
        try condition.addKinds()
        condition.excludeDeleted()
        try condition.add(conditions)
        condition.add("t.\(table.numberName) > \(condition.bind(.bigint(number), "bigint"))")
        let result = try connection.query(
            "\(table.select) WHERE \(condition.text) ORDER BY t.\(table.numberName) LIMIT \(limit)",
            condition.parameters, for: "reading parents")
        return (0..<result.count).map { row in
            let (number, key, values) = read(result, row, table)
            return NumberedRow(number: number, key: key, values: values)
        }
    }

    func extraTexts(of layout: EntityLayout, limit: Int) throws -> [String] {
        guard let field = layout.extra else { return [] }
        let table = try table(layout.root)
        let column = "t." + Identifier.quoted(layout.fields[field].name)
        let result = try connection.query(
            """
            SELECT \(column) FROM \(table.name) t WHERE \(column) IS NOT NULL ORDER BY t.\(table.numberName)
            LIMIT $1::bigint
            """, [.bigint(Int64(limit))], for: "reading unmapped fields")
        return (0..<result.count).map { result.text($0, 0) ?? "{}" }
    }
}
