internal import StoreContract
internal import StoreRules

/// The views of the rows that are not deleted, as far as bmo made them, while the tables change.
///
/// A view stays, with the rights on it and the views of others over it, unless a change cannot be made while it is there.
struct LiveRowViews {
    private struct View {
        /// The table that it selects from.
        var table: String
        var columns: [String] = []
    }

    private let connection: Connection
    private let schema: String
    private var present: [String: View] = [:]
    /// The statements that give others their rights again, by the names of dropped views.
    private var grants: [String: [String]] = [:]

    init(_ connection: Connection, schema: String) throws {
        self.connection = connection
        self.schema = schema
        let found = try connection.query(
            """
            SELECT c.relname::text, (
                    SELECT min(t.relname::text) FROM pg_rewrite r
                    JOIN pg_depend d ON d.classid = 'pg_rewrite'::regclass AND d.objid = r.oid
                        AND d.refclassid = 'pg_class'::regclass
                    JOIN pg_class t ON t.oid = d.refobjid WHERE r.ev_class = c.oid AND t.oid <> c.oid),
                a.attname::text
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
            WHERE n.nspname = $1::text AND c.relkind = 'v'
                AND obj_description(c.oid, 'pg_class') = \(Identifier.literal(TableDefinition.viewComment))
            ORDER BY c.relname, a.attnum
            """, [.text(schema)], for: "reading the views")
        for row in 0..<found.count {
            let table = found.text(row, 1) ?? ""
            present[found.text(row, 0) ?? "", default: View(table: table)].columns.append(found.text(row, 2) ?? "")
        }
    }

    private func quoted(_ name: String) -> String { Identifier.quoted(schema) + "." + Identifier.quoted(name) }

    /// Drops the views that are not wanted any more or would stand in the way of changes, and renames columns of the others.
    ///
    /// - Parameter tables: Those of the model.
    mutating func giveWay(to changes: [SchemaChange], in tables: [TableDefinition]) throws {
        guard !present.isEmpty else { return }
        let catalog = try Catalog(connection, schema: schema)
        for (name, view) in present.sorted(by: { $0.key < $1.key }) {
            let table = Self.name(of: view.table, after: changes)
            let isWanted = tables.contains { $0.view == name && $0.name == table }
            // Another program may have replaced the view.
            let isWhole = view.columns.allSatisfy { catalog.tables[view.table]?.column($0) != nil }
            guard isWanted, isWhole, !changes.contains(where: { Self.isInTheWay(of: $0, view, table) }) else {
                try drop(name)
                continue
            }
            for case .renameColumn(table, let old, let new) in changes {
                guard let place = view.columns.firstIndex(of: old) else { continue }
                try connection.run(
                    "ALTER VIEW \(quoted(name)) RENAME COLUMN \(Identifier.quoted(old)) TO \(Identifier.quoted(new))",
                    for: "renaming a column of the view \(name)")
                present[name]?.columns[place] = new
            }
        }
    }

    private static func name(of table: String, after changes: [SchemaChange]) -> String {
        for case .renameTable(table, let new) in changes { return new }
        return table
    }

    /// Returns whether PostgreSQL refuses a change because of a view.
    ///
    /// - Parameter table: The name of its table after all renames.
    private static func isInTheWay(of change: SchemaChange, _ view: View, _ table: String) -> Bool {
        switch change {
        case .convert(table, _, _, _), .dropTable(view.table): true
        case .dropColumn(table, let column): view.columns.contains(column)
        default: false
        }
    }

    private mutating func drop(_ name: String) throws {
        if connection.engine.hasTransactionalDDL { grants[name] = try rights(on: name) }
        try connection.run("DROP VIEW \(quoted(name))", for: "replacing the view \(name)")
        present[name] = nil
    }

    /// Returns the statements that give others the rights that they have on a view.
    private func rights(on view: String) throws -> [String] {
        let found = try connection.query(
            """
            SELECT format('GRANT %s ON %I.%I TO %s%s', g.privilege_type, n.nspname, c.relname,
                CASE WHEN g.grantee = 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(g.grantee)) END,
                CASE WHEN g.is_grantable THEN ' WITH GRANT OPTION' ELSE '' END)
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace, aclexplode(c.relacl) g
            WHERE n.nspname = $1::text AND c.relname = $2::text AND g.grantee <> c.relowner ORDER BY 1
            """, [.text(schema), .text(view)], for: "reading the rights on the view \(view)")
        return (0..<found.count).compactMap { found.text($0, 0) }
    }

    /// Creates the views that are missing, and adds missing columns at the end of the others.
    ///
    /// - Parameter tables: Those of the model, as they are now.
    /// - Throws: `StoreError` if another program's table or view has the name of one.
    func make(of tables: [TableDefinition]) throws {
        for table in tables {
            guard let name = table.view else { continue }
            guard let view = present[name] else {
                try checkName(name, table)
                for statement in table.viewCreation(in: schema) + (grants[name] ?? []) {
                    try connection.run(statement, for: "creating the view \(name)")
                }
                continue
            }
            let missing = table.columns.map(\.name).filter { !view.columns.contains($0) }
            guard !missing.isEmpty else { continue }
            let rows = table.liveRows(view.columns + missing, in: schema)
            try connection.run("CREATE OR REPLACE VIEW \(quoted(name)) AS \(rows)", for: "extending the view \(name)")
        }
    }

    private func checkName(_ name: String, _ table: TableDefinition) throws {
        let found = try connection.query(
            """
            SELECT c.relkind::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = $1::text AND c.relname = $2::text
            """, [.text(schema), .text(name)], for: "looking for the view \(name)")
        guard found.count > 0 else { return }
        let kind =
            switch found.text(0, 0) ?? "" {
            case "v": "view"
            case "m": "materialized view"
            case "i", "I": "index"
            case "S": "sequence"
            case "c": "type"
            default: "table"
            }
        throw StoreError.takenView(name, by: kind, of: table.name).naming(connection.place)
    }
}
