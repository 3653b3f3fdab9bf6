internal import Mapping
package import StoreContract

/// The writer of one page of an import, over the tables of an open transaction.
///
/// A store creates one per page, forwards the calls of `PageTransaction` to it, and keeps the ``followed`` scans and the
/// writer's run if it commits.
package final class TablePageWriter {
    package let writer: TableWriter
    /// The open scans of the store when the page began, with what the page changed.
    package var scans: OpenScans
    /// The scans of these that a commit keeps.
    package internal(set) var followed = FollowedScans()
    let edits: EditMerge
    /// The scan that the page belongs to.
    var scan: ScanTarget?
    /// The rows of the batch being merged that the scan lists, and whether each got other values.
    var listed: [(number: Int64, isRewritten: Bool)] = []
    private var contested: [Int: Set<Int>] = [:]
    var due: DueParents
    /// The page's batches, if the store remembers those of the scan.
    package var batches: PageBatches?
    /// Whether the page ends a scan that deletes what it lacks.
    package internal(set) var sweeps = false

    package init(_ writer: TableWriter, scans: OpenScans) {
        self.writer = writer
        self.scans = scans
        edits = EditMerge(writer)
        due = DueParents(writer.model)
    }

    var tables: any StoreTables { writer.tables }
    var model: CompiledModel { writer.model }

    /// Assigns the following writes to a scan.
    package func follow(_ scan: ScanTarget) {
        self.scan = scan
        followed.scopes.insert(scan.scope)
        if scans.parents[scan.entity] != nil { followed.entities.insert(scan.entity) }
        if scan.isListing { scans.logs[scan.scope]?.beginPage() }
        edits.follow(scan)
    }

    /// Removes an outbox entry that the remote has accepted.
    ///
    /// - Parameter isScanned: Whether scans that return the earlier state may be in progress.
    package func acknowledge(_ entry: Int64, key: RowKey?, isScanned: Bool) throws {
        try edits.acknowledge(entry, key: key, isScanned: isScanned)
    }

    /// Deletes the objects that the remote reports as deleted; see `PageTransaction.delete`.
    package func delete(_ objects: [ObjectKey], deleted: (_ index: Int, _ counts: [Int: Int]) -> Void) throws {
        for (index, object) in objects.enumerated() {
            let counts = try writer.remove(entity: object.entity, key: object.values)
            guard !counts.isEmpty else { continue }
            batches?.forgetAll()
            deleted(index, counts)
        }
    }

    /// Lists the rows of a batch that the listing had before; see `ScanTransaction.repeatBatch`.
    package func repeatBatch(_ digest: BatchDigest) -> Bool {
        guard !tables.mayHaveEdits, let scan, let rows = batches?.repeats(digest) else { return false }
        rows.forEach { listed.append(($0, false)) }
        scans.logs[scan.scope]?.append(listed)
        listed.removeAll(keepingCapacity: true)
        return true
    }

    /// Remembers the batch that was merged; see `ScanTransaction.rememberBatch`.
    package func rememberBatch(_ batch: (digest: BatchDigest, summary: BatchSummary)?) {
        guard let scan, batches != nil else { return }
        if writer.touched.contains(model.entities[scan.entity].root) { batches?.noteWrite() }
        // What an edit makes of a batch depends on when the remote took the edit.
        batches?.end(tables.mayHaveEdits ? nil : batch)
    }

    /// Ends the page after its commit.
    package func committed() {
        batches?.commit()
        if sweeps { batches?.memory.end() }
    }

    /// Ends the page's work before the commit.
    package func settle() throws {
        try writer.settle()
        for (scan, parents) in due.take() { try tables.forgetStates(ofParents: parents, in: scan) }
        // Code that waits for a dropped edit need not wait for the end of the run.
        if let id = writer.run.id, let text = writer.run.droppedText, writer.run.run?.isEdit == false {
            try tables.setSummary(id, text)
        }
    }

    /// The fields of a table that several sources provide.
    func contestedFields(of root: Int) -> Set<Int> {
        if let known = contested[root] { return known }
        let fields = model.family(of: root).reduce(into: Set<Int>()) { $0.formUnion(model.contestedFields(of: $1)) }
        contested[root] = fields
        return fields
    }
}
