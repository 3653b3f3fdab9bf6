internal import GRDB
internal import Mapping
internal import Model
internal import StoreContract
internal import StoreRules

/// The content of a file, in the transaction of a connection.
final class SQLiteContent: ContentWriter {
    private let model: CompiledModel
    private let connection: OpaquePointer?
    /// The numbers of the sources in `bmo_sources` that were written, by their values.
    private var sources: [[StorageForm]: Int64] = [:]
    private var statements: [ContentTable: RawStatement] = [:]

    init(_ model: CompiledModel, on connection: OpaquePointer?) {
        self.model = model
        self.connection = connection
    }

    // MARK: - Reading

    func rows(of table: ContentTable) throws -> any ContentRows {
        let types = table.types(in: model)
        guard let sql = try selection(of: table) else { return NoRows() }
        return SQLiteRows(RawStatement(sql, on: connection), types, table)
    }

    /// Returns the statement that reads a table; nil if the file does not have it yet.
    private func selection(of table: ContentTable) throws -> String? {
        switch table {
        case .rows(let root):
            let layout = model.entities[root]
            let columns = ["rowid"] + layout.fields.map { SchemaBuilder.quoted($0.name) }
            return "SELECT \(columns.joined(separator: ", ")) FROM \(SchemaBuilder.quoted(layout.name)) ORDER BY rowid"
        case .links(let name):
            let (sources, targets) = columns(of: name)
            let order = sources + ["position"]
            return "SELECT \((order + targets).joined(separator: ", ")) FROM \(SchemaBuilder.quoted(name)) "
                + "ORDER BY \(order.joined(separator: ", "))"
        // The other tables are created with the file.
        case .bookkeeping(let own) where [.unknownFields, .members, .collections].contains(own):
            guard try exists(table.name(in: model)) else { return nil }
            return own.selection
        case .bookkeeping(let own): return own.selection
        }
    }

    private func exists(_ table: String) throws -> Bool {
        let select = RawStatement("SELECT 1 FROM sqlite_schema WHERE name = ?", on: connection)
        select.bind(table, at: 1)
        defer { select.reset() }
        return try select.step()
    }

    /// The quoted columns of a link table's ends.
    private func columns(of links: String) -> (sources: [String], targets: [String]) {
        guard let (source, target) = ContentTable.ends(of: links, in: model) else { return ([], []) }
        return (
            SchemaBuilder.linkColumns(.source, source, of: links, in: model).map(SchemaBuilder.quoted),
            SchemaBuilder.linkColumns(.target, target, of: links, in: model).map(SchemaBuilder.quoted)
        )
    }

    // MARK: - Writing

    func stored(_ row: [StoredValue], in table: ContentTable) -> [StoredValue] { row }

    func write(_ rows: [[StoredValue]], to table: ContentTable) throws {
        switch table {
        case .bookkeeping(.sources): try rows.forEach(writeSource)
        case .bookkeeping(.counters): try rows.forEach(writeCounters)
        default:
            let statement = try insertion(into: table)
            for row in rows { try run(statement, try values(row, of: table)) }
        }
    }

    private func run(_ statement: RawStatement, _ values: [StoredValue]) throws {
        for (index, value) in values.enumerated() { statement.bind(value, at: Int32(index + 1)) }
        try statement.run()
    }

    private func insertion(into table: ContentTable) throws -> RawStatement {
        if let known = statements[table] { return known }
        if table == .bookkeeping(.unknownFields) {
            try RawStatement(UnknownFieldTable.creation, on: connection).run()
        } else if table == .bookkeeping(.members) {
            try RawStatement(MemberTable.creation, on: connection).run()
        } else if table == .bookkeeping(.collections) {
            try RawStatement(CollectionTable.creation, on: connection).run()
        }
        let (name, columns) = columns(of: table)
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        let statement = RawStatement(
            "INSERT INTO \(name) (\(columns.joined(separator: ", "))) VALUES (\(places))", on: connection)
        statements[table] = statement
        return statement
    }

    /// Returns a table's quoted name, and the columns that ``values(_:of:)`` has values for.
    private func columns(of table: ContentTable) -> (String, [String]) {
        switch table {
        case .rows(let root):
            let layout = model.entities[root]
            let names = layout.fields.map { SchemaBuilder.quoted($0.name) }
            return (SchemaBuilder.quoted(layout.name), (isNumbered(layout) ? [] : ["rowid"]) + names)
        case .links(let name):
            let (sources, targets) = columns(of: name)
            return (SchemaBuilder.quoted(name), sources + ["position"] + targets)
        case .bookkeeping(let own): return own.insertion
        }
    }

    /// Whether the key is the row's number.
    private func isNumbered(_ layout: EntityLayout) -> Bool {
        layout.key.count == 1 && layout.fields[layout.key[0]].type == .integer
    }

    private func values(_ row: [StoredValue], of table: ContentTable) throws -> [StoredValue] {
        switch table {
        case .rows(let root) where isNumbered(model.entities[root]): return Array(row.dropFirst())
        case .bookkeeping(.origins): return [.text("origin \(row[0].description)"), row[1]]
        case .bookkeeping(.cursors):
            var row = row
            if case .text(let json) = row[4].form { row[4] = JSONText.parts(of: "[\(json)]")?.first ?? .null }
            return row
        case .bookkeeping(.quarantine):
            return row + [.integer(QuarantinedRecord.fingerprint(ofCopied: row))]
        default: return row
        }
    }

