internal import Mapping
internal import StoreContract
internal import StoreRules

/// The tables of an open transaction: a copy of the database's state.
final class MemoryTables: DatabaseTables {
    var state: DatabaseState
    let model: CompiledModel

    init(_ state: DatabaseState, _ model: CompiledModel) {
        self.state = state
        self.model = model
    }

    func name(_ root: Int) -> String { model.entities[root].name }

    func table(_ root: Int) -> RowTable? { state.tables[name(root)] }
}

// MARK: - Announcements, which memory does not need

extension MemoryTables {
    func prefetch(_ root: Int, _ keys: [RowKey]) {}
    func prefetch(_ root: Int, mergedWith rows: [PageRow]) {}
    func prefetchState(_ root: Int, _ keys: [RowKey]) {}
    func prefetchReferrers(_ root: Int, _ toOne: Int, to keys: [RowKey]) {}
    func prefetchCursors(of scopes: [ScanScope]) {}
    func prefetchRows(of root: Int, in scopes: [SweepScope]) {}
    func prefetchLinks(_ table: String, of sources: [RowKey]) {}
    func prefetchReversedLinks(_ table: String, to targets: [RowKey]) {}
}

// MARK: - Rows

extension MemoryTables {
    func row(_ root: Int, _ key: RowKey) -> [StoredValue]? { table(root)?.row(key) }

    func number(of key: RowKey, in root: Int) -> Int64? { table(root)?.number(of: key) }

    func key(ofRow number: Int64, in root: Int) -> RowKey? { table(root)?.key(of: number) }

    func nextNumber(in root: Int) -> Int64 { table(root)?.nextNumber ?? 1 }

    func write(_ root: Int, _ key: RowKey, _ values: [StoredValue]) {
        state.tables[name(root), default: RowTable(model.entities[root])].write(key, values)
    }

    func erase(_ root: Int, _ key: RowKey) { state.tables[name(root)]?.erase(key) }

    func isEmpty(_ root: Int) -> Bool { table(root)?.rows.isEmpty ?? true }

    func unlistedRows(
        of root: Int, in scope: SweepScope, notIn log: ScanLog, isCounted: Bool
    ) throws -> (rows: [(number: Int64, key: RowKey)], total: Int) {
        var rows: [(number: Int64, key: RowKey)] = []
        var total = 0
        try forEachRow(of: root) { number, key, row in
            guard scope.contains(row) else { return }
            total += 1
            if !log.contains(number) { rows.append((number, key)) }
        }
        return (rows, total)
    }

    func forEachRow(
        of root: Int, _ body: (_ number: Int64, _ key: RowKey, _ values: [StoredValue]) throws -> Void
    ) throws {
        guard let table = table(root) else { return }
        for number in table.rows.keys.sorted() {
            if let row = table.rows[number], let key = table.key(of: number) { try body(number, key, row) }
        }
    }

    func referrers(_ root: Int, _ toOne: Int, to key: RowKey) -> [RowKey] {
        guard let table = table(root) else { return [] }
        return table.referrers(toOne, to: key).sorted().compactMap { table.key(of: $0) }
    }

    func stubs(of root: Int) -> [RowKey] { (state.stubs[name(root)] ?? []).sorted(by: ValueOrder.precedes) }

    func isStub(_ root: Int, _ key: RowKey) -> Bool { state.stubs[name(root)]?.contains(key) ?? false }

    func setStub(_ root: Int, _ key: RowKey, _ isStub: Bool) -> Bool {
        if isStub { return state.stubs[name(root), default: []].insert(key).inserted }
        return state.stubs[name(root)]?.remove(key) != nil
    }
}

// MARK: - Links

extension MemoryTables {
    func links(_ table: String, of source: RowKey) -> [Link] { state.links[table]?.links(of: source) ?? [] }

    func reversedLinks(_ table: String, to target: RowKey) -> [Link] {
        (state.links[table]?.links(to: target) ?? []).sorted {
            $0.position != $1.position ? $0.position < $1.position : ValueOrder.precedes($0.key, $1.key)
        }
    }

    func setLink(_ table: String, of source: RowKey, at position: Int64, to target: RowKey?) {
        state.links[table, default: LinkTable()].set(source, at: position, to: target)
    }
}
