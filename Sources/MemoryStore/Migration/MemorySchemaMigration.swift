internal import Mapping
internal import Model
internal import StoreContract
internal import StoreRules

/// The adaptation of a database's state to the tables of a model.
struct MemorySchemaMigration {
    /// Where the rows of a table come from.
    private struct TableSource {
        var layout: EntityLayout
        /// The stored table; nil if it is new.
        var stored: (table: DatabaseSchema.Table, rows: RowTable)?
        /// The stored columns' names, by the names in the model.
        var names: [String: String] = [:]
        var hasNewKey = false
    }

    private let state: DatabaseState
    private let model: CompiledModel
    private let wanted: DatabaseSchema
    private var sources: [TableSource] = []
    /// The changes, in order of execution.
    private(set) var changes: [MemorySchemaChange] = []

    /// Compares the tables of a database with those of a model.
    init(_ state: DatabaseState, to model: CompiledModel) {
        self.state = state
        self.model = model
        wanted = DatabaseSchema(model)
        for layout in model.entities where layout.index == layout.root { compare(layout) }
        let used = Set(sources.compactMap { $0.stored?.table.name })
        let links = Set(state.schema.links.map(\.name))
        for link in wanted.links where !links.contains(link.name) && storedLink(link.name) == nil {
            changes.append(.addTable(link.name))
        }
        for link in wanted.links {
            guard let target = storedTarget(of: link), target != link.target, let column = link.columns.target.first
            else { continue }
            changes.append(.changeReference(table: link.name, column: column, from: target, to: link.target))
        }
        let dropped = state.schema.tables.map(\.name).filter { !used.contains($0) } + state.unused.tables.keys.sorted()
        for name in dropped where wanted.table(name) == nil { changes.append(.dropTable(name)) }
        let kept = Set(wanted.links.compactMap { storedLink($0.name) })
        for name in state.links.keys.sorted() where !kept.contains(name) { changes.append(.dropTable(name)) }
    }

    /// The changes as a plan, with their cost.
    var plan: SchemaPlan { SchemaPlan(steps: changes.map { $0.step(cost: cost($0)) }) }

    // MARK: - Comparison

    private mutating func compare(_ layout: EntityLayout) {
        guard let table = wanted.table(layout.name) else { return }
        var source = TableSource(layout: layout)
        defer { sources.append(source) }
        let family = model.model.entity(named: layout.name).map(model.model.family(of:)) ?? []
        let oldName = family.first?.renamedFrom.flatMap { wanted.table($0) == nil ? $0 : nil }
        guard let stored = stored(table.name) ?? oldName.flatMap(stored) else {
            changes.append(.addTable(table.name))
            return
        }
        source.stored = stored
        if stored.table.name != table.name {
            changes.append(.renameTable(from: stored.table.name, to: table.name))
        }
        let unused = state.unused.columns[stored.table.name] ?? [:]
        let renames = RenameMap(ofTable: layout.name, in: model)
        let columns = stored.table.columns + unused.values.map(\.column).sorted { $0.name < $1.name }
        for column in table.columns {
            if columns.contains(where: { $0.name == column.name }) {
                source.names[column.name] = column.name
            } else if let old = renames.columns[column.name], columns.contains(where: { $0.name == old }),
                !table.columns.contains(where: { $0.name == old })
            {
                source.names[column.name] = old
                changes.append(.renameColumn(table: table.name, from: old, to: column.name))
            }
        }
        compareKinds(family, stored, table)
        let oldKey = stored.table.key.map { name in source.names.first { $0.value == name }?.key ?? name }
        source.hasNewKey = oldKey != table.key
        if source.hasNewKey { changes.append(.changeKey(table: table.name, from: oldKey, to: table.key)) }
        for column in table.columns {
            guard let old = columns.first(where: { $0.name == source.names[column.name] }) else {
                if !table.key.contains(column.name) { changes.append(.addColumn(table: table.name, column)) }
                continue
            }
            if Self.needsConversion(from: old.type, to: column.type) {
                changes.append(.convert(table: table.name, column, from: old.type))
            }
            let target = old.target.map { renamed($0) }
            if target != column.target {
                changes.append(
                    .changeReference(table: table.name, column: column.name, from: target, to: column.target))
            }
        }
        let used = Set(source.names.values)
        for column in columns where !used.contains(column.name) {
            changes.append(.dropColumn(table: table.name, column: column.name))
        }
    }

