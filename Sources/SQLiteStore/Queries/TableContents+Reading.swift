internal import GRDB
internal import Mapping
package import StoreContract

extension TableContents {
    /// Reads all tables except bookkeeping tables, sorted by name.
    ///
    /// - Throws: ``StoreError``.
    package static func read(path: String) throws -> [TableContents] {
        try SQLiteStore.translating("reading the tables") {
            var configuration = Configuration()
            configuration.readonly = true
            let queue = try DatabaseQueue(path: path, configuration: configuration)
            defer { try? queue.close() }
            return try queue.read { db in
                let names = try String.fetchAll(
                    db,
                    sql: """
                        SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
                            AND name NOT LIKE 'bmo\\_%' ESCAPE '\\' ORDER BY name
                        """)
                return try names.map { try table($0, in: db) }
            }
        }
    }

    private static func table(_ name: String, in db: Database) throws -> TableContents {
        let infos = try db.columns(in: name)
        let columns = infos.map(\.name)
        let key = infos.indices.filter { infos[$0].primaryKeyIndex > 0 }
            .sorted { infos[$0].primaryKeyIndex < infos[$1].primaryKeyIndex }
        let list = columns.map(SchemaBuilder.quoted).joined(separator: ", ")
        let order = (key.isEmpty ? Array(columns.indices) : key).map { SchemaBuilder.quoted(columns[$0]) }
        let sql = "SELECT \(list) FROM \(SchemaBuilder.quoted(name)) ORDER BY \(order.joined(separator: ", "))"
        // Not GRDB's rows, which truncate text at the first NUL.
        let statement = RawStatement(sql, on: db.sqliteConnection)
        var rows: [[StoredValue]] = []
        while try statement.step() { rows.append(columns.indices.map { statement.value(Int32($0)) }) }
        return TableContents(name: name, columns: columns, key: key, rows: rows)
    }
}
