internal import Mapping
internal import Model
internal import StoreContract
internal import StoreRules

/// The adaptation of a schema's tables to a model, in the connection's open transaction.
struct SchemaMigration {
    let connection: Connection
    let schema: String
    let model: CompiledModel
    let changes: [SchemaChange]
    private var notes: [String] = []
    /// The runs that lost recorded changes.
    private(set) var forgottenRuns: Set<Int64> = []

    init(_ connection: Connection, schema: String, to model: CompiledModel) throws {
        self.connection = connection
        self.schema = schema
        self.model = model
        changes = try SchemaComparison(connection, schema: schema, to: model).changes
    }

    /// The changes as a plan.
    var plan: SchemaPlan { SchemaPlan(steps: changes.map { $0.step(remedy: remedy($0)) }) }

    /// The changes as a plan with their cost, which reads the tables.
    func planWithCosts() throws -> SchemaPlan {
        SchemaPlan(steps: try changes.map { $0.step(cost: try cost($0), remedy: remedy($0)) })
    }

    /// Returns what to do instead of a change that bmo cannot make on the server; nil if it can.
    private func remedy(_ change: SchemaChange) -> String? {
        obstacle(to: change) == nil ? nil : "add schema=NAME to the address, and sync into a new schema"
    }

    /// Returns where bmo cannot make a change, in words; nil if it can.
    private func obstacle(to change: SchemaChange) -> String? {
        switch change {
        case .changeKey, .convertKey: return "PostgreSQL yet"
        // A conversion numbers the rows by an identity column, which Citus does not add to a table.
        case .convert where connection.engine.hasCitus: return "Citus"
        default:
            return connection.engine.hasTransactionalDDL || change.isRepeatable ? nil : connection.engine.name.rawValue
        }
    }

    /// Refuses changes that bmo cannot make on the server.
    private func checkObstacles(to changes: [SchemaChange]) throws {
        for change in changes {
            guard let obstacle = obstacle(to: change) else { continue }
            throw StoreError(
                .schema, "\(connection.place): bmo cannot do this on \(obstacle): \(change.words)",
                remedy: remedy(change))
        }
    }

    /// Refuses what ``run(dropsUnused:)`` would refuse, and a change of tables with edits that the remote does not have
    /// yet: the values and keys in them would not be converted.
    func check() throws {
        try checkObstacles(to: changes)
        let tables = TableDefinition.all(of: model)
        let rekeyed = changes.compactMap { change -> String? in
            guard case .convert(let name, let column, _, _) = change else { return nil }
            let table = tables.first { $0.name == name }
            return table?.key.contains(column.name) == true ? name : nil
        }
        let changed = WaitingEdits.tables(
            of: changes.map(\.change), rekeyed: Set(rekeyed),
            among: tables.map { table in
                WaitingEdits.Table(
                    name: table.name, targets: table.references.map(\.target), isLinkTable: table.isLinkTable)
            })
        for name in changed {
            let found = try connection.query(
                "SELECT count(*) FROM \(quoted("bmo_outbox")) WHERE root = $1::text", [.text(stored(name))],
                for: "counting edits")
            guard let count = found.bigint(0, 0), count > 0 else { continue }
            throw WaitingEdits.refusal(Int(count), of: name).naming(connection.place)
        }
    }

    func quoted(_ table: String) -> String { Identifier.quoted(schema) + "." + Identifier.quoted(table) }

    // MARK: - Execution

    /// Creates the schema and the bookkeeping if they are missing, or adds what an earlier bmo did not have.
    ///
    /// An earlier bmo did not record its tables: those that have a name of the model become bmo's.
    static func prepare(_ connection: Connection, schema: String, for model: CompiledModel) throws {
        let format = try Catalog.format(connection, schema: schema)
        let engine = connection.engine
        if format > 0, try !Catalog.hasLocks(connection, schema: schema) {
            for statement in Bookkeeping.locks(in: Identifier.quoted(schema) + ".", engine) {
                try connection.run(statement, for: "extending the bookkeeping")
            }
        }
        guard format < Bookkeeping.format else { return }
        guard format == 0 else {
            for statement in Bookkeeping.upgrade(in: schema, on: engine) {
                try connection.run(statement, for: "extending the bookkeeping")
            }
            if format < Bookkeeping.formatWithColumns {
                try ManagedColumns.record(TableDefinition.all(of: model), connection, schema: schema)
            }
            return
        }
        try connection.createSchema(schema)
        for statement in Bookkeeping.statements(in: schema, on: engine) {
            try connection.run(statement, for: "creating the bookkeeping")
        }
    }

