package import StoreContract

/// Which source owns the columns of a row: pure rules over what is recorded.
///
/// A row without records came entirely from its entity's own listing. A record says that another source wrote some
/// columns, which belong to it until another source writes them.
package enum Provenance {
    /// Returns whether a source wrote a column, or may have.
    package static func isOwn(
        _ column: String, _ records: [ProvenanceRecord], as role: RowRole, from source: PageSource?
    ) -> Bool {
        let records = records.filter { $0.columns.contains(column) }
        if role.isOfListing { return records.isEmpty }
        return records.contains { $0.bridge == source?.bridge && $0.scan == source?.scan }
    }

    /// Returns the records after a source wrote columns of an existing row.
    ///
    /// - Parameter wasUnlisted: Whether its own listing has never had the row, or does not have it any more: a stub, or a row
    ///   that was marked as deleted.
    package static func updated(
        _ records: [ProvenanceRecord], wrote columns: Set<String>, as role: RowRole, wasUnlisted: Bool,
        from source: PageSource?, in run: Int64?
    ) -> [ProvenanceRecord] {
        var own = columns
        var firstRun: Int64?
        // A row that came only from its entity's listing has no record.
        let isListed = role == .listed || !wasUnlisted && (records.isEmpty || records.contains(where: \.isListed))
        var result: [ProvenanceRecord] = []
        for record in records {
            if !role.isOfListing, record.bridge == source?.bridge, record.scan == source?.scan {
                own.formUnion(record.columns)
                firstRun = record.firstRun
                continue
            }
            var record = record
            let left = record.columns.subtracting(columns)
            if left.count < record.columns.count {
                guard !left.isEmpty else { continue }
                record.columns = left
                record.isListed = isListed
            }
            result.append(record)
        }
        let needsMark = role == .listedElsewhere && wasUnlisted
        guard !role.isOfListing || needsMark else { return result }
        if let same = result.firstIndex(where: { $0.bridge == source?.bridge && $0.scan == source?.scan }) {
            result[same].isListed = false
            return result
        }
        result.append(
            ProvenanceRecord(
                bridge: source?.bridge ?? "", scan: source?.scan ?? "", columns: needsMark ? [] : own,
                firstRun: firstRun ?? run, lastRun: run, location: source?.location, isListed: isListed))
        return result
    }
}
