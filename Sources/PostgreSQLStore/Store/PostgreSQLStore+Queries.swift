public import Mapping
public import Model
public import StoreContract
internal import StoreRules
internal import TextFormats

/// The committed rows, by conditions, keys and links.
extension PostgreSQLStore {
    /// Calls `body` with the objects of an entity that meet all conditions, in key order.
    public func rows(
        of entity: Int, where conditions: [LocalCondition], limit: Int?, includesStubs: Bool,
        _ body: ([StoredValue]) throws -> Void
    ) throws {
        let layout = model.entities[entity]
        var after: EntityRow?
        var left = limit ?? .max
        while left > 0 {
            let (rows, stubs) = try read { tables in
                let rows = try tables.rows(
                    of: layout, conditions, after: after, limit: Self.portion, fields(of: layout))
                guard !includesStubs else { return (rows, Set<[StoredValue]>()) }
                try tables.prefetchState(layout.root, rows.map(\.key))
                return (rows, Set(try rows.map(\.key).filter { try tables.isStub(layout.root, $0) }))
            }
            for row in rows where left > 0 && !stubs.contains(row.key) {
                try body(row.values)
                left -= 1
            }
            guard rows.count == Self.portion else { return }
            after = rows.last
        }
    }

    /// The number of rows that a portion of a long reading has.
    private static let portion = 5_000

    /// Returns the rows of a query.
    public func rows(of query: RowQuery) throws -> [EntityRow] {
        let layout = model.entities[try index(of: query.entity)]
        return try read { try $0.rows(of: layout, query, fields(of: layout)) }
    }

    /// Returns the number of rows of a query, ignoring its limit and offset.
    public func count(of query: RowQuery) throws -> Int {
        let layout = model.entities[try index(of: query.entity)]
        return try read { tables in
            let table = try tables.table(layout.root)
            let condition = try SQLCondition(query, layout, table)
            let result = try tables.connection.query(
                "SELECT count(*) FROM \(table.name) t WHERE \(condition.text)", condition.parameters,
                for: "counting rows of \(layout.name)")
            return Int(result.bigint(0, 0) ?? 0)
        }
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
        let fields = fields(of: layout)
        return try read { tables in
            try tables.prefetch(layout.root, keys)
            return try Set(keys).compactMap { key in
                guard let row = try tables.row(layout.root, key), layout.contains(row) else { return nil }
                return EntityRow(key: key, values: fields.map { row[$0] })
            }
        }
    }

    /// Returns the keys of a to-many relationship's targets, by owner and in the relationship's order.
    public func links(
        of entity: Int, _ relationship: Int, owners: [[StoredValue]]
    ) throws -> [[StoredValue]: [[StoredValue]]] {
        let layout = model.entities[model.entities[entity].root]
        // An object without a key cannot be referenced.
        guard !layout.key.isEmpty else { return [:] }
        let toMany = layout.toMany[relationship]
        let target = model.entities[model.entities[toMany.target].root]
        return try read { tables in
            var links: [[StoredValue]: [[StoredValue]]] = [:]
            switch toMany.storage {
            case .inverse(let toOne): try tables.prefetchReferrers(target.index, toOne, to: owners)
            case .links(let table): try tables.prefetchLinks(table, of: owners)
            case .reversedLinks(let table): try tables.prefetchReversedLinks(table, to: owners)
            }
            for owner in Set(owners) {
                let keys =
                    switch toMany.storage {
                    case .inverse(let toOne):
                        try tables.referrers(target.index, toOne, to: owner).sorted(by: KeyOrder.precedes)
                    case .links(let table): try tables.links(table, of: owner).map(\.key)
                    case .reversedLinks(let table):
                        try tables.reversedLinks(table, to: owner).map(\.key).sorted(by: KeyOrder.precedes)
                    }
                if !keys.isEmpty { links[owner] = keys }
            }
            return links
        }
    }

    /// Returns which of these objects are stubs.
    public func stubs(of entity: Int, among keys: [[StoredValue]]) throws -> Set<[StoredValue]> {
        let root = model.entities[entity].root
        return try read { tables in
            try tables.prefetchState(root, keys)
            return Set(try keys.filter { try tables.isStub(root, $0) })
        }
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