    /// Makes the changes; returns what could not be kept, in words.
    ///
    /// - Parameter dropsUnused: Whether all changes are made, or only those that cannot lose data.
    mutating func run(dropsUnused: Bool) throws -> [String] {
        let made = changes.filter { dropsUnused || $0.isLossless }
        guard !made.isEmpty else { return [] }
        try checkObstacles(to: made)
        if !connection.engine.hasTransactionalDDL {
            // A table that is created is bmo's also if the next statement is never run.
            try ManagedColumns.note(made, connection, schema: schema)
        }
        let tables = TableDefinition.all(of: model)
        var views = try LiveRowViews(connection, schema: schema)
        try views.giveWay(to: made, in: tables)
        if made.contains(where: { !$0.isLossless }) { try dropReferences() }
        for change in made { try make(change) }
        try addReferences(of: tables)
        try views.make(of: tables)
        try ManagedColumns.record(tables, connection, schema: schema)
        // Fields unknown so far may be in the model now; they are noted again.
        try connection.run("DELETE FROM \(quoted("bmo_unknown_fields"))", for: "forgetting unmapped fields")
        try connection.run(
            "UPDATE \(quoted("bmo_database")) SET schema_version = schema_version + 1, version = version + 1",
            for: "recording the change of the tables")
        return notes
    }

    private mutating func make(_ change: SchemaChange) throws {
        let action = change.words
        switch change {
        case .renameTable(let old, let new):
            try connection.query(
                "UPDATE \(quoted("bmo_columns")) SET table_name = $2::text WHERE table_name = $1::text",
                [.text(old), .text(new)], for: action)
            try connection.run(
                "ALTER TABLE \(quoted(old)) RENAME TO \(Identifier.quoted(new))", for: action)
            // A table of links has no name in the bookkeeping.
            if model.model.entity(named: new) != nil {
                try RecordedNames(connection, schema: schema).rename(entity: old, to: new)
            }
        case .renameColumn(let table, let old, let new):
            try connection.run(
                "ALTER TABLE \(quoted(table)) RENAME COLUMN \(Identifier.quoted(old)) TO \(Identifier.quoted(new))",
                for: action)
            try RecordedNames(connection, schema: schema).rename(old, to: new, in: table, .column)
        case .renameList(let table, let old, let new):
            try RecordedNames(connection, schema: schema).rename(old, to: new, in: table, .list)
        case .renameKind(let table, let column, let old, let new):
            let name = Identifier.quoted(column)
            try connection.query(
                "UPDATE \(quoted(table)) SET \(name) = $2::text WHERE \(name) = $1::text", [.text(old), .text(new)],
                for: action)
            try RecordedNames(connection, schema: schema).rename(entity: old, to: new, subentityOf: table)
        case .addTable(let table): try create(table, for: action)
        case .addColumn(let table, let column):
            try connection.run(table.addition(of: column, in: schema, on: connection.engine), for: action)
        case .convert(let table, let column, let type, let attribute):
            try convert(table, column, from: type, attribute)
            try forgetHistory(of: table)
        case .changeReference(let table, let reference, _):
            if let (owner, list) = RenameMap.list(ofLinkTable: table, in: model.model) {
                // A link needs its target.
                let count = try connection.query("DELETE FROM \(quoted(table))", for: action).changed
                if count > 0 { notes.append("\(owner.name).\(list.name): only the backup has its \(count) links") }
                try forgetHistory(of: model.model.root(of: owner).name, list: list.name)
            } else {
                let cleared = reference.columns.map { "\(Identifier.quoted($0)) = NULL" }.joined(separator: ", ")
                try connection.run("UPDATE \(quoted(table)) SET \(cleared)", for: action)
                try forgetHistory(of: table)
            }
        // All missing references are added at the end.
        case .addReference: break
        case .removeReference(let table, _, _, let constraint):
            try connection.run(
                "ALTER TABLE \(quoted(table)) DROP CONSTRAINT IF EXISTS \(Identifier.quoted(constraint))", for: action)
        case .dropColumn(let table, let column):
            try connection.run("ALTER TABLE \(quoted(table)) DROP COLUMN \(Identifier.quoted(column))", for: action)
            try RecordedNames(connection, schema: schema).retire(column: column, in: table)
        case .dropTable(let table):
            let names = RecordedNames(connection, schema: schema)
            let kinds = try names.kinds(of: table, besides: model.model.entities.map(\.name))
            try connection.run("DROP TABLE \(quoted(table))", for: action)
            for entity in [table] + kinds { try names.forget(entity: entity) }
            for (owner, list) in RenameMap.droppedLists(ofTable: table, in: model.model) {
                try RecordedNames(connection, schema: schema).retire(list: list, in: owner)
            }
        case .changeKey, .convertKey: break
        }
    }

