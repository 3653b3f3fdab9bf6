internal import GRDB
internal import StoreContract
internal import Mapping
internal import Model

/// A query compiled to SQL and checked against the model.
struct CompiledQuery: Sendable {
    private let columns: String
    private let source: String
    private let order: String
    private let limit: Int?
    private let offset: Int
    private let includesStubs: Bool
    private let arguments: [StoredValue]
    private let layout: EntityLayout
    private let root: EntityLayout
    let entity: Int

    /// Compiles a query.
    ///
    /// - Throws: ``StoreError`` of code `request` for names that are not in the model.
    init(_ query: RowQuery, _ model: CompiledModel) throws {
        entity = try model.knownIndex(of: query.entity)
        let layout = model.entities[entity]
        let names = layout.columns.map { SchemaBuilder.quoted($0.name) }
        // The key of an entity without one is the rowid.
        let key = layout.key.isEmpty ? ["rowid"] : layout.key.map { SchemaBuilder.quoted(layout.fields[$0].name) }
        var places: [Int] = []
        var terms = try query.order.map { order in
            let field = try layout.columnPlace(of: order.field)
            places.append(field)
            let type = layout.columns[field].type
            return Keyset.Term(
                sql: CompiledPredicate.ordered(names[field], type),
                placeholder: "?", isDescending: order.isDescending)
        }
        terms += key.map { Keyset.Term(sql: $0, placeholder: "?", isDescending: false) }
        var (filters, arguments) = try Self.filters(query, on: layout)
        if let row = query.after {
            let keyset = Keyset(terms, after: places.map { row.values[$0] } + row.key)
            filters.append(keyset.sql)
            arguments += keyset.arguments
        }
        columns = (key + names).joined(separator: ", ")
        source =
            "FROM \(SchemaBuilder.quoted(layout.table))"
            + (filters.isEmpty ? "" : " WHERE " + filters.joined(separator: " AND "))
        self.order = " ORDER BY " + terms.map { $0.sql + ($0.isDescending ? " DESC" : "") }.joined(separator: ", ")
        (limit, offset, includesStubs) = (query.limit, query.offset, query.includesStubs)
        root = model.entities[layout.root]
        self.arguments = arguments
        self.layout = layout
    }

    /// Returns the SQL condition for a sub-entity's objects in its table; nil for a root, which has all of them.
    static func isOfKind(_ layout: EntityLayout) -> String? {
        guard let field = layout.discriminator, layout.index != layout.root else { return nil }
        let names = layout.kinds.map { "'\($0)'" }.joined(separator: ", ")
        return "\(SchemaBuilder.quoted(layout.fields[field].name)) IN (\(names))"
    }

    private static func filters(
        _ query: RowQuery, on layout: EntityLayout
    ) throws -> (sql: [String], arguments: [StoredValue]) {
        let conditions = try query.conditions.map { try $0.predicate(on: layout) }
        let predicate = try CompiledPredicate(.all(conditions + [query.predicate].compactMap { $0 }), on: layout)
        var filters = [predicate.sql]
        if let kind = isOfKind(layout) { filters.append(kind) }
        if !query.includesDeleted, let field = layout.deletion {
            filters.append("\(SchemaBuilder.quoted(layout.fields[field].name)) IS NULL")
        }
        return (filters, predicate.arguments)
    }

    /// Returns the number of rows, ignoring the limit and the offset.
    func count(in db: Database) throws -> Int {
        guard includesStubs else {
            var count = 0
            try forEachRow(in: db, limit: nil, offset: 0) { _ in count += 1 }
            return count
        }
        let statement = statement("SELECT count(*) \(source)", in: db)
        return try statement.step() ? Int(statement.int64(0)) : 0
    }

    /// Returns the rows.
    func rows(in db: Database) throws -> [EntityRow] {
        var rows: [EntityRow] = []
        try forEachRow(in: db) { rows.append($0) }
        return rows
    }

    /// Calls `body` with each row.
    func forEachRow(in db: Database, _ body: (EntityRow) throws -> Void) throws {
        try forEachRow(in: db, limit: limit, offset: offset, body)
    }

    private func forEachRow(
        in db: Database, limit: Int?, offset: Int, _ body: (EntityRow) throws -> Void
    ) throws {
        let isStub = try includesStubs ? nil : StubFilter(root, in: db)
        var sql = "SELECT \(columns) \(source)\(order)"
        var (skipped, left) = (0, Int.max)
        if isStub != nil {
            // Stubs are filtered by key after the query, and the limit applies to the remaining rows.
            (skipped, left) = (offset, limit ?? .max)
        } else if limit != nil || offset > 0 {
            sql += " LIMIT \(limit ?? -1)" + (offset > 0 ? " OFFSET \(offset)" : "")
        }
        // Not GRDB's rows, which truncate text at the first NUL.
        let statement = statement(sql, in: db)
        while left > 0, try statement.step() {
            let row = EntityRow(
                key: layout.key.isEmpty ? [.integer(statement.int64(0))] : statement.values(of: layout.keyFields),
                values: statement.values(of: layout.columns, at: Int32(max(1, layout.key.count))))
            if let isStub, try isStub.holds(row.key) { continue }
            guard skipped == 0 else {
                skipped -= 1
                continue
            }
            left -= 1
            try body(row)
        }
    }

    private func statement(_ sql: String, in db: Database) -> RawStatement {
        let statement = RawStatement(sql, on: db.sqliteConnection)
        for (index, value) in arguments.enumerated() { statement.bind(value, at: Int32(index + 1)) }
        return statement
    }
}
