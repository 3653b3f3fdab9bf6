internal import Mapping
internal import Model
internal import StoreContract
internal import StoreRules

/// The content of a schema, in the open transaction of a connection.
final class PostgreSQLContent: ContentWriter {
    private let connection: Connection
    private let sql: DatabaseSQL
    /// The number of cursors opened so far.
    private var cursors = 0
    /// The number of rows written to tables whose rows bmo numbers.
    private var numbers: [ContentTable.Bookkeeping: Int64] = [:]

    private var model: CompiledModel { sql.model }

    init(_ connection: Connection, _ sql: DatabaseSQL) {
        self.connection = connection
        self.sql = sql
    }

    // MARK: - Reading

    func rows(of table: ContentTable) throws -> any ContentRows {
        if cursors > 0 { try connection.run("CLOSE \(cursor)") }
        cursors += 1
        let action = "reading \(table.name(in: model))"
        try connection.run("DECLARE \(cursor) NO SCROLL CURSOR FOR \(selection(of: table))", for: action)
        return PostgreSQLRows(connection, cursor, codecs(of: table), action)
    }

    private var cursor: String { "bmo_content_\(cursors)" }

    private func selection(of table: ContentTable) throws -> String {
        switch table {
        case .rows(let root):
            let rows = try rowTable(root)
            return "\(rows.select) ORDER BY t.\(rows.numberName)"
        case .links(let name):
            let links = try linkTable(name)
            let sources = zip(links.sourceColumns, links.sourceCodecs).map { $1.sqlType.read("t.\($0)") }
            let targets = zip(links.targetColumns, links.targetCodecs).map { $1.sqlType.read("t.\($0)") }
            // Decimal numbers are ordered as texts, as a database without the type orders them.
            let order = zip(sources, links.sourceCodecs).map {
                $1.sqlType == .numeric ? "\($0) COLLATE \"C\"" : $0
            }
            return "SELECT \((sources + ["t.position"] + targets).joined(separator: ", ")) FROM \(links.name) t "
                + "ORDER BY \((order + ["t.position"]).joined(separator: ", "))"
        case .bookkeeping(let own):
            let columns = own.columns.map { "t.\($0.name)" }.joined(separator: ", ")
            return "SELECT \(columns) FROM \(sql.own(own.table)) t ORDER BY \(own.order)"
        }
    }

    private func codecs(of table: ContentTable) -> [ValueCodec] {
        table.types(in: model).enumerated().map { index, type in
            switch table {
            // The first value is the row's number.
            case .rows(let root):
                ValueCodec(type, isIdentity: index > 0 && model.entities[root].isIdentity(index - 1))
            case .links: ValueCodec(type, isIdentity: true)
            case .bookkeeping: ValueCodec(type)
            }
        }
    }

    private func rowTable(_ root: Int) throws -> RowTableSQL {
        guard let table = sql.rows[root] else { throw StoreError(.internal, "the entity \(root) has no table") }
        return table
    }

    private func linkTable(_ name: String) throws -> LinkTableSQL {
        guard let table = sql.links[name] else { throw StoreError(.internal, "the model has no link table \(name)") }
        return table
    }

    /// Whether no table has rows.
    func isEmpty() throws -> Bool {
        let tables = ContentTable.all(of: model).filter { $0 != .bookkeeping(.counters) }.map { table in
            switch table {
            case .rows(let root): sql.rows[root]?.name ?? ""
            case .links(let name): sql.links[name]?.name ?? ""
            case .bookkeeping(let own): sql.own(own.table)
            }
        }
        let any = tables.map { "EXISTS (SELECT 1 FROM \($0))" }.joined(separator: " OR ")
        return try !connection.query("SELECT \(any)", for: "looking for rows").boolean(0, 0)
    }

    // MARK: - Writing

    func stored(_ row: [StoredValue], in table: ContentTable) -> [StoredValue] {
        switch table {
        case .rows(let root):
            // The first value is the row's number.
            let layout = model.entities[root]
            return row.enumerated().map { $0 > 0 && layout.isIdentity($0 - 1) ? $1.identity : $1 }
        case .links: return row.map(\.identity)
        case .bookkeeping: break
        }
        // Only these texts come from remotes as they are; an import writes the character out, too.
        guard [.bookkeeping(.quarantine), .bookkeeping(.unknownFields), .bookkeeping(.members)].contains(table) else {
            return row
        }
        return row.map { value in
            if case .text(let text) = value { .text(PostgreSQLTables.storable(text)) } else { value }
        }
    }

    func write(_ rows: [[StoredValue]], to table: ContentTable) throws {
        let rows = rows.map { stored($0, in: table) }
        switch table {
        case .rows(let root): try write(rows, to: try rowTable(root))
        case .links(let name): try write(rows, to: try linkTable(name), name)
        case .bookkeeping(.counters): try rows.forEach(writeCounters)
        case .bookkeeping(let own):
            let (columns, values) = numbered(rows, of: own)
            let names = columns.map(\.name).joined(separator: ", ")
            let codecs = columns.map { ValueCodec($0.type) }
            try connection.query(
                "INSERT INTO \(sql.own(own.table)) (\(names)) SELECT * FROM unnest(\(Self.arrays(codecs)))",
                try parameters(values, codecs, own.table), for: "writing \(own.table)")
            if own == .sources { try noteScans() }
        }
    }

