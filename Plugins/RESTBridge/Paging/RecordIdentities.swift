internal import RecordBatch

/// By what the records of a page are known: a member that all of them have, each with another value.
struct RecordIdentities {
    /// The member's name.
    let name: String
    /// Its values, as JSON.
    let values: Set<String>

    private static let names = ["id", "_id", "uuid", "guid", "gid", "key", "Id", "ID"]
    /// How the names of others end that mostly identify a record.
    private static let endings: Set<String> = ["id", "uuid", "guid", "key", "code", "slug", "name", "arn"]

    /// - Parameter name: The member, where it is known.
    /// - Returns: nil for a page without records, or whose records have no such member.
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

    /// Members of the first record that are named like a key.
    private static func others(_ batch: RecordBatch) -> [String] {
        guard batch.count > 0, batch[0].tag == .object else { return [] }
        return batch[0].members.map { String($0.key) }.filter { name in
            // `builderid` is one word, and ends like a key all the same.
            let last = Words.split(name).last?.lowercased() ?? ""
            return endings.contains(last) || last.hasSuffix("id")
        }
    }
}
