internal import RecordBatch

/// A batch of one object, together with that object.
struct OwnedRecord {
    let batch: RecordBatch

    init?(_ batch: RecordBatch) {
        guard batch.count == 1, batch[0].tag == .object else { return nil }
        self.batch = batch
    }

    /// Returns the member with this name.
    ///
    /// The value points into ``batch``; keep that alive with `withExtendedLifetime`.
    subscript(member: String) -> BatchValue? { batch[0][member] }

    func text(_ member: String) -> String? {
        withExtendedLifetime(batch) { batch[0][member]?.text }
    }

    func integer(_ member: String) -> Int64? {
        withExtendedLifetime(batch) { batch[0][member]?.integer }
    }
}
