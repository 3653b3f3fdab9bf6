internal import Mapping
internal import StoreContract
internal import StoreRules

extension DatabaseState {
    /// A column that the model does not have any more.
    struct UnusedColumn: Sendable {
        var column: DatabaseSchema.Column
        var values: [RowKey: StoredValue]
    }

    /// Tables and columns that the model does not have any more, until a migration drops them.
    struct Unused: Sendable {
        var tables: [String: (table: DatabaseSchema.Table, rows: RowTable)] = [:]
        /// The columns, by table and name.
        var columns: [String: [String: UnusedColumn]] = [:]
    }

    /// Returns the state as a reader with another model sees it.
    func fitted(to model: CompiledModel) -> DatabaseState {
        schema == DatabaseSchema(model) ? self : MemorySchemaMigration(self, to: model).run(dropsUnused: false).state
    }

    /// Gives an entity another name in the bookkeeping.
    mutating func rename(_ old: String, to new: String) {
        func scope(_ scope: ScanScope) -> ScanScope {
            var scope = scope
            if scope.entity == old { scope.entity = new }
            return scope
        }
        for index in changes.indices where changes[index].entity == old { changes[index].entity = new }
        for index in outbox.indices {
            if outbox[index].root == old { outbox[index].root = new }
            if outbox[index].entry.entity == old { outbox[index].entry.entity = new }
        }
        for index in conflicts.indices {
            if conflicts[index].root == old { conflicts[index].root = new }
            if conflicts[index].conflict.entity == old { conflicts[index].conflict.entity = new }
        }
        for index in quarantine.indices where quarantine[index].record.entity == old {
            quarantine[index].record.entity = new
        }
        cursors = Dictionary(cursors.map { (scope($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
        scans = Dictionary(scans.map { (scope($0.key), $0.value) }, uniquingKeysWith: { first, _ in first })
        stubs[new] = stubs.removeValue(forKey: old)
        provenance[new] = provenance.removeValue(forKey: old)
        sourceScans[new] = sourceScans.removeValue(forKey: old)
        origins[new] = origins.removeValue(forKey: old)
        orphans[new] = orphans.removeValue(forKey: old)
        unknownFields[new] = unknownFields.removeValue(forKey: old)
        collections[new] = collections.removeValue(forKey: old)
    }

    /// All rows of all tables, by name.
    var contents: [TableContents] {
        let entities = schema.tables.map { table -> TableContents in
            let columns = table.columns.map(\.name)
            let key = table.key.compactMap { columns.firstIndex(of: $0) }
            let order = key.isEmpty ? Array(columns.indices) : key
            let rows = (tables[table.name]?.rows.values).map(Array.init) ?? []
            return TableContents(
                name: table.name, columns: columns, key: key,
                rows: rows.sorted { left, right in
                    ValueOrder.precedes(order.map { left[$0] }, order.map { right[$0] })
                })
        }
        let lists = schema.links.map { table -> TableContents in
            let rows = (links[table.name]?.lists ?? [:]).flatMap { source, links in
                links.map { source + [.integer($0.position)] + $0.key }
            }
            return TableContents(
                name: table.name, columns: table.columns.source + ["position"] + table.columns.target,
                key: Array(0...table.columns.source.count), rows: rows.sorted(by: ValueOrder.precedes))
        }
        return (entities + lists).sorted { $0.name < $1.name }
    }
}