    /// Creates a table, which Citus spreads over its nodes by the first column of the key, or copies to each of them.
    private func create(_ table: TableDefinition, for action: String) throws {
        let engine = connection.engine
        try connection.run(table.creation(in: schema, on: engine), for: action)
        guard engine.name == .citusDistributed, engine.hasCitus else { return }
        let name = table.quoted(in: schema)
        if table.isSingleton || connection.location.references.contains(table.name) {
            try connection.query(
                "SELECT create_reference_table($1::text::regclass)::text", [.text(name)], for: action)
        } else {
            try connection.query(
                "SELECT create_distributed_table($1::text::regclass, $2::text)::text",
                [.text(name), .text(table.key.first ?? RowTableSQL.numberColumn)], for: action)
        }
    }

    /// Forgets the recorded changes of a table whose values are others now, or only those of one list.
    private mutating func forgetHistory(of table: String, list: String? = nil) throws {
        let (count, runs) = try RecordedNames(connection, schema: schema).forgetChanges(of: table, list: list)
        guard count > 0 else { return }
        forgottenRuns.formUnion(runs)
        let what = list.map { "\(table).\($0)" } ?? table
        notes.append("\(what): only the backup has its history so far (\(count) changes)")
    }

    // MARK: - Conversion

    /// The number of values converted, or stubs added, at a time.
    static let portion = 5_000

    /// Converts a column: its values become texts that the server can read as the new type, or null.
    private mutating func convert(
        _ table: String, _ column: TableDefinition.Column, from type: String, _ attribute: AttributeType?
    ) throws {
        let name = Identifier.quoted(column.name)
        let action = "converting \(table).\(column.name)"
        let old = SQLType(catalogName: type)
        var unfit = 0
        var last: Int64 = 0
        try connection.run(
            "ALTER TABLE \(quoted(table)) ADD COLUMN bmo_converted text, ADD COLUMN bmo_number bigint "
                + "GENERATED ALWAYS AS IDENTITY", for: action)
        while true {
            let read = old.map { $0.read(name) } ?? "\(name)::text"
            let values = try connection.query(
                """
                SELECT bmo_number, \(read) FROM \(quoted(table)) WHERE bmo_number > $1::bigint AND \(name) IS NOT NULL
                ORDER BY bmo_number LIMIT \(Self.portion)
                """, [.bigint(last)], for: action)
            var converted: [(Int64, String)] = []
            for row in 0..<values.count {
                last = values.bigint(row, 0) ?? 0
                guard let text = Self.converted(values.bytes(row, 1), old, attribute, column) else {
                    unfit += 1
                    continue
                }
                converted.append((last, text))
            }
            try connection.query(
                """
                UPDATE \(quoted(table)) t SET bmo_converted = u.v FROM unnest($1::bigint[], $2::text[]) AS u(n, v)
                WHERE t.bmo_number = u.n
                """, [.bigints(converted.map(\.0)), .texts(converted.map(\.1))], for: action)
            if values.count < Self.portion { break }
        }
        try connection.run(
            """
            ALTER TABLE \(quoted(table)) ALTER COLUMN \(name) TYPE \(column.type.definition(on: connection.engine))
                USING bmo_converted::\(column.type.name);
            ALTER TABLE \(quoted(table)) DROP COLUMN bmo_converted, DROP COLUMN bmo_number
            """, for: action)
        if unfit > 0 { notes.append("\(table).\(column.name): \(Self.words(unfit)) did not fit and became null") }
    }

