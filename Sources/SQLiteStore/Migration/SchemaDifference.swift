internal import GRDB
internal import StoreContract
internal import StoreRules
internal import Mapping
internal import Model

/// The tables of a file and how they differ from those of a model.
struct SchemaDifference {
    /// A table in the file.
    struct Existing {
        /// The table's name in the file.
        let name: String
        /// The columns, with their names after all renames.
        var columns: [SchemaBuilder.Column]
        /// The columns' names in the file, by the names after all renames.
        var names: [String: String]
        /// The key's columns, in order, with their names in the file.
        var key: [String]
        /// The columns that bmo did not create, which are kept.
        var others: [SchemaBuilder.Column] = []

        /// The same table after the renames.
        var renamed: Existing {
            var copy = self
            copy.key = key.map { name in names.first { $0.value == name }?.key ?? name }
            copy.names = Dictionary(columns.map { ($0.name, $0.name) }, uniquingKeysWith: { first, _ in first })
            return copy
        }
    }

    /// The changes, in order of execution.
    private(set) var steps: [SchemaStep] = []
    let model: Model
    /// The tables of the model.
    let tables: [SchemaBuilder.Table]
    /// The tables of the file, by lower-case name after all renames.
    private(set) var existing: [String: Existing] = [:]

    init(of model: CompiledModel, in db: Database) throws {
        self.model = model.model
        tables = SchemaBuilder(model).tables
        let made = try ManagedTables(in: db)
        try made.refuseOthers(among: tables, in: db)
        for table in tables {
            guard var found = try Self.read(table.name, made, in: db) ?? renamed(table, made, model.model, in: db)
            else {
                steps.append(.addTable(table))
                continue
            }
            try checkGenerated(of: table, found, in: db)
            try rename(table, &found)
            try checkDiscriminator(of: table, found, in: db)
            existing[table.name.lowercased()] = found
            try renameKinds(of: table, found, made, in: db)
        }
        followRenamedTables()
        for table in tables { if let found = existing[table.name.lowercased()] { compare(table, found) } }
        let wanted = Set(tables.map { $0.name.lowercased() } + existing.values.map { $0.name.lowercased() })
        for name in made.names where try !wanted.contains(name.lowercased()) && db.tableExists(name) {
            steps.append(.dropTable(name))
        }
    }

    /// Records that the renames are done, so that the file has the new names.
    mutating func forgetRenames() { existing = existing.mapValues(\.renamed) }

    // MARK: renaming

    private mutating func renamed(
        _ table: SchemaBuilder.Table, _ made: ManagedTables, _ model: Model, in db: Database
    ) throws -> Existing? {
        guard let old = table.oldName, made.has(old), let found = try Self.read(old, made, in: db) else { return nil }
        if tables.contains(where: { $0.name.lowercased() == old.lowercased() }) {
            guard model.entity(named: table.name)?.renamedFrom != nil else { return nil }
            throw StoreError.takenName(old, of: table.name)
        }
        steps.append(.renameTable(from: found.name, to: table.name))
        if let (owner, list) = RenameMap.list(ofLinkTable: table.name, in: model), let old = list.renamedFrom {
            steps.append(.renameList(table: model.root(of: owner).name, from: old, to: list.name))
        }
        return found
    }

    /// Updates references to renamed tables; SQLite does the same in the file.
    private mutating func followRenamedTables() {
        for (name, found) in existing {
            for (index, column) in found.columns.enumerated() {
                guard let target = column.target,
                    let renamed = existing.first(where: { $0.value.name.lowercased() == target.table.lowercased() }),
                    let table = tables.first(where: { $0.name.lowercased() == renamed.key })
                else { continue }
                existing[name]?.columns[index].target?.table = table.name
            }
        }
    }

    private mutating func rename(_ table: SchemaBuilder.Table, _ found: inout Existing) throws {
        guard !table.isFull else { return renameLinks(table, &found) }
        let attributes = model.entity(named: table.name).map(model.family(of:))?.flatMap(\.attributes) ?? []
        for column in table.columns {
            guard let old = column.oldName, !found.others.contains(where: { $0.isNamed(old) }),
                !found.columns.contains(where: { $0.isNamed(column.name) }),
                let index = found.columns.firstIndex(where: { $0.isNamed(old) })
            else { continue }
            if table.columns.contains(where: { $0.isNamed(old) }) {
                let isStated = attributes.contains { $0.name == column.name && $0.renamedFrom == old }
                guard isStated else { continue }
                throw StoreError.takenName(old, of: "\(table.name).\(column.name)")
            }
            let name = found.columns[index].name
            found.columns[index] = found.columns[index].named(column.name)
            found.names[column.name] = name
            found.names[name] = nil
            steps.append(.renameColumn(table: table.name, from: name, to: column.name))
        }
    }

