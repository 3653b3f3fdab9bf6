/// The names of a schema's constraints and indexes: those of a renamed table or column have the old name in them.
struct ReferenceNames {
    /// The constraints of each table.
    private var constraints: [String: Set<String>] = [:]
    /// The tables, views and indexes.
    private var relations: Set<String> = []
    /// The columns of each table's indexes over all rows.
    private var indexes: [String: [[String]]] = [:]

    /// Those of a schema without tables.
    init() {}

    init(_ connection: Connection, schema: String) throws {
        let action = "reading the indexes"
        let constraints = try connection.query(
            """
            SELECT c.relname::text, o.conname::text FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid
            JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1::text
            """, [.text(schema)], for: action)
        for row in 0..<constraints.count {
            self.constraints[constraints.text(row, 0) ?? "", default: []].insert(constraints.text(row, 1) ?? "")
        }
        let relations = try connection.query(
            """
            SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = $1::text
            """, [.text(schema)], for: action)
        for row in 0..<relations.count { self.relations.insert(relations.text(row, 0) ?? "") }
        let indexes = try connection.query(
            """
            SELECT c.relname::text,
                (SELECT string_agg(a.attname::text, E'\\x01' ORDER BY k.n) FROM unnest(i.indkey) WITH ORDINALITY k(c, n)
                    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = k.c)
            FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace
            WHERE n.nspname = $1::text AND i.indisvalid AND i.indpred IS NULL AND i.indexprs IS NULL
            """, [.text(schema)], for: action)
        for row in 0..<indexes.count {
            let columns = (indexes.text(row, 1) ?? "").split(separator: "\u{1}").map(String.init)
            self.indexes[indexes.text(row, 0) ?? "", default: []].append(columns)
        }
    }

    /// Returns a name for a new constraint: the usual one, or with a number if the table has that.
    mutating func newConstraint(_ name: String, of table: String) -> String {
        let free = Self.free(name, besides: constraints[table] ?? [])
        constraints[table, default: []].insert(free)
        return free
    }

    /// Returns a name for a new index; nil if the table has an index that begins with the columns.
    mutating func newIndex(_ name: String, of table: String, on columns: [String]) -> String? {
        let present = indexes[table] ?? []
        guard !present.contains(where: { $0.starts(with: columns) }) else { return nil }
        let free = Self.free(name, besides: relations)
        relations.insert(free)
        indexes[table, default: []].append(columns)
        return free
    }

    private static func free(_ name: String, besides taken: Set<String>) -> String {
        var free = Identifier.short(name)
        var number = 1
        while taken.contains(free) {
            number += 1
            free = Identifier.short("\(name)_\(number)")
        }
        return free
    }
}
