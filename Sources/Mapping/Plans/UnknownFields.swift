/// The fields without a reader that a mapper has found, each reported once and up to a limit per entity.
struct UnknownFields {
    private var known: [Int: Set<UnknownField>] = [:]
    private var new: [UnknownField] = []

    /// One more than a store keeps, so that the store can report that there are more.
    static let most = 1_001

    func hasRoom(for entity: Int) -> Bool { known[entity]?.count ?? 0 < Self.most }

    mutating func insert(_ field: UnknownField) {
        if known[field.entity, default: []].insert(field).inserted { new.append(field) }
    }

    /// Returns the fields found since the last call.
    mutating func takeNew() -> [UnknownField] {
        defer { new = [] }
        return new
    }
}
