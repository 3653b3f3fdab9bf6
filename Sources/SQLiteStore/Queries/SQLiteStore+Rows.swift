internal import GRDB
public import StoreContract
public import Mapping

extension SQLiteStore {
    /// Returns the committed rows of a query.
    ///
    /// - Throws: `StoreError`; of code `request` for names that are not in the model.
    public func rows(of query: RowQuery) throws -> [EntityRow] {
        let compiled = try CompiledQuery(query, model)
        return try read("reading \(query.entity)") { try compiled.rows(in: $0) }
    }

    /// Calls `body` with each committed row of a query, from one snapshot of the file while imports continue.
    ///
    /// - Throws: `StoreError`; of code `request` for names that are not in the model.
    public func rows(of query: RowQuery, _ body: (EntityRow) throws -> Void) throws {
        let compiled = try CompiledQuery(query, model)
        try read("reading \(query.entity)") { try compiled.forEachRow(in: $0, body) }
    }

    /// Returns the number of rows of a query, ignoring its limit and offset.
    ///
    /// - Throws: `StoreError`; of code `request` for names that are not in the model.
    public func count(of query: RowQuery) throws -> Int {
        let compiled = try CompiledQuery(query, model)
        return try read("counting \(query.entity)") { try compiled.count(in: $0) }
    }

    /// Returns the rows of an entity with these keys, in no particular order; keys without a row are left out.
    ///
    /// - Throws: `StoreError`.
    public func rows(of entity: Int, keys: [[StoredValue]]) throws -> [EntityRow] {
        let layout = model.entities[entity]
        let columns = layout.columns.map { SchemaBuilder.quoted($0.name) }
        let key = layout.key.isEmpty ? ["rowid"] : layout.key.map { SchemaBuilder.quoted(layout.fields[$0].name) }
        var filters = ["(\(key.joined(separator: ", "))) IN (VALUES \(Self.chunkPlace))"]
        if let kind = CompiledQuery.isOfKind(layout) { filters.append(kind) }
        let sql =
            "SELECT \((key + columns).joined(separator: ", ")) FROM \(SchemaBuilder.quoted(layout.table)) "
            + "WHERE \(filters.joined(separator: " AND "))"
        var rows: [EntityRow] = []
        try readChunks(keys, width: key.count, sql, "reading \(layout.name)") { row in
            rows.append(
                EntityRow(
                    key: layout.key.isEmpty ? [.integer(row.int64(0))] : row.values(of: layout.keyFields),
                    values: row.values(of: layout.columns, at: Int32(key.count))))
        }
        return rows
    }

    /// Returns the keys of a to-many relationship's targets, by owner and in the relationship's order.
    ///
    /// - Parameters:
    ///   - entity: The index of the entity that has the relationship.
    ///   - relationship: The relationship's index in `EntityLayout.toMany`.
    ///   - owners: The keys of the objects that have the relationship.
    /// - Throws: `StoreError`.
    public func links(
        of entity: Int, _ relationship: Int, owners: [[StoredValue]]
    ) throws -> [[StoredValue]: [[StoredValue]]] {
        let layout = model.entities[model.entities[entity].root]
        // An object without a key cannot be referenced.
        guard !layout.key.isEmpty else { return [:] }
        let many = layout.toMany[relationship]
        let target = model.entities[model.entities[many.target].root]
        let table: String
        let ownerColumns: [String]
        let targetColumns: [String]
        var order: [String]
        switch many.storage {
        case .inverse(let index):
            let one = target.toOne[index]
            table = target.table
            ownerColumns = (0..<one.fieldCount).map { target.fields[one.firstField + $0].name }
            targetColumns = target.key.map { target.fields[$0].name }
            order = targetColumns
        case .links(let name):
            table = name
            ownerColumns = SchemaBuilder.linkColumns(.source, layout, of: name, in: model)
            targetColumns = SchemaBuilder.linkColumns(.target, target, of: name, in: model)
            order = ["position"]
        case .reversedLinks(let name):
            table = name
            ownerColumns = SchemaBuilder.linkColumns(.target, layout, of: name, in: model)
            targetColumns = SchemaBuilder.linkColumns(.source, target, of: name, in: model)
            order = targetColumns
        }
        order = order.map(SchemaBuilder.quoted)
        let owned = ownerColumns.map(SchemaBuilder.quoted)
        let columns = owned + targetColumns.map(SchemaBuilder.quoted)
        let sql =
            "SELECT \(columns.joined(separator: ", ")) FROM \(SchemaBuilder.quoted(table)) "
            + "WHERE (\(owned.joined(separator: ", "))) IN (VALUES \(Self.chunkPlace)) "
            + "ORDER BY \(order.joined(separator: ", "))"
        var links: [[StoredValue]: [[StoredValue]]] = [:]
        try readChunks(owners, width: owned.count, sql, "reading \(layout.name).\(many.name)") { row in
            links[row.values(of: layout.keyFields), default: []].append(
                row.values(of: target.keyFields, at: Int32(owned.count)))
        }
        return links
    }

    /// Returns which of these objects are stubs.
    ///
    /// - Throws: `StoreError`.
    public func stubs(of entity: Int, among keys: [[StoredValue]]) throws -> Set<[StoredValue]> {
        let name = model.entities[model.entities[entity].root].name
        return try read("reading stubs") { db in
            let hasAny = try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM bmo_stubs WHERE entity = ?)", arguments: [name])
            guard hasAny == true else { return [] }
            let search = RawStatement(
                "SELECT 1 FROM bmo_stubs WHERE entity = ? AND key = ?", on: db.sqliteConnection)
            var found: Set<[StoredValue]> = []
            for key in keys {
                search.bind(name, at: 1)
                search.bind(utf8: JSONText.key(key).bytes, at: 2)
                if try search.step() { found.insert(key) }
                search.reset()
            }
            return found
        }
    }

    /// Parses the values of an object's key.
    ///
    /// - Parameters:
    ///   - entity: The entity's index in the model.
    ///   - texts: One text per attribute of the key, in order; bytes as base64.
    /// - Throws: `StoreError` of code `request` for text that does not fit the attribute's type.
    public func key(of entity: Int, from texts: [String]) throws -> [StoredValue] {
        try model.entities[entity].keyValues(from: texts)
    }

    /// The marker that ``readChunks(_:width:_:_:_:)`` replaces with placeholders for keys.
    private static var chunkPlace: String { "/*keys*/" }

    /// Runs a statement with chunks of the keys, as SQLite limits the number of bound values.
    private func readChunks(
        _ keys: [[StoredValue]], width: Int, _ sql: String, _ action: String, _ body: (RawStatement) throws -> Void
    ) throws {
        let chunk = 500
        try read(action) { db in
            var statement: (RawStatement, count: Int)?
            for start in stride(from: 0, to: keys.count, by: chunk) {
                let part = keys[start..<min(start + chunk, keys.count)]
                if statement?.count != part.count {
                    let place = "(" + Array(repeating: "?", count: width).joined(separator: ", ") + ")"
                    let places = Array(repeating: place, count: part.count).joined(separator: ", ")
                    statement = (
                        RawStatement(sql.replacing(Self.chunkPlace, with: places), on: db.sqliteConnection),
                        part.count
                    )
                }
                guard let select = statement?.0 else { continue }
                for (index, value) in part.joined().enumerated() { select.bind(value, at: Int32(index + 1)) }
                while try select.step() { try body(select) }
                select.reset()
            }
        }
    }
}
