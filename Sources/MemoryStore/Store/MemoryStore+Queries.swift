public import Mapping
public import Model
public import StoreContract
internal import StoreRules
internal import TextFormats

/// The committed rows, by conditions, keys and links.
extension MemoryStore {
    /// Calls `body` with the objects of an entity that meet all conditions, in key order.
    public func rows(
        of entity: Int, where conditions: [LocalCondition], limit: Int?, includesStubs: Bool,
        _ body: ([StoredValue]) throws -> Void
    ) throws {
        let layout = model.entities[entity]
        let tables = try read()
        var rows = try self.rows(of: layout, RowFilter(layout, conditions), in: tables)
        if !layout.key.isEmpty { rows.sort { MemoryTables.precedes($0.key, $1.key) } }
        if !includesStubs { rows.removeAll { tables.isStub(layout.root, $0.key) } }
        for row in rows.prefix(limit ?? .max) { try body(row.values) }
    }

    /// Returns the rows of a query.
    public func rows(of query: RowQuery) throws -> [EntityRow] {
        let layout = model.entities[try index(of: query.entity)]
        let order = try RowOrder(query.order, of: layout)
        var rows = try matching(query, layout).sorted(by: order.precedes)
        if let after = query.after { rows.removeAll { !order.precedes(after, $0) } }
        return Array(rows.dropFirst(query.offset).prefix(query.limit ?? .max))
    }

    /// Returns the number of rows of a query, ignoring its limit and offset.
    public func count(of query: RowQuery) throws -> Int {
        let layout = model.entities[try index(of: query.entity)]
        let order = try RowOrder(query.order, of: layout)
        let rows = try matching(query, layout)
        return query.after.map { after in rows.count { order.precedes(after, $0) } } ?? rows.count
    }

    private func matching(_ query: RowQuery, _ layout: EntityLayout) throws -> [EntityRow] {
        let filter = try RowFilter(
            layout, query.conditions, query.predicate, includesDeleted: query.includesDeleted)
        return try rows(of: layout, filter, in: read())
    }

    /// Returns the rows that meet a filter, by row number, with one value per column of the entity.
    private func rows(of layout: EntityLayout, _ filter: RowFilter, in tables: MemoryTables) throws -> [EntityRow] {
        let fields = fields(of: layout)
        var rows: [EntityRow] = []
        try tables.forEachRow(of: layout.root) { _, key, values in
            if filter.contains(values) { rows.append(EntityRow(key: key, values: fields.map { values[$0] })) }
        }
        return rows
    }

    /// Returns the fields of the table that are columns of an entity.
    func fields(of layout: EntityLayout) -> [Int] {
        let names = Set(layout.columns.map(\.name))
        return layout.fields.indices.filter { names.contains(layout.fields[$0].name) }
    }

    /// Returns the index of an entity.
    ///
    /// - Throws: ``StoreError`` of the code `request` for an unknown name.
    func index(of entity: String) throws -> Int {
        guard let index = model.index(of: entity) else {
            throw StoreError(
                .request, "there is no entity \"\(entity)\"",
                remedy: "there are: \(model.entities.map(\.name).joined(separator: ", "))")
        }
        return index
    }

    /// Returns the rows of an entity with these keys.
    public func rows(of entity: Int, keys: [[StoredValue]]) throws -> [EntityRow] {
        let layout = model.entities[entity]
        let filter = try RowFilter(layout)
        let fields = fields(of: layout)
        let tables = try read()
        return Set(keys).compactMap { key in
            guard let row = tables.row(layout.root, key), filter.contains(row) else { return nil }
            return EntityRow(key: key, values: fields.map { row[$0] })
        }
    }

    /// Returns the keys of a to-many relationship's targets, by owner and in the relationship's order.
    public func links(
        of entity: Int, _ relationship: Int, owners: [[StoredValue]]
    ) throws -> [[StoredValue]: [[StoredValue]]] {
        let layout = model.entities[model.entities[entity].root]
        // An object without a key cannot be referenced.
        guard !layout.key.isEmpty else { return [:] }
        let tables = try read()
        let toMany = layout.toMany[relationship]
        var links: [[StoredValue]: [[StoredValue]]] = [:]
        for owner in Set(owners) {
            let keys =
                switch toMany.storage {
                case .inverse(let toOne):
                    tables.referrers(model.entities[toMany.target].root, toOne, to: owner)
                        .sorted(by: MemoryTables.precedes)
                case .links(let table): tables.links(table, of: owner).map(\.key)
                case .reversedLinks(let table):
                    tables.reversedLinks(table, to: owner).map(\.key).sorted(by: MemoryTables.precedes)
                }
            if !keys.isEmpty { links[owner] = keys }
        }
        return links
    }

    /// Returns which of these objects are stubs.
    public func stubs(of entity: Int, among keys: [[StoredValue]]) throws -> Set<[StoredValue]> {
        let tables = try read()
        return Set(keys.filter { tables.isStub(model.entities[entity].root, $0) })
    }

    /// Parses the values of an object's key.
    public func key(of entity: Int, from texts: [String]) throws -> [StoredValue] {
        let layout = model.entities[entity]
        return try zip(layout.key, texts).map { field, text in
            let field = layout.fields[field]
            if field.type == .data { return Base64.decode(text).map { .bytes($0) } ?? .null }
            return try LocalCondition(field: field.name, comparison: .equal, value: text).operand(
                for: field, of: layout)
        }
    }
}