    private mutating func renameLinks(_ table: SchemaBuilder.Table, _ found: inout Existing) {
        let others = found.others.map(\.name)
        let own = found.columns.map(\.name).filter { !others.contains($0) }
        let links = LinkRenames(table.linkEnds, present: own, others: others, ignoresCase: true)
        for (old, new) in links.steps { steps.append(.renameColumn(table: table.name, from: old, to: new)) }
        found.columns = found.columns.map { column in
            links.renames.first { $0.old == column.name }.map { column.named($0.new) } ?? column
        }
        for rename in links.renames { found.names[rename.old] = nil }
        for rename in links.renames { found.names[rename.new] = rename.old }
    }

    private mutating func renameKinds(
        of table: SchemaBuilder.Table, _ found: Existing, _ made: ManagedTables, in db: Database
    ) throws {
        guard found.columns.contains(where: { $0.isNamed(Entity.discriminatorColumn) }) else { return }
        func hasRows(_ kind: String) throws -> Bool {
            try Bool.fetchOne(
                db, sql: "SELECT EXISTS (SELECT 1 FROM \(SchemaBuilder.quoted(found.name)) WHERE entity = ?)",
                arguments: [kind]) == true
        }
        func isNamed(_ kind: String) throws -> Bool {
            // The bookkeeping of an unused table has its name, too.
            try !(made.has(kind) && db.tableExists(kind)) && BookkeepingNames(in: db).has(kind: kind)
        }
        for (old, new) in table.oldKinds.sorted(by: { $0.key < $1.key }) {
            guard try hasRows(old) || new != table.name && isNamed(old) else { continue }
            if let refusal = RenameMap.refusal(of: old, to: new, in: model),
                try hasRows(new) || new != table.name && isNamed(new)
            {
                throw refusal
            }
            steps.append(.renameKind(table: table.name, from: old, to: new))
        }
    }

    /// Refuses a generated column where the table needs one of its name, whose values can be set.
    private func checkGenerated(of table: SchemaBuilder.Table, _ found: Existing, in db: Database) throws {
        let generated = try GeneratedColumns(of: found.name, in: db).names
        guard let name = generated.first(where: { name in table.columns.contains { $0.isNamed(name) } }) else { return }
        throw StoreError(
            .schema, "\(found.name).\(name) is a generated column, which cannot have the values of an attribute",
            remedy: "drop the generated column with an SQLite client, or name the attribute otherwise")
    }

    /// Refuses a column of a former attribute, or of another tool, where the table needs one with the objects' entities.
    ///
    /// The column that bmo creates for these has a default value.
    private func checkDiscriminator(
        of table: SchemaBuilder.Table, _ found: Existing, in db: Database
    ) throws {
        let name = Entity.discriminatorColumn
        guard table.columns.contains(where: { $0.name == name && $0.defaultText != nil }),
            let root = model.entity(named: table.name), found.columns.contains(where: { $0.isNamed(name) }),
            try Bool.fetchOne(
                db, sql: "SELECT dflt_value IS NULL FROM pragma_table_info(?) WHERE lower(name) = ?",
                arguments: [found.name, name]) == true
        else { return }
        // An earlier version of bmo may have used such a column, and a complete scan has given it its values since.
        let kinds = model.family(of: root).map(\.name)
        let known = kinds.map { _ in "?" }.joined(separator: ", ")
        let isUsed = try Bool.fetchOne(
            db,
            sql: """
                SELECT count(*) = total(\(name) IN (\(known)))
                FROM \(SchemaBuilder.quoted(found.name))
                """, arguments: StatementArguments(kinds))
        guard isUsed != true else { return }
        let isForeign = found.others.contains { $0.isNamed(name) }
        throw StoreError(
            .schema,
            "\(found.name) has a column \(name) of \(isForeign ? "another tool" : "a former attribute"), "
                + "which would have the entity of each object now",
            remedy: isForeign
                ? "rename or drop the column with an SQLite client"
                : "take the sub-entities of \(table.name) out of the file, let `bmo migrate --apply` drop the column, and "
                    + "add them again")
    }

    // MARK: comparing

