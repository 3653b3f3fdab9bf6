internal import Inference
internal import RecordBatch

/// Identifying values of a page's records: a member that all of them have with distinct values.
struct RecordIdentities {
    /// The member's name.
    let name: String
    /// The member's values, as JSON.
    let values: Set<String>

    private static let names = ["id", "_id", "uuid", "guid", "gid", "key", "Id", "ID"]
    /// Last words of other names that usually identify a record.
    private static let endings: Set<String> = ["id", "uuid", "guid", "key", "code", "slug", "name", "arn"]

    /// - Parameter name: The member, if known.
    /// - Returns: nil if the page has no records, or if they have no such member.
    init?(_ batch: RecordBatch, by name: String? = nil) {
        for name in name.map({ [$0] }) ?? Self.names + Self.others(batch) {
            let values = (0..<batch.count).compactMap { index -> String? in
                guard let value = batch[index][name], value.tag == .text || value.tag == .int64 else { return nil }
                return value.json
            }
            guard !values.isEmpty, values.count == batch.count, Set(values).count == values.count else { continue }
            self.name = name
            self.values = Set(values)
            return
        }
        return nil
    }

    /// Returns members of the first record with names like a key.
    private static func others(_ batch: RecordBatch) -> [String] {
        guard batch.count > 0, batch[0].tag == .object else { return [] }
        return batch[0].members.map { String($0.key) }.filter { name in
            // `builderid` is a single word, but still ends like a key.
            let last = NameWords.split(name).last?.lowercased() ?? ""
            return endings.contains(last) || last.hasSuffix("id")
        }
    }
}
