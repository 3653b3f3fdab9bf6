internal import Mapping
internal import Model
internal import StoreContract
internal import StoreRules

/// The differences between the tables of a schema and those of a model.
struct SchemaComparison {
    private let connection: Connection
    private let schema: String
    private let model: CompiledModel
    private let catalog: Catalog
    private let made: ManagedColumns
    private let wanted: [TableDefinition]
    /// The changes, in order of execution.
    private(set) var changes: [SchemaChange] = []
    /// The stored tables that the model uses.
    private var used: Set<String> = []
    /// The renames of lists, which follow those of all tables: the history has the new names of their owners by then.
    private var lists: [SchemaChange] = []

    init(_ connection: Connection, schema: String, to model: CompiledModel) throws {
        self.connection = connection
        self.schema = schema
        self.model = model
        catalog = try Catalog(connection, schema: schema)
        made = try ManagedColumns(connection, schema: schema)
        wanted = TableDefinition.all(of: model)
        for table in wanted {
            try table.checkNames()
            try compare(table)
        }
        changes += lists
        let unused = catalog.tables.filter { !used.contains($0.key) && made.has($0.key) }
        for (name, stored) in unused.sorted(by: { $0.key < $1.key }) {
            removeReferences(of: name, stored, name, columns: [], wanted: [])
            changes.append(.dropTable(name))
        }
    }

    private mutating func compare(_ table: TableDefinition) throws {
        let family = model.model.entity(named: table.name).map(model.model.family(of:)) ?? []
        let isNew = catalog.tables[table.name] == nil
        let oldName = isNew ? self.oldName(of: table, family) : table.name
        if isNew, oldName == nil, let old = family.first?.renamedFrom, catalog.tables[old] != nil, made.mayHave(old) {
            throw StoreError.takenName(old, of: table.name)
        }
        guard let oldName, let stored = catalog.tables[oldName] else {
            changes.append(.addTable(table))
            return
        }
        used.insert(oldName)
        try checkOwner(oldName)
        if oldName != table.name {
            changes.append(.renameTable(from: oldName, to: table.name))
            if table.isLinkTable, let (owner, list) = RenameMap.list(ofLinkTable: table.name, in: model.model),
                let old = list.renamedFrom
            {
                lists.append(.renameList(table: model.model.root(of: owner).name, from: old, to: list.name))
            }
        }
        let renames = RenameMap(ofTable: table.name, in: model)
        var names = renameLinks(table, stored, oldName)
        let renamed = Set(names.values)
        for column in table.columns where names[column.name] == nil && !renamed.contains(column.name) {
            if stored.column(column.name) != nil {
                names[column.name] = column.name
            } else if let old = renames.columns[column.name], stored.column(old) != nil {
                guard !table.columns.contains(where: { $0.name == old }) else {
                    let isStated = family.flatMap(\.attributes).contains {
                        $0.name == column.name && $0.renamedFrom == old
                    }
                    guard isStated else { continue }
                    throw StoreError.takenName(old, of: "\(table.name).\(column.name)")
                }
                names[column.name] = old
                changes.append(.renameColumn(table: table.name, from: old, to: column.name))
            }
        }
        try compareKinds(table, oldName, names, renames)
        let present = stored.key.map { old in names.first { $0.value == old }?.key ?? old }
        let key = table.key.isEmpty ? [RowTableSQL.numberColumn] : table.key
        let isNumberChanged = (stored.column(RowTableSQL.numberColumn) != nil) != table.isNumberedApart
        if present == key, isNumberChanged, key.count == 1,
            let column = table.columns.first(where: { $0.name == key[0] }),
            let type = names[column.name].flatMap({ stored.column($0) })
        {
            changes.append(.convertKey(table: table.name, column: column.name, from: type, to: column.type.name))
            return
        }
        if present != key || isNumberChanged {
            changes.append(.changeKey(table: table.name, from: present, to: table.key))
            return
        }
        for column in table.columns {
            guard let type = names[column.name].flatMap({ stored.column($0) }) else {
                changes.append(.addColumn(table, column))
                continue
            }
            let attribute = names[column.name].flatMap { made.attribute(of: $0, in: oldName) }
            if SQLType(catalogName: type) != column.type || attribute.map({ $0 != column.attribute }) == true {
                changes.append(.convert(table: table.name, column, from: type, attribute))
            }
        }
        compareReferences(table, stored, oldName, names)
        let known = Set(names.values).union([RowTableSQL.numberColumn])
        for column in stored.columns where !known.contains(column.name) && made.has(column.name, in: oldName) {
            changes.append(.dropColumn(table: table.name, column: column.name))
        }
    }

