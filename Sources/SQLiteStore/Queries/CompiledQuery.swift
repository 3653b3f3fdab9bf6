internal import GRDB
internal import StoreContract
internal import Mapping
internal import Model

/// A query compiled to SQL and checked against the model.
struct CompiledQuery: Sendable {
    private let columns: String
    private let source: String
    private let ending: String
    private let arguments: [StoredValue]
    private let layout: EntityLayout
    let entity: Int

    /// Compiles a query.
    ///
    /// - Throws: ``StoreError`` of code `request` for names that are not in the model.
    init(_ query: RowQuery, _ model: CompiledModel) throws {
        entity = try model.observedIndex(of: query.entity)
        let layout = model.entities[entity]
        let names = layout.columns.map { SchemaBuilder.quoted($0.name) }
        // The key of an entity without one is the rowid.
        let key = layout.key.isEmpty ? ["rowid"] : layout.key.map { SchemaBuilder.quoted(layout.fields[$0].name) }
        var places: [Int] = []
        var terms = try query.order.map { order in
            guard let field = layout.columns.firstIndex(where: { $0.name == order.field }) else {
                throw StoreError(
                    .request, "\(layout.name) has no field \"\(order.field)\"",
                    remedy: "there are: \(layout.columns.map(\.name).joined(separator: ", "))")
            }
            places.append(field)
            let type = layout.columns[field].type
            return Keyset.Term(
                sql: CompiledPredicate.ordered(names[field], type),
                placeholder: CompiledPredicate.ordered("?", type), isDescending: order.isDescending)
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
        var ending = " ORDER BY " + terms.map { $0.sql + ($0.isDescending ? " DESC" : "") }.joined(separator: ", ")
        if query.limit != nil || query.offset > 0 { ending += " LIMIT \(query.limit ?? -1)" }
        if query.offset > 0 { ending += " OFFSET \(query.offset)" }
        self.ending = ending
        self.arguments = arguments
        self.layout = layout
    }

    private static func filters(
        _ query: RowQuery, on layout: EntityLayout
    ) throws -> (sql: [String], arguments: [StoredValue]) {
        let conditions = try query.conditions.map { try $0.predicate(on: layout) }
        let predicate = try CompiledPredicate(.all(conditions + [query.predicate].compactMap { $0 }), on: layout)
        var filters = [predicate.sql]
        if let kind = SQLiteStore.isOfKind(layout) { filters.append(kind) }
        if !query.includesDeleted, let field = layout.deletion {
            filters.append("\(SchemaBuilder.quoted(layout.fields[field].name)) IS NULL")
        }
        return (filters, predicate.arguments)
    }

    /// Returns the current number of rows.
    func count(in store: SQLiteStore) throws -> Int {
        try store.read("counting rows") { db in
            let statement = try RawStatement("SELECT count(*) \(source)", on: db.sqliteConnection)
            for (index, value) in arguments.enumerated() { statement.bind(value, at: Int32(index + 1)) }
            return try statement.step() ? Int(statement.int64(0)) : 0
        }
    }

    /// Returns the current rows.
    func rows(in store: SQLiteStore) throws -> [EntityRow] {
        try store.read("reading rows") { db in
            let statement = try RawStatement("SELECT \(columns) \(source)\(ending)", on: db.sqliteConnection)
            for (index, value) in arguments.enumerated() { statement.bind(value, at: Int32(index + 1)) }
            var rows: [EntityRow] = []
            while try statement.step() {
                rows.append(
                    EntityRow(
                        key: layout.key.isEmpty
                            ? [.integer(statement.int64(0))] : statement.values(of: layout.keyFields),
                        values: statement.values(of: layout.columns, at: Int32(max(1, layout.key.count)))))
            }
            return rows
        }
    }
}

extension CompiledModel {
    /// Returns the index of an entity.
    ///
    /// - Throws: ``StoreError`` of code `request` for an unknown entity.
    func observedIndex(of entity: String) throws -> Int {
        guard let index = index(of: entity) else {
            throw StoreError(
                .request, "there is no entity \"\(entity)\"",
                remedy: "there are: \(entities.map(\.name).joined(separator: ", "))")
        }
        return index
    }
}
