internal import Mapping
internal import StoreContract

/// The references between tables, which are removed before their columns get other types, and added at the end.
extension SchemaMigration {
    /// Drops the references that bmo made.
    func dropReferences() throws {
        let made = try ManagedColumns(connection, schema: schema)
        for (table, stored) in try Catalog(connection, schema: schema).tables {
            for (reference, constraint) in stored.references
            where made.hasMade(reference, constraint, of: table, on: connection.engine) {
                try connection.run(
                    "ALTER TABLE \(quoted(table)) DROP CONSTRAINT \(Identifier.quoted(constraint.name))",
                    for: "changing references")
            }
        }
    }

    /// Adds the references that are missing.
    func addReferences(of tables: [TableDefinition]) throws {
        let catalog = try Catalog(connection, schema: schema)
        var names = try ReferenceNames(connection, schema: schema)
        for table in tables {
            for reference in table.references where catalog.tables[table.name]?.references[reference] == nil {
                if hasValues(table, reference) { try addStubs(table, reference) }
                let statements = table.constraint(reference, in: schema, on: connection.engine, besides: &names)
                for statement in statements {
                    try connection.run(statement, for: "adding a reference of \(table.name)")
                }
            }
        }
    }

    /// Returns whether the columns of a reference had values before it.
    private func hasValues(_ table: TableDefinition, _ reference: TableDefinition.Reference) -> Bool {
        changes.contains { change in
            if case .addReference(table.name, let added) = change { added == reference } else { false }
        }
    }

    /// Adds a stub for each object that is referred to and missing, as an import does.
    private func addStubs(_ table: TableDefinition, _ reference: TableDefinition.Reference) throws {
        guard
            let layout = model.entities.first(where: { $0.index == $0.root && $0.name == reference.target }),
            !layout.key.isEmpty
        else { return }
        let target = RowTableSQL(layout, schema: schema)
        let action = "adding stubs of \(reference.target)"
        let columns = reference.columns.map { "s." + Identifier.quoted($0) }
        let reads = zip(columns, target.keyCodecs).map { $1.sqlType.read($0) }.joined(separator: ", ")
        let areGiven = columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
        let areEqual = zip(target.keyColumns, columns).map { "t.\($0) = \($1)" }.joined(separator: " AND ")
        let missing = try connection.query(
            """
            SELECT DISTINCT \(reads) FROM \(table.quoted(in: schema)) s
            WHERE \(areGiven) AND NOT EXISTS (SELECT 1 FROM \(target.name) t WHERE \(areEqual))
            """, for: action)
        let keys = (0..<missing.count).map { missing.values($0, target.keyCodecs) }
        let insertion = target.stubInsertion
        for start in stride(from: 0, to: keys.count, by: Self.portion) {
            let part = keys[start..<min(start + Self.portion, keys.count)]
            guard let parameters = target.parameters(part) else { continue }
            try connection.query(insertion, parameters, for: action)
            try connection.query(
                """
                INSERT INTO \(quoted("bmo_stubs")) SELECT $1::text, * FROM unnest($2::text[]) ON CONFLICT DO NOTHING
                """, [.text(reference.target), .texts(part.map { JSONText.key($0).string })], for: action)
        }
        // PostgreSQL alters no table whose rows are still to be checked, such as one that refers to itself.
        guard !keys.isEmpty, connection.engine.foreignKeys == .deferred else { return }
        try connection.run("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED", for: action)
    }
}

extension RowTableSQL {
    /// Inserts rows that have only their keys, numbered after the last one.
    fileprivate var stubInsertion: String {
        let arrays = keyCodecs.enumerated().map { $1.sqlType.arrayParameter($0 + 1) }.joined(separator: ", ")
        let keys = keyColumns.joined(separator: ", ")
        let names = keyColumns.indices.map { "k\($0)" }.joined(separator: ", ")
        let rows = "unnest(\(arrays)) WITH ORDINALITY AS u(\(names), n)"
        guard !isNumbered else {
            return "INSERT INTO \(name) (\(keys)) SELECT \(names) FROM \(rows) ON CONFLICT DO NOTHING"
        }
        let last = "(SELECT coalesce(max(\(numberName)), 0) FROM \(name))"
        return "INSERT INTO \(name) (\(numberName), \(keys)) SELECT \(last) + n, \(names) FROM \(rows) "
            + "ON CONFLICT DO NOTHING"
    }
}
