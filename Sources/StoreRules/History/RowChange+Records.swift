package import Mapping
package import StoreContract

extension RowChange {
    /// Combines the changes of one row; returns nil if they leave it unchanged.
    package init?(_ records: [ChangeRecord], _ model: CompiledModel) {
        guard let first = records.first, let last = records.last else { return nil }
        let rows = records.filter { if case .relinked = $0.change { false } else { true } }
        let layout = model.index(of: first.entity).map { model.entities[$0] }
        let key = first.key.flatMap { text in layout?.key(from: text) ?? JSONText.parts(of: text) }
        self.init(entity: first.entity, key: key ?? [], kind: .updated)
        (bridge, scan, location) = (last.bridge, last.scan, last.location)
        for record in rows {
            for (name, value) in record.old?.columns ?? [] where !columns.contains(where: { $0.name == name }) {
                columns.append(Column(name: name, old: value, new: nil))
            }
            for (name, value) in record.new?.columns ?? [] {
                if let index = columns.firstIndex(where: { $0.name == name }) {
                    columns[index].new = value
                } else {
                    columns.append(Column(name: name, old: nil, new: value))
                }
            }
        }
        if let layout { for index in columns.indices { columns[index].restoreType(from: layout) } }
        for record in records {
            guard case .links(let relationship, let new)? = record.new, case .links(_, let old)? = record.old
            else { continue }
            let target = layout?.toMany.first { $0.name == relationship }.map {
                model.entities[model.entities[$0.target].root]
            }
            links.append(
                Links(
                    relationship: relationship, at: new.start, old: (target?.keys(old) ?? old).keys,
                    new: (target?.keys(new) ?? new).keys))
        }
        let wasThere = rows.first.map { $0.old != nil } ?? true
        let isThere = rows.last.map { $0.new != nil } ?? true
        switch (wasThere, isThere) {
        case (false, false): return nil
        case (false, true): kind = rows.contains { $0.change == .inserted } ? .inserted : .stubbed
        case (true, false): kind = first.change == .stubbed && first.new == nil ? .stubbed : .deleted
        case (true, true):
            columns.removeAll { $0.old == $0.new }
            let turned = rows.last { [.inserted, .stubbed, .deleted].contains($0.change) }?.change
            kind = turned ?? (rows.isEmpty ? .relinked : .updated)
            if turned == nil, columns.isEmpty, links.isEmpty { return nil }
        }
        let order = Dictionary(
            (layout?.fields ?? []).enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first })
        columns.sort { order[$0.name, default: .max] < order[$1.name, default: .max] }
        if !wasThere { for index in columns.indices { columns[index].old = nil } }
        if !isThere { for index in columns.indices { columns[index].new = nil } }
    }

    /// Creates the change for the first load of a table.
    package init(load record: ChangeRecord) {
        self.init(entity: record.entity, key: [], kind: .loaded)
        (bridge, scan, location) = (record.bridge, record.scan, record.location)
    }
}
