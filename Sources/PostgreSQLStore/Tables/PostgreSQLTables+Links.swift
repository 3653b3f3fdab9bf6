internal import Mapping
internal import StoreContract
internal import StoreRules

/// The links of to-many relationships.
extension PostgreSQLTables {
    /// Reads the lists of sources, one statement for all.
    func prefetchLinks(_ table: String, of sources: some Sequence<RowKey>) throws {
        let wanted = Set(sources).filter { lists[ListName(table: table, key: $0)] == nil }
        guard !wanted.isEmpty else { return }
        let links = try linkTable(table)
        for key in wanted { lists[ListName(table: table, key: key)] = CachedList(targets: [:], stored: []) }
        guard let parameters = RowTableSQL.parameters(wanted, links.sourceCodecs) else { return }
        let result = try connection.query(links.selectBySource, parameters, for: "reading links of \(table)")
        for row in 0..<result.count {
            let position = result.bigint(row, 0) ?? 0
            let source = result.values(row, from: 1, links.sourceCodecs)
            let target = result.values(row, from: 1 + source.count, links.targetCodecs)
            let name = ListName(table: table, key: source)
            lists[name]?.targets[position] = target
            lists[name]?.stored.insert(position)
        }
    }

    private func list(_ table: String, _ source: RowKey) throws -> CachedList {
        let name = ListName(table: table, key: source)
        if lists[name] == nil { try prefetchLinks(table, of: [source]) }
        return lists[name] ?? CachedList(targets: [:], stored: [])
    }

    func links(_ table: String, of source: RowKey) throws -> [Link] {
        try list(table, source).targets.sorted { $0.key < $1.key }.map { Link(position: $0.key, key: $0.value) }
    }

    /// Reads the links to targets, one statement for all.
    func prefetchReversedLinks(_ table: String, to targets: some Sequence<RowKey>) throws {
        let wanted = Set(targets).filter { reversedLists[ListName(table: table, key: $0)] == nil }
        guard !wanted.isEmpty else { return }
        try flush()
        let links = try linkTable(table)
        for key in wanted { reversedLists[ListName(table: table, key: key)] = [] }
        guard let parameters = RowTableSQL.parameters(wanted, links.targetCodecs) else { return }
        let order = (["position"] + links.sourceColumns).map { "t.\($0)" }.joined(separator: ", ")
        let result = try connection.query(
            "\(links.selectByTarget) ORDER BY \(order)", parameters, for: "reading links of \(table)")
        for row in 0..<result.count {
            let source = result.values(row, from: 1, links.sourceCodecs)
            let target = result.values(row, from: 1 + source.count, links.targetCodecs)
            reversedLists[ListName(table: table, key: target), default: []].append((result.bigint(row, 0) ?? 0, source))
        }
    }

    func reversedLinks(_ table: String, to target: RowKey) throws -> [Link] {
        let name = ListName(table: table, key: target)
        if reversedLists[name] == nil { try prefetchReversedLinks(table, to: [target]) }
        return (reversedLists[name] ?? []).map { Link(position: $0.position, key: $0.key) }
    }

    func setLink(_ table: String, of source: RowKey, at position: Int64, to target: RowKey?) throws {
        var list = try list(table, source)
        let old = list.targets[position]
        guard old != target else { return }
        if let target { try checkLink(table, target) }
        list.targets[position] = target
        list.dirty.insert(position)
        let name = ListName(table: table, key: source)
        lists[name] = list
        dirtyLists.insert(name)
        if let old {
            reversedLists[ListName(table: table, key: old)]?.removeAll { $0.position == position && $0.key == source }
        }
        // The order of keys is the database's.
        if let target { reversedLists[ListName(table: table, key: target)] = nil }
    }

    private func checkLink(_ table: String, _ target: RowKey) throws {
        let links = try linkTable(table)
        for (value, codec) in zip(target, links.targetCodecs) {
            do throws(ValueCodec.Misfit) {
                _ = try codec.encode(value)
            } catch {
                throw StoreError(.constraint, "\(table): the key \"\(value.description.prefix(60))\" \(error.reason)")
            }
        }
    }
}
