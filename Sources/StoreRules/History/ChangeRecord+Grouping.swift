extension ChangeRecord {
    /// Returns the records of each row, by entity and key, and each row's in their order.
    package static func grouped(_ records: [ChangeRecord]) -> [[ChangeRecord]] {
        let sorted = records.sorted { left, right in
            if left.entity != right.entity { return left.entity.utf8.lexicographicallyPrecedes(right.entity.utf8) }
            if left.key != right.key {
                return (left.key ?? "").utf8.lexicographicallyPrecedes((right.key ?? "").utf8)
            }
            return left.id < right.id
        }
        var groups: [[ChangeRecord]] = []
        for record in sorted {
            if let last = groups.last?.last, last.entity == record.entity, last.key == record.key {
                groups[groups.count - 1].append(record)
            } else {
                groups.append([record])
            }
        }
        return groups
    }
}