    /// Writes the source of a row's columns to both tables that hold them.
    private func writeSource(_ row: [StoredValue]) throws {
        // The columns are in the order of the entity's fields, as an import writes them.
        let columns = (JSONText.parts(of: row[4].description) ?? []).map(\.description)
        let fields = model.index(of: row[0].description).map { model.entities[$0].fields.map(\.name) } ?? []
        let known = fields.filter(columns.contains)
        let ordered = known + columns.filter { !known.contains($0) }
        let source = [row[0], row[2], row[3], .text(ordered.joined(separator: " "))]
        let number = try number(of: source)
        let insertion = statement(
            .bookkeeping(.sources),
            """
            INSERT INTO bmo_provenance (entity, key, source, first_run, last_run, location, listed)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """)
        try run(insertion, [row[0], row[1], .integer(number)] + row[5...])
    }

    private func number(of source: [StoredValue]) throws -> Int64 {
        let forms = source.map(\.form)
        if let known = sources[forms] { return known }
        let insertion = RawStatement(
            "INSERT INTO bmo_sources (entity, bridge, walk, columns) VALUES (?, ?, ?, ?)", on: connection)
        try run(insertion, source)
        let number = insertion.lastInsertedRow
        sources[forms] = number
        return number
    }

    private func statement(_ table: ContentTable, _ sql: String) -> RawStatement {
        if let known = statements[table] { return known }
        let statement = RawStatement(sql, on: connection)
        statements[table] = statement
        return statement
    }

    private func writeCounters(_ row: [StoredValue]) throws {
        for (table, value) in zip(["bmo_runs", "bmo_outbox"], row) {
            try run(RawStatement("DELETE FROM sqlite_sequence WHERE name = ?", on: connection), [.text(table)])
            try run(
                RawStatement("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", on: connection),
                [.text(table), value])
        }
    }
}

extension ContentTable.Bookkeeping {
    /// The statement that reads the table's columns.
    fileprivate var selection: String {
        switch self {
        case .sources:
            """
            SELECT p.entity, p.key, s.bridge, s.walk, s.columns, p.first_run, p.last_run, p.location, p.listed
            FROM bmo_provenance p JOIN bmo_sources s ON s.id = p.source ORDER BY p.entity, p.key, s.bridge, s.walk
            """
        case .origins:
            """
            SELECT substr(name, 8), value FROM bmo_meta WHERE substr(name, 1, 7) = 'origin ' ORDER BY name
            """
        case .counters:
            """
            SELECT ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'bmo_runs'), 0),
                ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'bmo_outbox'), 0)
            """
        case .stubs, .runs, .changes, .outbox, .conflicts, .cursors, .orphans, .quarantine, .unknownFields, .members,
            .collections:
            "SELECT \(names.joined(separator: ", ")) FROM \(table) ORDER BY \(order)"
        }
    }

    /// The table and the columns that a copy writes.
    fileprivate var insertion: (String, [String]) {
        switch self {
        case .origins: ("bmo_meta", ["name", "value"])
        case .quarantine: (table, names + ["fingerprint"])
        default: (table, names)
        }
    }

    private var table: String { self == .unknownFields ? "bmo_unknown_fields" : "bmo_\(rawValue)" }

    private var order: String {
        switch self {
        case .conflicts: "id"
        case .stubs, .unknownFields: "1, 2"
        case .cursors, .orphans, .collections: "1, 2, 3"
        case .members: "1, 2, 3, 4"
        default: "1"
        }
    }

    /// The file's names of the columns; some are older than those of the contract.
    private var names: [String] {
        columns.map { column in
            switch (self, column.name) {
            case (.changes, "scan"), (.orphans, "scan"): "walk"
            case (.orphans, "root"): "entity"
            case (.outbox, "failure"): "last_error"
            case (.outbox, "has_temporary_key"): "is_temporary"
            case (.conflicts, "attribute"): "\"column\""
            case (.unknownFields, "seen"): "first_seen"
            default: column.name
            }
        }
    }
}

/// The rows of a table that the file does not have yet.
private final class NoRows: ContentRows {
    func next() throws -> [StoredValue]? { nil }
}

/// The rows of a statement.
private final class SQLiteRows: ContentRows {
    private let statement: RawStatement
    private let types: [AttributeType]
    private let table: ContentTable

    init(_ statement: RawStatement, _ types: [AttributeType], _ table: ContentTable) {
        self.statement = statement
        self.types = types
        self.table = table
    }

    func next() throws -> [StoredValue]? {
        guard try statement.step() else { return nil }
        var row = types.indices.map { statement.value(Int32($0)).typed(as: types[$0]) }
        switch table {
        case .bookkeeping(.sources):
            let columns = row[4].description.split(separator: " ").map { StoredValue.text(String($0)) }
            row[4] = .text(JSONText.key(columns.sorted { $0.description < $1.description }).string)
        case .bookkeeping(.cursors) where row[4] != .null: row[4] = .text(JSONText.value(statement.value(4)))
        default: break
        }
        return row
    }
}