    private mutating func compareKinds(
        _ family: [Entity], _ stored: (table: DatabaseSchema.Table, rows: RowTable), _ table: DatabaseSchema.Table
    ) {
        guard let name = stored.table.discriminator,
            let field = stored.table.columns.firstIndex(where: { $0.name == name })
        else { return }
        for entity in family {
            guard let old = entity.renamedFrom,
                stored.rows.rows.values.contains(where: { $0[field] == .text(old) })
            else { continue }
            changes.append(.renameKind(table: table.name, from: old, to: entity.name))
        }
    }

    private func stored(_ name: String) -> (table: DatabaseSchema.Table, rows: RowTable)? {
        if let table = state.schema.table(name), let rows = state.tables[name] { return (table, rows) }
        return state.unused.tables[name].map { ($0.table, $0.rows) }
    }

    /// Returns the stored name of a link table; nil if it is new.
    private func storedLink(_ name: String) -> String? {
        if state.links[name] != nil { return name }
        return RenameMap.linkTable(name, in: model.model).flatMap { state.links[$0] != nil ? $0 : nil }
    }

    /// Returns the entity to which the stored links of a table lead, by its present name; nil if the table is new.
    private func storedTarget(of link: DatabaseSchema.LinkTable) -> String? {
        let name = storedLink(link.name)
        return state.schema.links.first { $0.name == name }.map { renamed($0.target) }
    }

    /// Returns whether the keys at an end of a table of links are others now.
    private func isRekeyed(_ link: DatabaseSchema.LinkTable) -> Bool {
        let ends = [link.source, link.target]
        return sources.contains { $0.hasNewKey && ends.contains($0.layout.name) }
            || changes.contains { change in
                switch change {
                case .convert(let table, let column, _):
                    ends.contains(table) && wanted.table(table)?.key.contains(column.name) == true
                case .changeReference(link.name, _, _, _): true
                default: false
                }
            }
    }

    /// Returns whether recorded values of a table's rows have another type or meaning now.
    private func hasOtherValues(_ source: TableSource) -> Bool {
        let name = source.layout.name
        let refersToNewKey = source.layout.toOne.contains { toOne in
            sources.contains { $0.hasNewKey && $0.layout.index == model.entities[toOne.target].root }
        }
        return source.hasNewKey || refersToNewKey
            || changes.contains { change in
                switch change {
                case .convert(name, _, _), .changeReference(name, _, _, _): true
                default: false
                }
            }
    }

    private func renamed(_ table: String) -> String {
        model.model.entities.first { $0.renamedFrom == table && $0.superentity == nil }?.name ?? table
    }

    private static func needsConversion(from old: AttributeType, to new: AttributeType) -> Bool {
        // Every value but bytes is valid text, and 0 and 1 are valid integers.
        guard old != new else { return false }
        let isText = ![.integer, .boolean, .real, .data].contains(old)
        return !(new == .text && isText) && !(old == .boolean && new == .integer)
    }

    // MARK: - Cost

    private func cost(_ change: MemorySchemaChange) -> String? {
        func rows(_ count: Int) -> String { "with \(count) row\(count == 1 ? "" : "s")" }
        switch change {
        case .dropTable(let name), .changeKey(let name, _, _):
            return rows(
                stored(name)?.rows.rows.count ?? state.links[name]?.lists.values.reduce(0) { $0 + $1.count } ?? 0)
        case .dropColumn(let table, let column): return "with \(Self.words(values(table, column).count))"
        case .changeReference(let table, let column, let old?, _?) where !old.isEmpty:
            let count = values(table, column).count
            return count == 0 ? nil : "\(Self.words(count)) become null"
        case .convert(let table, let column, let old):
            let values = values(table, column.name)
            let converter = StoredValueConverter(from: old, to: column.type)
            let unfit = values.count { (try? converter.convert($0)) == nil }
            guard unfit > 0 else { return values.isEmpty ? nil : "all \(Self.words(values.count)) fit" }
            return "\(unfit) of \(Self.words(values.count)) \(unfit == 1 ? "does" : "do") not fit"
        default: return nil
        }
    }

