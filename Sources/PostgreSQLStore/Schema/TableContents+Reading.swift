internal import Mapping
internal import StoreContract

extension TableContents {
    /// Reads all rows of the tables of a schema, without those of the bookkeeping.
    static func read(_ connection: Connection, schema: String) throws -> [TableContents] {
        let catalog = try Catalog(connection, schema: schema)
        return try catalog.tables.sorted { $0.key < $1.key }.map { name, table in
            let columns = table.columns.filter { $0.name != RowTableSQL.numberColumn }
            let types = columns.map { SQLType(catalogName: $0.type) }
            let terms = zip(columns, types).map { column, type in
                let quoted = "t." + Identifier.quoted(column.name)
                return type.map { $0.read(quoted) } ?? "\(quoted)::text"
            }
            let names = columns.map(\.name)
            let key = table.key.compactMap { names.firstIndex(of: $0) }
            let order = key.isEmpty ? Array(names.indices) : key
            let rows = try connection.query(
                "SELECT \(terms.joined(separator: ", ")) FROM \(Identifier.quoted(schema)).\(Identifier.quoted(name)) t"
                    + " ORDER BY "
                    + order.map { "t.\(Identifier.quoted(names[$0])) NULLS FIRST" }.joined(separator: ", "),
                for: "reading \(name)")
            return TableContents(
                name: name, columns: names, key: key,
                rows: (0..<rows.count).map { row in
                    types.enumerated().map { column, type in
                        rows.bytes(row, column).map { ValueCodec.decode($0, type ?? .text) } ?? .null
                    }
                })
        }
    }
}
