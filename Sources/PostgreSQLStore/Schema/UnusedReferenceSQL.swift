internal import Mapping
internal import SystemCalls

/// The statements that remove references whose relationship, list or entity is not in the configuration any more.
///
/// The server still enforces them, and would refuse to delete a row that they refer to: unused references become null, and
/// unused links are removed.
final class UnusedReferenceSQL: Sendable {
    /// The statements by root of the rows that are referred to; nil before the first deletion.
    private let found = Mutex<[Int: [String]]?>(nil)

    /// Returns statements whose parameters are arrays with the parts of the keys of a root's rows.
    func statements(to root: Int, _ sql: DatabaseSQL, over connection: Connection) throws -> [String] {
        try found.withLock { found in
            let all = try found ?? Self.find(sql, connection)
            found = all
            return all[root] ?? []
        }
    }

    private static func find(_ sql: DatabaseSQL, _ connection: Connection) throws -> [Int: [String]] {
        guard sql.engine.foreignKeys != .none else { return [:] }
        let catalog = try Catalog(connection, schema: sql.schema)
        let made = try ManagedColumns(connection, schema: sql.schema)
        let used = Dictionary(
            TableDefinition.all(of: sql.model).map { ($0.name, Set($0.columns.map(\.name))) },
            uniquingKeysWith: { $0.union($1) })
        let required = try requiredColumns(sql.schema, connection)
        var statements: [Int: [String]] = [:]
        for (name, table) in catalog.tables.sorted(by: { $0.key < $1.key }) where made.has(name) {
            for reference in table.references.keys {
                let columns = used[name] ?? []
                guard !reference.columns.allSatisfy(columns.contains),
                    reference.columns.allSatisfy({ made.has($0, in: name) }),
                    let (root, statement) = removal(of: reference, name, required: required[name] ?? [], sql)
                else { continue }
                statements[root, default: []].append(statement)
            }
        }
        return statements.mapValues { $0.sorted() }
    }

    /// Returns the columns that cannot be null, by table.
    private static func requiredColumns(_ schema: String, _ connection: Connection) throws -> [String: Set<String>] {
        let columns = try connection.query(
            """
            SELECT c.relname::text, a.attname::text
            FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND a.attnotnull AND NOT a.attisdropped
            WHERE n.nspname = $1::text
            """, [.text(schema)], for: "reading the tables")
        var required: [String: Set<String>] = [:]
        for row in 0..<columns.count {
            guard let table = columns.text(row, 0), let column = columns.text(row, 1) else { continue }
            required[table, default: []].insert(column)
        }
        return required
    }

    /// Returns the statement for a reference, and the root of the rows that it refers to by their key.
    ///
    /// - Parameter required: The columns of the table that cannot be null.
    private static func removal(
        of reference: TableDefinition.Reference, _ name: String, required: Set<String>, _ sql: DatabaseSQL
    ) -> (root: Int, statement: String)? {
        guard
            let layout = sql.model.entities.first(where: { $0.index == $0.root && $0.table == reference.target }),
            let target = sql.rows[layout.index], !layout.key.isEmpty
        else { return nil }
        let columns = layout.key.compactMap { field in
            reference.targetColumns.firstIndex(of: layout.fields[field].name).map {
                Identifier.quoted(reference.columns[$0])
            }
        }
        guard columns.count == layout.key.count, columns.count == reference.columns.count else { return nil }
        let table = Identifier.quoted(sql.schema) + "." + Identifier.quoted(name)
        let arrays = target.keyCodecs.enumerated().map { $1.sqlType.arrayParameter($0 + 1) }
        let names = columns.indices.map { "k\($0)" }
        let keys = "unnest(\(arrays.joined(separator: ", "))) AS u(\(names.joined(separator: ", ")))"
        let condition = zip(columns, names).map { "t.\($0) = u.\($1)" }.joined(separator: " AND ")
        guard !reference.columns.contains(where: required.contains) else {
            return (layout.index, "DELETE FROM \(table) t USING \(keys) WHERE \(condition)")
        }
        let values = columns.map { "\($0) = NULL" }.joined(separator: ", ")
        return (layout.index, "UPDATE \(table) t SET \(values) FROM \(keys) WHERE \(condition)")
    }
}
