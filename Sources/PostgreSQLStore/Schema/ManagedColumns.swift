internal import Mapping
internal import Model
internal import StoreContract

/// The tables and columns that bmo created, as `bmo_columns` has them; those of others stay as they are.
struct ManagedColumns {
    /// By table and column: the attribute's type, where it is known.
    private var columns: [String: [String: AttributeType?]] = [:]
    /// Whether an earlier bmo created the bookkeeping, which did not record its tables.
    private let isUnknown: Bool

    init(_ connection: Connection, schema: String) throws {
        let table = Identifier.quoted(schema) + ".bmo_columns"
        guard
            try connection.query(
                "SELECT to_regclass($1::text) IS NOT NULL", [.text(table)], for: "looking for the tables of bmo"
            ).boolean(0, 0)
        else {
            isUnknown = try Catalog.hasBookkeeping(connection, schema: schema)
            return
        }
        isUnknown = false
        let rows = try connection.query(
            "SELECT table_name, column_name, attribute FROM \(table)", for: "reading the tables of bmo")
        for row in 0..<rows.count {
            columns[rows.text(row, 0) ?? "", default: [:]][rows.text(row, 1) ?? ""] =
                rows.text(row, 2).flatMap(AttributeType.init(rawValue:))
        }
    }

    /// Returns whether bmo created a table that has a name of the model.
    func mayHave(_ table: String) -> Bool { isUnknown || columns[table] != nil }

    /// Returns whether bmo certainly created a table.
    func has(_ table: String) -> Bool { columns[table] != nil }

    /// Returns whether bmo certainly created a column.
    func has(_ column: String, in table: String) -> Bool { columns[table]?[column] != nil }

    /// Returns whether bmo made a reference, as far as can be told: others hardly defer theirs.
    func hasMade(
        _ reference: TableDefinition.Reference, _ constraint: Catalog.Constraint, of table: String,
        on engine: EngineProfile
    ) -> Bool {
        guard mayHave(table), mayHave(reference.target) else { return false }
        guard constraint.isDeferred || engine.foreignKeys == .immediate else { return false }
        return reference.columns.allSatisfy { isUnknown || has($0, in: table) }
    }

    /// Returns the type of the attribute whose values a column has; nil if it is unknown.
    func attribute(of column: String, in table: String) -> AttributeType? { columns[table]?[column] ?? nil }

    // MARK: - Recording

    /// Records the tables and columns that are about to be added.
    static func note(_ additions: [SchemaChange], _ connection: Connection, schema: String) throws {
        for addition in additions {
            let added: (table: TableDefinition, columns: [TableDefinition.Column])
            switch addition {
            case .addTable(let table): added = (table, table.columns)
            case .addColumn(let table, let column): added = (table, [column])
            default: continue
            }
            try connection.query(
                """
                INSERT INTO \(Identifier.quoted(schema)).bmo_columns SELECT $1::text, * FROM unnest($2::text[], $3::text[])
                ON CONFLICT DO NOTHING
                """,
                [
                    .text(added.table.name), .texts(added.columns.map(\.name)),
                    .texts(added.columns.map(\.attribute.rawValue)),
                ], for: "recording the tables of bmo")
        }
    }

    /// Records a model's tables, as far as they exist, besides those that are recorded and still exist.
    static func record(_ tables: [TableDefinition], _ connection: Connection, schema: String) throws {
        let own = Identifier.quoted(schema) + ".bmo_columns"
        let catalog = try Catalog(connection, schema: schema)
        var names: (tables: [String], columns: [String], attributes: [String]) = ([], [], [])
        for table in tables {
            guard let stored = catalog.tables[table.name] else { continue }
            for column in table.columns where stored.column(column.name) != nil {
                names.tables.append(table.name)
                names.columns.append(column.name)
                names.attributes.append(column.attribute.rawValue)
            }
            if stored.column(RowTableSQL.numberColumn) != nil {
                names.tables.append(table.name)
                names.columns.append(RowTableSQL.numberColumn)
                names.attributes.append(AttributeType.integer.rawValue)
            }
        }
        try connection.query(
            """
            INSERT INTO \(own) SELECT * FROM unnest($1::text[], $2::text[], $3::text[])
            ON CONFLICT (table_name, column_name) DO UPDATE SET attribute = excluded.attribute
            WHERE \(own).attribute IS DISTINCT FROM excluded.attribute
            """, [.texts(names.tables), .texts(names.columns), .texts(names.attributes)],
            for: "recording the tables of bmo")
        // From the catalog as read above: Citus does not join its tables with those of the catalog.
        let stored = catalog.tables.flatMap { table, content in content.columns.map { (table, $0.name) } }
        try connection.query(
            """
            DELETE FROM \(own) b WHERE NOT EXISTS (
                SELECT 1 FROM unnest($1::text[], $2::text[]) k(t, c) WHERE k.t = b.table_name AND k.c = b.column_name)
            """, [.texts(stored.map(\.0)), .texts(stored.map(\.1))], for: "recording the tables of bmo")
    }
}
