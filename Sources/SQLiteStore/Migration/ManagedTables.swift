internal import GRDB
internal import Mapping
internal import Model
internal import StoreContract

/// The tables created for configurations so far, with their attributes' types: value `made` of `bmo_meta`.
///
/// SQLite's types do not distinguish a date from text, and bmo may not drop a table that it did not create.
struct ManagedTables {
    private(set) var names: [String] = []
    private var types: [String: AttributeType] = [:]
    /// The tables whose columns are known, in lower case.
    private var typed: Set<String> = []

    /// Reads the tables from the file.
    ///
    /// - Throws: GRDB's errors.
    init(in db: Database) throws {
        guard try db.tableExists("bmo_meta") else { return }
        func value(_ name: String) throws -> String? {
            try String.fetchOne(db, sql: "SELECT value FROM bmo_meta WHERE name = ?", arguments: [name])
        }
        if let text = try value("made") {
            read(text)
        } else if let schema = try value("schema") {
            // A file of an earlier version, which does not record the types of its attributes.
            for part in schema.split(separator: ";\n") {
                guard part.hasPrefix("CREATE TABLE IF NOT EXISTS \""),
                    let name = part.split(separator: "\"").dropFirst().first
                else { continue }
                names.append(String(name))
            }
        }
    }

    /// Reads the tables from the text of ``save(_:in:)``.
    init(made text: String) { read(text) }

    private mutating func read(_ text: String) {
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ")
            guard parts.count == 3 else { continue }
            add(String(parts[0]), column: String(parts[1]), AttributeType(rawValue: String(parts[2])))
        }
    }

    private mutating func add(_ table: String, column: String, _ type: AttributeType?) {
        if !names.contains(table) { names.append(table) }
        types["\(table.lowercased()) \(column.lowercased())"] = type
        if type != nil { typed.insert(table.lowercased()) }
    }

    /// Returns whether bmo created the column; true for all columns of a table known only by name.
    func has(_ column: String, in table: String) -> Bool {
        guard typed.contains(table.lowercased()), type(of: "-", in: table) == nil else { return true }
        return type(of: column, in: table) != nil
    }

    func type(of column: String, in table: String) -> AttributeType? {
        types["\(table.lowercased()) \(column.lowercased())"]
    }

    /// Returns whether bmo created the table.
    func has(_ table: String) -> Bool { names.contains { $0.lowercased() == table.lowercased() } }

    /// Refuses tables that bmo did not create but that have a name in the model, as they would be overwritten.
    ///
    /// - Throws: ``StoreError`` of code `schema` that names these tables and views.
    func refuseOthers(among tables: [SchemaBuilder.Table], in db: Database) throws {
        let others = try tables.filter { !has($0.name) }.compactMap { table in
            try String.fetchOne(
                db,
                sql: """
                    SELECT type || ' ' || name FROM sqlite_schema
                    WHERE type IN ('table', 'view') AND lower(name) = lower(?)
                    """, arguments: [table.name])
        }
        guard !others.isEmpty else { return }
        let shown = others.prefix(5).joined(separator: ", the ")
        let rest = others.count > 5 ? " and \(others.count - 5) more" : ""
        throw StoreError(
            .schema, "the file has the \(shown)\(rest) that bmo did not create and does not change",
            remedy:
                "name another file under `database:`, or rename the \(others.count == 1 ? "one" : "ones") in the file "
                + "or the entity in the configuration")
    }

    /// Checks that bmo created the tables in the file.
    ///
    /// - Throws: ``StoreError`` of code `schema` if it did not.
    static func checkIsOurs(_ model: CompiledModel, in db: Database) throws {
        guard try !db.tableExists("bmo_meta") else { return }
        try ManagedTables(in: db).refuseOthers(among: SchemaBuilder(model).tables, in: db)
        throw StoreError(.schema, "bmo has not created anything in the file yet", remedy: "`bmo sync` adds its tables")
    }

    /// Returns the lines that describe the tables of a model.
    static func lines(_ tables: [SchemaBuilder.Table]) -> [String] {
        tables.flatMap { table in
            table.columns.map { "\(table.name) \($0.name) \(($0.attribute ?? .text).rawValue)" }
        }
    }

    /// Saves the tables of a model, and the tables and columns of earlier models that are still in the file.
    static func save(_ tables: [SchemaBuilder.Table], in db: Database) throws {
        let before = try ManagedTables(in: db)
        let lines = Self.lines(tables)
        var left: [String] = []
        for name in before.names where try db.tableExists(name) {
            let own = before.types.filter { $0.key.hasPrefix(name.lowercased() + " ") }
            var columns = own.map { "\(name) \($0.key.split(separator: " ")[1]) \($0.value.rawValue)" }.sorted()
            if columns.isEmpty { columns = ["\(name) - text"] }
            if let table = tables.first(where: { $0.name.lowercased() == name.lowercased() }) {
                let present = try db.columns(in: name).map { $0.name.lowercased() }
                columns.removeAll { line in
                    let column = line.split(separator: " ")[1]
                    return !present.contains(String(column)) || table.columns.contains { $0.isNamed(String(column)) }
                }
            }
            left += columns
        }
        try db.execute(
            sql: "INSERT OR REPLACE INTO bmo_meta (name, value) VALUES ('made', ?)",
            arguments: [(lines + left).joined(separator: "\n")])
    }
}