    /// Renames the columns of a link table by their places; returns the present names of all that get another, by the new.
    private mutating func renameLinks(
        _ table: TableDefinition, _ stored: Catalog.Table, _ oldName: String
    ) -> [String: String] {
        let columns = stored.columns.map(\.name)
        let links = LinkRenames(
            table.linkEnds, present: columns.filter { made.has($0, in: oldName) },
            others: columns.filter { !made.has($0, in: oldName) }, ignoresCase: false)
        for (old, new) in links.steps { changes.append(.renameColumn(table: table.name, from: old, to: new)) }
        return Dictionary(links.renames.map { ($0.new, $0.old) }, uniquingKeysWith: { first, _ in first })
    }

    /// Refuses a table of another program with the name of an entity.
    private func checkOwner(_ table: String) throws {
        guard !made.mayHave(table) else { return }
        throw StoreError(
            .schema, "\(connection.place): there is a table \(table) that bmo did not create",
            remedy: "rename one of them, or add schema=NAME to the address, so that bmo has a schema of its own")
    }

    private mutating func compareReferences(
        _ table: TableDefinition, _ stored: Catalog.Table, _ oldName: String, _ names: [String: String]
    ) {
        guard connection.engine.foreignKeys != .none else { return }
        var all: Set<[String]> = []
        for reference in table.references {
            let columns = reference.columns.compactMap { names[$0] }
            // A reference of new columns is added with them.
            guard columns.count == reference.columns.count else { continue }
            all.insert(columns)
            let present = stored.references.filter { $0.key.columns == columns }
            let target = wanted.first { $0.name == reference.target }
            let oldTarget = target.flatMap { self.oldName(of: $0, family($0)) }
            guard !present.keys.contains(where: { $0.target == reference.target || $0.target == oldTarget }) else {
                continue
            }
            let own = present.filter { made.hasMade($0.key, $0.value, of: oldName, on: connection.engine) }
            if let old = own.keys.map(\.target).min() {
                changes.append(.changeReference(table: table.name, reference, from: old))
            } else {
                changes.append(.addReference(table: table.name, reference))
            }
        }
        removeReferences(of: table.name, stored, oldName, columns: Set(names.values), wanted: all)
    }

    /// Removes the references that nothing wants and that would be in the way: of new values of columns that are in use, or
    /// of the deletion of rows that they refer to.
    ///
    /// The columns of the other ones become null with such a deletion; see `UnusedReferenceSQL`.
    ///
    /// - Parameters:
    ///   - table: The name of the table after all renames.
    ///   - columns: Those that the model uses, by their present names.
    ///   - wanted: The columns of the model's references.
    private mutating func removeReferences(
        of table: String, _ stored: Catalog.Table, _ oldName: String, columns: Set<String>, wanted: Set<[String]>
    ) {
        for (reference, constraint) in stored.references.sorted(by: { $0.value.name < $1.value.name })
        where !wanted.contains(reference.columns)
            && made.hasMade(reference, constraint, of: oldName, on: connection.engine)
        {
            let isUsed = reference.columns.contains(where: columns.contains)
            let canBeNull = !stored.clearable(reference, besides: columns).isEmpty
            guard isUsed || !canBeNull && !stored.hasLinks else { continue }
            changes.append(
                .removeReference(
                    table: table, columns: reference.columns, from: reference.target, constraint: constraint.name))
        }
    }

    private mutating func compareKinds(
        _ table: TableDefinition, _ oldName: String, _ names: [String: String], _ renames: RenameMap
    ) throws {
        guard let discriminator = table.discriminator, let column = names[discriminator] else { return }
        func hasRows(_ kind: String) throws -> Bool {
            try connection.query(
                """
                SELECT EXISTS (SELECT 1 FROM \(Identifier.quoted(schema)).\(Identifier.quoted(oldName))
                    WHERE \(Identifier.quoted(column)) = $1::text)
                """, [.text(kind)], for: "reading \(oldName)"
            ).boolean(0, 0)
        }
        func isNamed(_ kind: String) throws -> Bool {
            // The bookkeeping of an unused table has its name, too.
            try !(made.has(kind) && catalog.tables[kind] != nil)
                && RecordedNames(connection, schema: schema).has(kind: kind)
        }
        for (old, new) in renames.kinds.sorted(by: { $0.key < $1.key }) {
            guard try hasRows(old) || new != table.name && isNamed(old) else { continue }
            if let refusal = RenameMap.refusal(of: old, to: new, in: model.model),
                try hasRows(new) || new != table.name && isNamed(new)
            {
                throw refusal
            }
            changes.append(.renameKind(table: table.name, column: discriminator, from: old, to: new))
        }
    }

    // MARK: - Names

    private func family(_ table: TableDefinition) -> [Entity] {
        model.model.entity(named: table.name).map(model.model.family(of:)) ?? []
    }

    /// Returns the earlier name of a table that is stored; nil if it is new.
    private func oldName(of table: TableDefinition, _ family: [Entity]) -> String? {
        var old = family.first?.renamedFrom
        if table.isLinkTable { old = RenameMap.linkTable(table.name, in: model.model) }
        guard let old, catalog.tables[old] != nil, made.mayHave(old), !wanted.contains(where: { $0.name == old }) else {
            return nil
        }
        return old
    }
}