    /// Returns a value as text that the server reads as the column's type; nil if it does not fit.
    private static func converted(
        _ bytes: UnsafeRawBufferPointer?, _ old: SQLType?, _ attribute: AttributeType?, _ column: TableDefinition.Column
    ) -> String? {
        guard let bytes else { return nil }
        let value = ValueCodec.decode(bytes, old ?? .text)
        let converter = StoredValueConverter(from: attribute ?? old?.attribute, to: column.attribute)
        guard let converted = try? converter.convert(value), converted != .null,
            (try? ValueCodec(column.attribute).encode(converted)) != nil
        else { return nil }
        switch converted {
        case .bytes(let bytes): return "\\x" + bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        case .real(let number): return number.isInfinite ? (number < 0 ? "-Infinity" : "Infinity") : "\(number)"
        default: return converted.description
        }
    }

    // MARK: - Cost

    private static func words(_ count: Int) -> String { "\(count) value\(count == 1 ? "" : "s")" }

    private func cost(_ change: SchemaChange) throws -> String? {
        func count(_ table: String, _ column: String?) throws -> Int {
            let what = column.map { "count(\(Identifier.quoted($0)))" } ?? "count(*)"
            return Int(
                try connection.query("SELECT \(what) FROM \(quoted(stored(table)))", for: "counting rows").bigint(0, 0)
                    ?? 0)
        }
        switch change {
        case .dropTable(let name), .changeKey(let name, _, _), .convertKey(let name, _, _, _):
            let rows = try count(name, nil)
            return "with \(rows) row\(rows == 1 ? "" : "s")"
        case .dropColumn(let table, let column): return "with \(Self.words(try count(table, column)))"
        case .changeReference(let table, let reference, _):
            let values = try count(table, reference.columns.first)
            guard values > 0 else { return nil }
            let isLinks = RenameMap.list(ofLinkTable: table, in: model.model) != nil
            return isLinks ? "\(values) link\(values == 1 ? " is" : "s are") lost" : "\(Self.words(values)) become null"
        case .convert(let table, let column, let type, let attribute):
            return try conversionCost(table, column, from: type, attribute)
        default: return nil
        }
    }

    private func conversionCost(
        _ table: String, _ column: TableDefinition.Column, from type: String, _ attribute: AttributeType?
    ) throws -> String? {
        let old = SQLType(catalogName: type)
        let renamed = changes.compactMap { change -> String? in
            if case .renameColumn(table, let old, column.name) = change { old } else { nil }
        }.first
        let name = Identifier.quoted(renamed ?? column.name)
        let values = try connection.query(
            "SELECT \(old.map { $0.read(name) } ?? "\(name)::text") FROM \(quoted(stored(table))) WHERE \(name) IS NOT NULL",
            for: "reading \(table)")
        let unfit = (0..<values.count).count { Self.converted(values.bytes($0, 0), old, attribute, column) == nil }
        guard unfit > 0 else { return values.count == 0 ? nil : "all \(Self.words(values.count)) fit" }
        return "\(unfit) of \(Self.words(values.count)) \(unfit == 1 ? "does" : "do") not fit"
    }

    /// Returns the present name of a table.
    private func stored(_ table: String) -> String {
        for change in changes { if case .renameTable(let old, table) = change { return old } }
        return table
    }
}

extension SQLType {
    /// The attribute type whose values a column of this type has, for a conversion.
    fileprivate var attribute: AttributeType {
        switch self {
        case .text: .text
        case .bigint: .integer
        case .boolean: .boolean
        case .double: .real
        case .numeric: .decimal
        case .timestamptz: .timestamp
        case .date: .date
        case .uuid: .uuid
        case .bytea: .data
        }
    }
}
