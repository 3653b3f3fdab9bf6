internal import StoreContract

/// The first changes of a run, as many as a page shows.
struct FirstChanges: Sendable {
    var changes: [RowChange] = []
    /// Whether the run changed further rows.
    var hasMore = false

    /// Thrown to stop reading changes once there are enough.
    private struct Full: Error {}

    /// Creates an empty list.
    init() {}

    /// Reads the first changes of a run; `entity` nil stands for all.
    init(of run: Int64, entity: String? = nil, limit: Int, in store: any Store) throws {
        do {
            try store.changes(of: run, entity: entity) { change in
                guard changes.count < limit else { throw Full() }
                changes.append(change)
            }
        } catch is Full {
            hasMore = true
        }
    }
}
