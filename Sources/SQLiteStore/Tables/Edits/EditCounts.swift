/// The numbers of an entity's objects with local edits that an import must consider.
struct EditCounts {
    /// The number of objects with edits waiting to be pushed.
    let waiting: ObjectCount
    /// The number of objects with edits that the remote accepted during a scan.
    let taken: ObjectCount

    /// The tables that count edits.
    struct Tables {
        let outbox: OutboxTable
        let acknowledged: AcknowledgedTable

        /// Returns the counts of an entity's edits; callers keep them for their rows.
        func callAsFunction(of root: Int) -> EditCounts {
            EditCounts(waiting: outbox.count(of: root), taken: acknowledged.count(of: root))
        }
    }

    var isAny: Bool { waiting.value > 0 || taken.value > 0 }
}
