internal import Mapping
internal import SystemCalls

/// The statements that remove references whose relationship, list or entity is not in the configuration any more.
///
/// The server still enforces them, and would refuse to delete a row that they refer to: unused references become null, and
/// unused links are removed. `SchemaComparison` removes those that cannot become null.
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
        var statements: [Int: [String]] = [:]
        for (name, table) in catalog.tables.sorted(by: { $0.key < $1.key }) where made.has(name) {
            for reference in table.references.keys {
                let columns = used[name] ?? []
                guard !reference.columns.allSatisfy(columns.contains),
                    reference.columns.allSatisfy({ made.has($0, in: name) }),
                    let (root, statement) = removal(of: reference, name, table, besides: columns, sql)
                else { continue }
                statements[root, default: []].append(statement)
            }
        }
        return statements.mapValues { $0.sorted() }
    }

    /// Returns the statement for a reference, and the root of the rows that it refers to by their key.
    ///
    /// - Parameter used: The columns of the table that the model uses.
    private static func removal(
        of reference: TableDefinition.Reference, _ name: String, _ stored: Catalog.Table, besides used: Set<String>,
        _ sql: DatabaseSQL
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
        let clearable = stored.clearable(reference, besides: used)
        guard !clearable.isEmpty else {
            guard stored.hasLinks else { return nil }
            return (layout.index, "DELETE FROM \(table) t USING \(keys) WHERE \(condition)")
        }
        let values = clearable.map { "\(Identifier.quoted($0)) = NULL" }.joined(separator: ", ")
        return (layout.index, "UPDATE \(table) t SET \(values) FROM \(keys) WHERE \(condition)")
    }
}
