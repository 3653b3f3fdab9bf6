internal import Mapping

extension ChangeRecord {
    /// Returns whether the record is of the row with a key, a JSON array, which is compared by its bytes.
    package func hasKey(_ text: String) -> Bool { key.map(ExactText.init) == ExactText(text) }

    /// Returns whether two records are of the same row.
    package func isSameRow(as other: ChangeRecord) -> Bool {
        entity == other.entity && key.map(ExactText.init) == other.key.map(ExactText.init)
    }

    /// Returns the records of each row, by entity and key, and each row's in their order.
    package static func grouped(_ records: [ChangeRecord]) -> [[ChangeRecord]] {
        func place(_ record: ChangeRecord) -> (ExactText, ExactText, Int64) {
            (ExactText(record.entity), ExactText(record.key ?? ""), record.id)
        }
        var groups: [[ChangeRecord]] = []
        for record in records.sorted(by: { place($0) < place($1) }) {
            if let last = groups.last?.last, last.isSameRow(as: record) {
                groups[groups.count - 1].append(record)
            } else {
                groups.append([record])
            }
        }
        return groups
    }
}
