internal import Mapping
internal import StoreContract
internal import StoreRules

/// The stored rows that a batch of a page is merged into.
extension PostgreSQLTables {
    func prefetch(_ root: Int, mergedWith batch: [PageRow]) throws {
        let table = try table(root)
        let fields = table.layout.key
        let keys = batch.lazy.map { row in fields.map { row.cells[$0].value ?? .null } }
        if table.isNumbered {
            let numbers = batch.lazy.map { $0.cells[fields[0]] }.filter { $0.storage == .integer }.map(\.integer)
            try fetch(table, Set(numbers))
        } else {
            try prefetch(root, keys)
        }
        try prefetchState(root, keys)
    }

    func numberOfSameRow(_ root: Int, as cells: UnsafeBufferPointer<Cell>) -> Int64? {
        guard !hasEdits, let number = fetched[root]?.numberOfSameRow(as: cells), isBare(root, number) else {
            return nil
        }
        return number
    }

    /// Whether there may be edits of any object.
    private var hasEdits: Bool {
        (outbox.map { !$0.isEmpty } ?? counters.hasOutbox)
            || (acceptedEdits.map { !$0.isEmpty } ?? counters.hasAcknowledged) || !newAcceptedEdits.isEmpty
    }

    /// Returns whether a row is as it was read, and nothing else is known about its object.
    private func isBare(_ root: Int, _ number: Int64) -> Bool {
        let isUsed = rows[root]?.isEmpty == false
        let mayBeStub = hasStubs.contains(root) || stubs[root]?.isEmpty == false
        let mayHaveSources = hasSources.contains(root) || !sources.isEmpty
        guard isUsed || mayBeStub || mayHaveSources else { return true }
        let key: RowKey = [.integer(number)]
        if isUsed, rows[root]?[key] != nil { return false }
        // What is not known yet counts as there.
        if mayBeStub, stubs[root]?[key] ?? hasStubs.contains(root) { return false }
        guard mayHaveSources else { return true }
        return sources[RowReference(root: root, key: key)]?.isEmpty ?? !hasSources.contains(root)
    }
}
