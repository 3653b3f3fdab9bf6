public import Mapping

/// A local database that an import can write to.
///
/// Only one page is written at a time, from one thread at a time; calls block. This is all that the importer needs of a
/// store, and its tests run against every conforming type.
public protocol PageStore: AnyObject, Sendable {
    /// Begins the transaction of a page.
    ///
    /// End it with `commit` or `rollback` before you begin another.
    ///
    /// - Throws: ``StoreError``.
    func beginPage() throws -> any PageTransaction
}

/// The transaction that writes one page.
///
/// A page has one or more batches of at most some thousand records. The calls that write rows take the whole batch, so
/// that a store behind a network can look up all its keys in one round trip, compare in memory and write what differs
/// with one statement per entity; an embedded store works through the batch row by row.
///
/// The order of calls:
/// 1. ``follow(_:)`` once, if the page belongs to a scan;
/// 2. per batch ``setSource(_:)``, quarantined records and noted members, ``merge(_:outcome:)``,
///    ``ensure(_:created:)`` for the references of the rows that were written, ``mergeLinks(_:changed:)``, and
///    ``delete(_:deleted:)`` for the objects that the remote reports as deleted;
/// 3. ``finish(_:)`` in the last page of a scan, and ``saveProgress(_:progress:)``;
/// 4. ``commit()`` or ``rollback()``.
///
/// All calls except `commit` and `rollback` are made inside ``access(_:)``, from one thread at a time, and block. A call
/// sees the effects of the calls before it. After an error the page can only be rolled back; the one exception is a row
/// that a rule of the database rejects, which `merge` reports as that row's outcome.
///
/// ```swift
/// let page = try store.beginPage()
/// do {
///     try page.access {
///         try page.follow(walk)
///         try page.merge(rows) { index, result in
///             if case .failure(let error) = result { try page.quarantine(record(of: rows[index], error)) }
///         }
///         try page.ensure(references) { counts[references[$0].entity].stubs += 1 }
///         try page.mergeLinks(lists) { counts[lists[$0].entity].relinked += 1 }
///         try page.saveProgress(walk.scope, progress: position)
///     }
///     try page.commit()
/// } catch {
///     page.rollback()
///     throw error
/// }
/// ```
public protocol PageTransaction: AnyObject {
    /// Runs `body`, which may make the other calls except `commit` and `rollback`.
    ///
    /// One access can serve many calls.
    func access(_ body: () throws -> Void) throws

    /// Sets the source of the following writes.
    ///
    /// A store without a history ignores it.
    func setSource(_ source: PageSource) throws

    /// Inserts or updates the objects of a batch, and writes only the values that differ.
    ///
    /// The result is as if the rows were merged one after the other: if an object occurs twice, its second row is
    /// compared with what the first has left.
    ///
    /// A row that a rule of the database rejects, such as a unique index that a user added, has no effect, and the later
    /// rows of its record are left out; its earlier rows stay. A store that writes the batch with one statement
    /// therefore has to undo that statement and find the row.
    ///
    /// - Parameters:
    ///   - rows: The rows of one batch, of any entities, in the order of the records.
    ///   - outcome: Called once per row in the order of the rows, but not for rows that are left out: with what the
    ///     merge did, or with the error of code ``StoreError/Code/constraint`` that rejected the row. It may call
    ///     ``quarantine(_:)``, ``spare(entity:key:)`` and ``spareUnknown()``. An error that it throws ends the merge.
    func merge(
        _ rows: [PageRow], outcome: (_ index: Int, _ result: Result<MergeOutcome, StoreError>) throws -> Void
    ) throws

    /// Ensures that objects exist, and creates a stub for each that does not.
    ///
    /// - Parameters:
    ///   - references: The references of one batch; an object may occur more than once.
    ///   - created: Called with the index of each reference for which a stub was created.
    func ensure(_ references: [PageReference], created: (_ index: Int) -> Void) throws

    /// Merges the targets of to-many relationships into the stored ones.
    ///
    /// The result is as if the lists were merged one after the other.
    ///
    /// - Parameters:
    ///   - lists: The lists of one batch, whose owners ``merge(_:outcome:)`` has merged.
    ///   - changed: Called with the index of each list that changed the stored links.
    func mergeLinks(_ lists: [PageLinks], changed: (_ index: Int) -> Void) throws

    /// Stores a record that could not be imported.
    func quarantine(_ record: QuarantinedRecord) throws

    /// Records that an entity has a field that nothing reads.
    ///
    /// A field is stored once.
    func noteUnknownField(_ field: UnknownField) throws

    /// Records that a listing has these members.
    func noteMembers(_ members: [ListedMember], of listing: MemberListing) throws

    /// Assigns the following writes to this scan: the store notes which rows it lists.
    func follow(_ walk: WalkTarget) throws

    /// Deletes the objects that the remote reports as deleted, where they exist, according to their entity's delete
    /// policy.
    ///
    /// An object to which others still refer becomes a stub. Objects whose parent it is are deleted with it.
    ///
    /// - Parameters:
    ///   - objects: The keys of the objects, which are deleted in this order.
    ///   - deleted: Called for each key that led to deletions, with its index and the number of deleted objects per
    ///     entity of the model.
    func delete(_ objects: [ObjectKey], deleted: (_ index: Int, _ counts: [Int: Int]) -> Void) throws

    /// Marks objects that the scan skipped as seen.
    func spare(_ rows: [SparedRows]) throws

    /// Marks an object as seen although its record could not be imported.
    func spare(entity: Int, key: [StoredValue]) throws

    /// Notes that the scan skipped unidentified objects, so that the rows missing from the listing are unknown.
    func spareUnknown() throws

    /// Returns the number of rows listed so far in the current scan; nil if the store does not log them.
    func listedRows() throws -> ListedRows?

    /// Ends the current scan: deletes the rows missing from the listing, and saves the cursor for the next scan.
    ///
    /// If the deletion limit is exceeded, nothing is deleted or saved: the next scan starts from the same state.
    func finish(_ end: WalkEnd) throws -> SweepResult

    /// Sweeps after the last scan of an entity's parents; see ``WalkEnd/defersSweep``.
    func finishParents(of entity: Int, _ rule: SweepRule) throws -> SweepResult

    /// Removes an outbox entry that the remote has accepted.
    ///
    /// Replaces the object's key everywhere if the remote assigned another one.
    func acknowledge(_ entry: Int64, key: [StoredValue]?) throws

    /// Saves the progress of a scan; nil when it is complete.
    func saveProgress(_ scope: WalkScope, progress: WalkProgress?) throws

    /// Commits the page's writes.
    func commit() throws

    /// Rolls the page's writes back.
    ///
    /// Safe after a failure, and safe to call twice.
    func rollback()
}

extension PageTransaction {
    /// Throws: the default store has no outbox.
    public func acknowledge(_ entry: Int64, key: [StoredValue]?) throws {
        throw StoreError(.internal, "this store keeps no outbox")
    }

    /// Returns nil: the default store has no log.
    public func listedRows() -> ListedRows? { nil }

    /// Does nothing.
    public func noteUnknownField(_ field: UnknownField) {}

    /// Does nothing.
    public func noteMembers(_ members: [ListedMember], of listing: MemberListing) {}

    /// Does nothing.
    public func setSource(_ source: PageSource) {}
}
