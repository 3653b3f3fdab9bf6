internal import StoreContract
internal import GRDB
internal import Mapping
internal import Model

/// The cost of a migration step, found by reading the rows that it would change.
enum SchemaCost {
    /// Returns the cost in words; nil if there is none to report.
    static func of(_ step: SchemaStep, _ difference: SchemaDifference, in db: Database) throws -> String? {
        switch step {
        case .renameTable, .renameColumn, .renameList, .renameKind, .addTable, .addColumn: return nil
        case .dropTable(let name):
            return rows(try count(name, nil, in: db))
        case .dropColumn(let table, let column):
            guard let (name, column) = place(table, column, difference) else { return nil }
            return "with \(values(try count(name, column, in: db)))"
        case .changeKey(let table, _, _):
            guard let existing = difference.existing[table.lowercased()] else { return nil }
            return rows(try count(existing.name, nil, in: db))
        case .changeReference(let table, let column, let old, let new):
            guard let (name, column) = place(table, column, difference), old != nil, new != nil else {
                return nil
            }
            let count = try count(name, column, in: db)
            guard count > 0 else { return nil }
            let isLinks = difference.tables.contains { $0.name == table && $0.isFull }
            return isLinks ? "\(count) link\(count == 1 ? " is" : "s are") lost" : "\(values(count)) become null"
        case .convert(let table, let column, _):
            guard let existing = difference.existing[table.lowercased()],
                let old = existing.columns.first(where: { $0.isNamed(column.name) }),
                let name = existing.names[old.name]
            else { return nil }
            let converter = StoredValueConverter(from: old.attribute, to: column.attribute ?? .text)
            let statement = RawStatement(
                "SELECT \(SchemaBuilder.quoted(name)) FROM \(SchemaBuilder.quoted(existing.name)) "
                    + "WHERE \(SchemaBuilder.quoted(name)) IS NOT NULL", on: db.sqliteConnection)
            var all = 0
            var unfit = 0
            while try statement.step() {
                all += 1
                do { _ = try converter.convert(statement.value(0)) } catch { unfit += 1 }
            }
            statement.reset()
            guard unfit > 0 else { return all == 0 ? nil : "all \(values(all)) fit" }
            return "\(unfit) of \(values(all)) \(unfit == 1 ? "does" : "do") not fit"
        }
    }

    private static func place(
        _ table: String, _ column: String, _ difference: SchemaDifference
    ) -> (table: String, column: String)? {
        guard let existing = difference.existing[table.lowercased()],
            let found = existing.columns.first(where: { $0.isNamed(column) })
        else { return nil }
        return (existing.name, existing.names[found.name] ?? found.name)
    }

    private static func count(_ table: String, _ column: String?, in db: Database) throws -> Int {
        let what = column.map(SchemaBuilder.quoted) ?? "*"
        return try Int.fetchOne(db, sql: "SELECT count(\(what)) FROM \(SchemaBuilder.quoted(table))") ?? 0
    }

    private static func rows(_ count: Int) -> String { "with \(count) row\(count == 1 ? "" : "s")" }

    private static func values(_ count: Int) -> String { "\(count) value\(count == 1 ? "" : "s")" }
}