    private mutating func compare(_ table: SchemaBuilder.Table, _ found: Existing) {
        let oldKey = found.key.map { name in found.names.first { $0.value == name }?.key ?? name }
        if oldKey.map({ $0.lowercased() }) != table.key.map({ $0.lowercased() }) {
            steps.append(.changeKey(table: table.name, from: oldKey, to: table.key))
        }
        for column in table.columns {
            guard let present = found.columns.first(where: { $0.isNamed(column.name) }) else {
                // The change of the key adds its columns.
                if !column.isKey { steps.append(.addColumn(table: table.name, column)) }
                continue
            }
            if Self.needsConversion(from: present, to: column) {
                steps.append(.convert(table: table.name, column, from: present.words))
            }
            if let (old, new) = Self.references(present, column) {
                steps.append(.changeReference(table: table.name, column: column.name, from: old, to: new))
            }
        }
        for column in found.columns where !table.columns.contains(where: { $0.isNamed(column.name) }) {
            // The change of the key drops the columns that leave the key.
            if !column.isKey, !found.others.contains(where: { $0.isNamed(column.name) }) {
                steps.append(.dropColumn(table: table.name, column: column.name))
            }
        }
    }

    /// Returns whether values of the old column may be invalid in the new one.
    private static func needsConversion(from old: SchemaBuilder.Column, to new: SchemaBuilder.Column) -> Bool {
        if old.type != new.type { return true }
        guard let before = old.attribute, let after = new.attribute, before != after else { return false }
        // Every value is valid text, and 0 and 1 are valid integers.
        return after != .text && !(before == .boolean && after == .integer)
    }

    /// Returns the targets of the two columns' references if they differ.
    ///
    /// A reference to another table would reject rows at the end of a page; without a reference, old values may have no
    /// target.
    private static func references(
        _ present: SchemaBuilder.Column, _ column: SchemaBuilder.Column
    ) -> (old: String?, new: String?)? {
        let isSame = column.target?.table.lowercased() == present.target?.table.lowercased()
        // Columns of a composite reference may have been added later, without the reference.
        if column.isPartOfReference ? present.target == nil : isSame && !present.isPartOfReference { return nil }
        func words(_ column: SchemaBuilder.Column) -> String? {
            column.target?.table ?? (column.isPartOfReference ? "an object together with others" : nil)
        }
        return (words(present), words(column))
    }

    // MARK: reading

    private static func read(_ table: String, _ made: ManagedTables, in db: Database) throws -> Existing? {
        guard
            let name = try String.fetchOne(
                db, sql: "SELECT name FROM sqlite_schema WHERE type = 'table' AND lower(name) = lower(?)",
                arguments: [table])
        else { return nil }
        // One row per column of a reference, with the number of the reference.
        let references = try Row.fetchAll(
            db,
            sql: """
                SELECT "from", "table", "to", count(*) OVER (PARTITION BY id) AS width
                FROM pragma_foreign_key_list(?)
                """, arguments: [name])
        let rows = try Row.fetchAll(
            db, sql: "SELECT name, type, pk FROM pragma_table_info(?) ORDER BY cid", arguments: [name])
        let columns = rows.map { row in
            var column = SchemaBuilder.Column(
                name: row["name"], type: row["type"], isKey: row["pk"] as Int > 0,
                attribute: made.type(of: row["name"], in: name))
            for reference in references where reference["from"] as String == column.name {
                if reference["width"] as Int > 1 {
                    column.isPartOfReference = true
                } else {
                    column.target = SchemaBuilder.Reference(table: reference["table"], column: reference["to"] ?? "")
                }
            }
            return column
        }
        let key = rows.filter { ($0["pk"] as Int) > 0 }.sorted { ($0["pk"] as Int) < ($1["pk"] as Int) }
        return Existing(
            name: name, columns: columns,
            names: Dictionary(columns.map { ($0.name, $0.name) }, uniquingKeysWith: { first, _ in first }),
            key: key.map { $0["name"] }, others: columns.filter { !made.has($0.name, in: name) })
    }
}

extension SchemaBuilder.Column {
    /// Returns whether the column has this name; SQLite ignores case.
    func isNamed(_ other: String) -> Bool { name.lowercased() == other.lowercased() }

    func named(_ name: String) -> SchemaBuilder.Column {
        var column = SchemaBuilder.Column(name: name, type: type, isKey: isKey, attribute: attribute)
        column.target = target
        column.isPartOfReference = isPartOfReference
        column.defaultText = defaultText
        return column
    }
}
