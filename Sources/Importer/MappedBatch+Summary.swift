internal import Mapping
internal import RecordBatch
package import StoreContract

extension MappedBatch {
    /// Returns what a later scan has to know of the batch to repeat it unmapped; nil if the batch has more effects than
    /// that its records' own rows are listed.
    ///
    /// - Parameters:
    ///   - entity: The entity of all records.
    ///   - absenceContext: What decides which missing members keep the stored value.
    package func summary(of entity: Int, absenceContext: UInt64) -> BatchSummary? {
        guard page.rejections.isEmpty, page.links.isEmpty, page.metadata.isEmpty, extent == .whole,
            page.rows.count == batch.count, batch.count > 0
        else { return nil }
        for (index, row) in page.rows.enumerated() {
            guard row.entity == entity, row.record == index, !row.isReference else { return nil }
        }
        let absent = absentFields
        var members = Set(self.members)
        members.insert(ListedMember(entity: entity, path: ""))
        return BatchSummary(
            records: batch.count, absentFields: absent.ofAll, members: members,
            absenceContext: absent.isAny ? absenceContext : nil)
    }

    /// The fields that none of the records has, and whether a record lacks a field.
    private var absentFields: (ofAll: [Int], isAny: Bool) {
        page.cells.withUnsafeBufferPointer { cells in
            guard cells.contains(where: { $0.kind == .absent }) else { return ([], false) }
            let width = cells.count / page.rows.count
            let ofAll = (0..<width).filter { field in
                page.rows.allSatisfy { cells[$0.firstCell + field].kind == .absent }
            }
            return (ofAll, true)
        }
    }
}
