package import Mapping
package import StoreContract

/// The committed rows, by conditions, keys and links.
extension TableStore {
    /// Returns the rows of a query.
    package func rows(of query: RowQuery) throws -> [EntityRow] {
        var all: [EntityRow] = []
        try read { tables in
            // Without a filter by stubs, one statement reads all.
            try RowPortions(query, size: query.includesStubs ? .max : Tables.portion)
                .read({ try portion($0, tables) }, { all.append($0) })
        }
        return all
    }

    /// Calls `body` with each row of a query, for results that are too large for memory.
    package func rows(of query: RowQuery, _ body: (EntityRow) throws -> Void) throws {
        try RowPortions(query, size: Tables.portion).read({ part in try read { try portion(part, $0) } }, body)
    }

    private func portion(_ query: RowQuery, _ tables: Tables) throws -> RowPortions.Portion {
        let layout = model.entities[try index(of: query.entity)]
        let rows = try tables.rows(of: query, on: layout)
        guard !query.includesStubs else { return (rows, []) }
        try tables.prefetchState(layout.root, rows.map(\.key))
        return (rows, Set(try rows.map(\.key).filter { try tables.isStub(layout.root, $0) }))
    }

    /// Returns the number of rows of a query, ignoring its limit and offset.
    package func count(of query: RowQuery) throws -> Int {
        let layout = model.entities[try index(of: query.entity)]
        guard !query.includesStubs else { return try read { try $0.count(of: query, on: layout) } }
        var others = query
        (others.limit, others.offset) = (nil, 0)
        return try rows(of: others).count
    }

    /// Returns the rows of an entity with these keys.
    package func rows(of entity: Int, keys: [[StoredValue]]) throws -> [EntityRow] {
        let layout = model.entities[entity]
        let places = layout.columnPlaces
        return try read { tables in
            try tables.prefetch(layout.root, keys)
            return try Set(keys).compactMap { key in
                guard let row = try tables.row(layout.root, key), layout.contains(row) else { return nil }
                return EntityRow(key: key, values: places.map { row[$0] })
            }
        }
    }

    /// Returns the keys of a to-many relationship's targets, by owner and in the relationship's order.
    package func links(
        of entity: Int, _ relationship: Int, owners: [[StoredValue]]
    ) throws -> [[StoredValue]: [[StoredValue]]] {
        let layout = model.entities[model.entities[entity].root]
        // An object without a key cannot be referenced.
        guard !layout.key.isEmpty else { return [:] }
        let toMany = layout.toMany[relationship]
        let target = model.entities[toMany.target].root
        return try read { tables in
            var links: [[StoredValue]: [[StoredValue]]] = [:]
            switch toMany.storage {
            case .inverse(let toOne): try tables.prefetchReferrers(target, toOne, to: owners)
            case .links(let table): try tables.prefetchLinks(table, of: owners)
            case .reversedLinks(let table): try tables.prefetchReversedLinks(table, to: owners)
            }
            for owner in Set(owners) {
                let keys =
                    switch toMany.storage {
                    case .inverse(let toOne):
                        try tables.referrers(target, toOne, to: owner).sorted(by: ValueOrder.precedes)
                    case .links(let table): try tables.links(table, of: owner).map(\.key)
                    case .reversedLinks(let table):
                        try tables.reversedLinks(table, to: owner).map(\.key).sorted(by: ValueOrder.precedes)
                    }
                if !keys.isEmpty { links[owner] = keys }
            }
            return links
        }
    }

    /// Returns which of these objects are stubs.
    package func stubs(of entity: Int, among keys: [[StoredValue]]) throws -> Set<[StoredValue]> {
        let root = model.entities[entity].root
        return try read { tables in
            try tables.prefetchState(root, keys)
            return Set(try keys.filter { try tables.isStub(root, $0) })
        }
    }

    /// Parses the values of an object's key.
    package func key(of entity: Int, from texts: [String]) throws -> [StoredValue] {
        try model.entities[entity].keyValues(from: texts)
    }
}

extension EntityLayout {
    /// Returns whether a row of the table is an object of this entity.
    package func contains(_ row: [StoredValue]) -> Bool {
        guard let field = discriminator, index != root else { return true }
        if case .text(let kind) = row[field] { return kinds.contains(kind) }
        return false
    }
}