    private static func words(_ count: Int) -> String { "\(count) value\(count == 1 ? "" : "s")" }

    private func values(_ table: String, _ column: String) -> [StoredValue] {
        guard let source = sources.first(where: { $0.layout.name == table }), let stored = source.stored else {
            return []
        }
        let name = source.names[column] ?? column
        if let field = stored.table.columns.firstIndex(where: { $0.name == name }) {
            return stored.rows.rows.values.map { $0[field] }.filter { $0 != .null }
        }
        return (state.unused.columns[stored.table.name]?[name]?.values.values).map(Array.init) ?? []
    }

    // MARK: - Execution

    /// Returns the state with the tables of the model, what could not be kept, in words, and the runs whose changes were
    /// deleted.
    ///
    /// - Parameter dropsUnused: Whether tables and columns that the model does not have are dropped, or only put aside.
    func run(dropsUnused: Bool) -> (state: DatabaseState, notes: [String], forgotten: Set<Int64>) {
        var new = state
        var notes: [String] = []
        var forgotten: Set<Int64> = []
        new.schema = wanted
        new.schemaVersion += 1
        new.tables = [:]
        new.links = [:]
        if dropsUnused { new.unused = DatabaseState.Unused() }
        for source in sources {
            let name = source.layout.name
            guard let stored = source.stored else {
                new.tables[name] = RowTable(source.layout)
                continue
            }
            new.unused.tables[stored.table.name] = nil
            if stored.table.name != name { new.rename(stored.table.name, to: name) }
            new.tables[name] = rows(of: source, &new, &notes, dropsUnused: dropsUnused)
            guard hasOtherValues(source) else { continue }
            forgotten.formUnion(forgetHistory(name, &new, &notes) { _ in true })
            if source.hasNewKey { forgetKeys(name, &new) }
        }
        for link in wanted.links {
            let old = storedLink(link.name).flatMap { state.links[$0] } ?? LinkTable()
            guard isRekeyed(link) else {
                new.links[link.name] = old
                continue
            }
            if !old.lists.isEmpty { notes.append("\(link.name): its links are in the backup only") }
            new.links[link.name] = LinkTable()
            guard let (owner, list) = RenameMap.list(ofLinkTable: link.name, in: model.model) else { continue }
            let runs = forgetHistory(model.model.root(of: owner).name, &new, &notes) { $0.isOf(list: list.name) }
            forgotten.formUnion(runs)
        }
        if !dropsUnused {
            for table in state.schema.tables where !sources.contains(where: { $0.stored?.table.name == table.name }) {
                if let rows = state.tables[table.name] { new.unused.tables[table.name] = (table, rows) }
            }
        }
        return (new, notes, forgotten)
    }

    private func rows(
        of source: TableSource, _ new: inout DatabaseState, _ notes: inout [String], dropsUnused: Bool
    ) -> RowTable {
        guard let stored = source.stored else { return RowTable(source.layout) }
        let layout = source.layout
        let unused = state.unused.columns[stored.table.name] ?? [:]
        let columns = layout.fields.map { field in column(field, source, stored.table, unused) }
        var table = RowTable(layout)
        var unfit: [String: Int] = [:]
        var lost = 0
        for number in stored.rows.rows.keys.sorted() {
            guard let row = stored.rows.rows[number], let oldKey = stored.rows.key(of: number) else { continue }
            var values = columns.map { column in column.value(row, oldKey, &unfit) }
            if let field = layout.discriminator {
                // Before there were sub-entities, an attribute may have had the column.
                let isKind = stored.table.discriminator != nil || layout.kinds.contains(values[field].description)
                if !isKind { values[field] = .null }
                let kind = model.model.entities.first { values[field] == .text($0.renamedFrom ?? "") }?.name
                values[field] = values[field] == .null ? .text(layout.name) : kind.map { .text($0) } ?? values[field]
            }
            let key = layout.key.isEmpty ? [.integer(number)] : layout.key.map { values[$0] }
            guard !key.contains(.null), table.row(key) == nil else {
                lost += 1
                continue
            }
            table.write(key, values)
        }
        for (column, count) in unfit.sorted(by: { $0.key < $1.key }) {
            notes.append("\(layout.name).\(column): \(Self.words(count)) did not fit and became null")
        }
        if lost > 0 {
            notes.append("\(layout.name): \(lost) row\(lost == 1 ? "" : "s") without a key of its own left out")
        }
        if !dropsUnused { putAside(source, stored, &new) }
        return table
    }

