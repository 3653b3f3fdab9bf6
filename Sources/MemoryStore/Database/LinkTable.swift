internal import StoreRules

/// The links of one to-many relationship, by source and by target.
struct LinkTable: Sendable {
    /// The links of each source, by position.
    private(set) var lists: [RowKey: [Link]] = [:]
    private var sources: [RowKey: Set<RowKey>] = [:]

    func links(of source: RowKey) -> [Link] { lists[source] ?? [] }

    /// The links to a target, in no particular order.
    func links(to target: RowKey) -> [Link] {
        (sources[target] ?? []).flatMap { source in
            links(of: source).filter { $0.key == target }.map { Link(position: $0.position, key: source) }
        }
    }

    mutating func set(_ source: RowKey, at position: Int64, to target: RowKey?) {
        var list = lists[source] ?? []
        let place = list.firstIndex { $0.position >= position } ?? list.count
        var old: RowKey?
        if place < list.count, list[place].position == position { old = list.remove(at: place).key }
        if let target {
            list.insert(Link(position: position, key: target), at: place)
            sources[target, default: []].insert(source)
        }
        lists[source] = list.isEmpty ? nil : list
        guard let old, old != target, !list.contains(where: { $0.key == old }) else { return }
        sources[old]?.remove(source)
        if sources[old]?.isEmpty == true { sources[old] = nil }
    }
}