    private static func arrays(_ codecs: [ValueCodec]) -> String {
        codecs.enumerated().map { $1.sqlType.arrayParameter($0 + 1) }.joined(separator: ", ")
    }

    private func write(_ rows: [[StoredValue]], to table: RowTableSQL) throws {
        let encoded = try rows.map { row in
            let values = Array(row.dropFirst())
            var number: Int64 = 0
            if case .integer(let given) = row[0].form { number = given }
            return (number, try table.encode(table.key(number, values), values))
        }
        var parameters: [SQLParameter] = table.isNumbered ? [] : [.bigints(encoded.map(\.0))]
        for (field, codec) in table.codecs.enumerated() {
            parameters.append(.array(of: codec.sqlType.transferred, encoded.map { $0.1[field] }))
        }
        try connection.query(table.upsert, parameters, for: "writing rows of \(table.layout.name)")
    }

    private func write(_ rows: [[StoredValue]], to links: LinkTableSQL, _ name: String) throws {
        let codecs = links.sourceCodecs + [ValueCodec(.integer)] + links.targetCodecs
        try connection.query(
            links.upsert, try parameters(rows, codecs, name), for: "writing links of \(name)")
    }

    /// Returns rows as an array for each column.
    private func parameters(_ rows: [[StoredValue]], _ codecs: [ValueCodec], _ table: String) throws -> [SQLParameter] {
        try codecs.enumerated().map { index, codec in
            .array(
                of: codec.sqlType.transferred,
                try rows.map { row in
                    do throws(ValueCodec.Misfit) {
                        return try codec.encode(row[index])
                    } catch {
                        throw StoreError(
                            .constraint, "\(table): \"\(row[index].description.prefix(60))\" \(error.reason)")
                    }
                })
        }
    }

    /// Adds the columns that only this kind of database has.
    private func numbered(
        _ rows: [[StoredValue]], of table: ContentTable.Bookkeeping
    ) -> ([(name: String, type: AttributeType)], [[StoredValue]]) {
        switch table {
        case .sources, .conflicts:
            let first = numbers[table, default: 0]
            numbers[table] = first + Int64(rows.count)
            return (
                table.columns + [("ord", .integer)], zip(first..., rows).map { number, row in row + [.integer(number)] }
            )
        case .quarantine:
            let values = rows.map { row in
                row + [.integer(QuarantinedRecord.fingerprint(ofCopied: row))]
            }
            return (table.columns + [("hash", .integer)], values)
        default: return (table.columns, rows)
        }
    }

    private func noteScans() throws {
        try connection.run(
            """
            INSERT INTO \(sql.own("bmo_source_scans")) SELECT DISTINCT entity, scan FROM \(sql.own("bmo_sources"))
            ON CONFLICT DO NOTHING
            """, for: "writing bmo_source_scans")
    }

    private func writeCounters(_ row: [StoredValue]) throws {
        try connection.query(
            """
            UPDATE \(sql.own("bmo_database")) SET last_run = $1::bigint, last_entry = $2::bigint, version = version + 1,
                last_change = (SELECT coalesce(max(id), 0) FROM \(sql.own("bmo_changes"))),
                last_quarantined = (SELECT coalesce(max(id), 0) FROM \(sql.own("bmo_quarantine")))
            """, try row.map { SQLParameter(bytes: try ValueCodec(.integer).encode($0)) }, for: "writing bmo_database")
    }
}

extension ContentTable.Bookkeeping {
    fileprivate var table: String {
        switch self {
        case .unknownFields: "bmo_unknown_fields"
        case .counters: "bmo_database"
        default: "bmo_\(rawValue)"
        }
    }

    fileprivate var order: String {
        switch self {
        case .conflicts: "t.ord"
        case .sources: "1, 2, 3, 4"
        case .stubs, .unknownFields: "1, 2"
        case .cursors, .orphans, .collections: "1, 2, 3"
        case .members: "1, 2, 3, 4"
        case .runs, .changes, .outbox, .origins, .quarantine, .counters: "1"
        }
    }
}

/// The rows of a cursor, which are fetched in portions.
private final class PostgreSQLRows: ContentRows {
    private static let portion = 5_000

    private let connection: Connection
    private let fetch: String
    private let codecs: [ValueCodec]
    private let action: String
    private var result: QueryResult?
    private var row = 0

    init(_ connection: Connection, _ cursor: String, _ codecs: [ValueCodec], _ action: String) {
        self.connection = connection
        fetch = "FETCH \(Self.portion) FROM \(cursor)"
        self.codecs = codecs
        self.action = action
    }

    func next() throws -> [StoredValue]? {
        if result.map({ row == $0.count && $0.count == Self.portion }) ?? true {
            result = try connection.query(fetch, for: action)
            row = 0
        }
        guard let result, row < result.count else { return nil }
        defer { row += 1 }
        return result.values(row, codecs)
    }
}