    /// Keeps the values of columns that the model does not have, which return with the column.
    private func putAside(
        _ source: TableSource, _ stored: (table: DatabaseSchema.Table, rows: RowTable), _ new: inout DatabaseState
    ) {
        var unused = new.unused.columns.removeValue(forKey: stored.table.name) ?? [:]
        let used = Set(source.names.values)
        for name in used { unused[name] = nil }
        for (field, column) in stored.table.columns.enumerated() where !used.contains(column.name) {
            var values: [RowKey: StoredValue] = [:]
            for (number, row) in stored.rows.rows where row[field] != .null {
                if let key = stored.rows.key(of: number) { values[key] = row[field] }
            }
            unused[column.name] = DatabaseState.UnusedColumn(column: column, values: values)
        }
        new.unused.columns[source.layout.name] = unused.isEmpty ? nil : unused
    }

    /// Deletes recorded changes of a table's rows; returns the runs that made them.
    private func forgetHistory(
        _ table: String, _ new: inout DatabaseState, _ notes: inout [String], where fits: (ChangeRecord) -> Bool
    ) -> Set<Int64> {
        let deleted = new.changes.filter { $0.entity == table && fits($0) }
        guard !deleted.isEmpty else { return [] }
        notes.append("\(table): only the backup has its history so far (\(deleted.count) changes)")
        new.changes.removeAll { $0.entity == table && fits($0) }
        return Set(deleted.map(\.run))
    }

    /// Forgets the bookkeeping about rows whose keys are others now.
    private func forgetKeys(_ table: String, _ new: inout DatabaseState) {
        new.stubs[table] = nil
        new.provenance[table] = nil
        new.outbox.removeAll { $0.root == table }
        new.conflicts.removeAll { $0.root == table }
        new.acknowledged.removeAll { $0.root == table }
    }

    /// A column of the new table, with where its values come from.
    private struct ColumnSource {
        var name: String
        var field: Int?
        var aside: [RowKey: StoredValue] = [:]
        var converter: StoredValueConverter?
        var isCleared = false

        func value(_ row: [StoredValue], _ key: RowKey, _ unfit: inout [String: Int]) -> StoredValue {
            guard !isCleared else { return .null }
            let value = field.map { row[$0] } ?? aside[key] ?? .null
            guard let converter, value != .null else { return value }
            guard let converted = try? converter.convert(value) else {
                unfit[name, default: 0] += 1
                return .null
            }
            return converted
        }
    }

    private func column(
        _ field: EntityLayout.Field, _ source: TableSource, _ table: DatabaseSchema.Table,
        _ unused: [String: DatabaseState.UnusedColumn]
    ) -> ColumnSource {
        var column = ColumnSource(name: field.name)
        let old = source.names[field.name]
        let isKey = source.layout.keyFields.contains { $0.name == field.name }
        if isKey, source.hasNewKey, field.type == .decimal {
            column.converter = StoredValueConverter(from: field.type, to: field.type, isIdentity: true)
        }
        column.field = table.columns.firstIndex { $0.name == old }
        column.aside = old.flatMap { unused[$0]?.values } ?? [:]
        for change in changes where change.change.table == source.layout.name {
            switch change {
            case .convert(_, let converted, let type) where converted.name == field.name:
                column.converter = StoredValueConverter(
                    from: type, to: field.type, isIdentity: field.relationship != nil || isKey)
            case .changeReference(_, field.name, _, let target): column.isCleared = column.isCleared || target != nil
            default: break
            }
        }
        let target = field.relationship.map { source.layout.toOne[$0].target }
        let isRekeyed = sources.contains { source in
            target.map { model.entities[$0].root } == source.layout.index && source.hasNewKey
        }
        column.isCleared = column.isCleared || isRekeyed
        return column
    }
}

extension ChangeRecord {
    /// Returns whether it is a change of a relationship to many.
    fileprivate func isOf(list name: String) -> Bool {
        [old, new].contains { content in
            if case .links(name, _)? = content { true } else { false }
        }
    }
}
