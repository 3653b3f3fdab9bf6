public import Mapping

/// The scan that a page belongs to: what it has listed, and how it ends.
///
/// The order: ``follow(_:)`` before the page's rows; ``markSkipped(_:)`` and ``skipUnknown()`` with them;
/// ``listedRows()`` and ``finish(_:)`` after the rows of the scan's last page; ``saveProgress(_:progress:)`` last. The
/// next scan of the transaction follows then, if it has several.
///
/// All calls are made inside ``PageTransaction/access(_:)``, from one thread at a time, and throw ``StoreError``.
///
/// ```swift
/// try page.follow(scan)
/// try page.markSkipped(skipped)
/// let result = try page.finish(ScanEnd(cursor: cursor, sweep: rule))
/// try page.saveProgress(scan.scope, progress: nil)
/// ```
public protocol ScanTransaction: AnyObject {
    /// Assigns the following writes to this scan, and no longer to the one before: the store notes which rows it lists.
    func follow(_ scan: ScanTarget) throws

    /// Marks objects that the scan skipped as seen.
    func markSkipped(_ rows: [SkippedRows]) throws

    /// Marks an object as seen although its record could not be imported.
    func markSkipped(entity: Int, key: [StoredValue]) throws

    /// Notes that the scan skipped unidentified objects, so that the rows missing from the listing are unknown.
    func skipUnknown() throws

    /// Marks the rows of a batch as seen that the listing had before, if they still are as it left them.
    ///
    /// - Returns: Whether it did; otherwise the batch has to be merged.
    func repeatBatch(_ digest: BatchDigest) throws -> Bool

    /// Remembers the batch whose rows were merged since the last call of this or ``repeatBatch(_:)``.
    ///
    /// - Parameter batch: The batch; nil if the same bytes could have another effect the next time.
    func rememberBatch(_ batch: (digest: BatchDigest, summary: BatchSummary)?) throws

    /// Returns the number of rows listed so far in the current scan; nil if the store does not log them.
    func listedRows() throws -> ListedRows?

    /// Returns the number of rows that the current listing lacks, and that the first of two listings lacked, too.
    func unconfirmedRows() throws -> Int

    /// Ends the current scan: deletes the rows missing from the listing, and saves the cursor for the next scan.
    ///
    /// If the deletion limit is exceeded, nothing is deleted or saved: the next scan starts from the same state.
    func finish(_ end: ScanEnd) throws -> SweepResult

    /// Sweeps after the last scan of an entity's parents; see ``ScanEnd/defersSweep``.
    func finishParents(of entity: Int, _ rule: SweepRule) throws -> SweepResult

    /// Saves the progress of a scan; nil when it is complete.
    func saveProgress(_ scope: ScanScope, progress: ScanProgress?) throws
}

extension ScanTransaction {
    /// Returns false: the default store remembers no batches.
    public func repeatBatch(_ digest: BatchDigest) -> Bool { false }

    /// Does nothing: the default store remembers no batches.
    public func rememberBatch(_ batch: (digest: BatchDigest, summary: BatchSummary)?) {}

    /// Returns nil: the default store has no log.
    public func listedRows() -> ListedRows? { nil }

    /// Returns 0: the default store has no log.
    public func unconfirmedRows() -> Int { 0 }
}
