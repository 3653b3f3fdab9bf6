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
public protocol PageTransaction: AnyObject {
    /// Runs `body`, which may make the other calls except `commit` and `rollback`.
    ///
    /// One access can serve many calls.
    func access(_ body: () throws -> Void) throws

    /// Sets the source of the following writes.
    ///
    /// A store without a history ignores it.
    func setSource(_ source: PageSource) throws

    /// Inserts or updates the object of `entity` whose key is in `cells`, and writes only the values that differ.
    ///
    /// An `absent` cell keeps the stored value, and is null in a new object.
    ///
    /// - Parameters:
    ///   - entity: The entity's index in the compiled model.
    ///   - cells: One cell per field of the entity's layout.
    ///   - role: How the object appeared. A new object that is only referred to is a stub until a record describes it.
    func merge(entity: Int, cells: UnsafeBufferPointer<Cell>, as role: RowRole) throws -> MergeOutcome

    /// Ensures that an object with this key exists, creating a stub if needed; returns whether it created one.
    func ensure(entity: Int, key: UnsafeBufferPointer<Cell>) throws -> Bool

    /// Merges the targets of a to-many relationship into the stored ones; returns whether anything changed.
    ///
    /// - Parameters:
    ///   - entity: The index of the entity that has the relationship.
    ///   - relationship: Its index in ``EntityLayout/toMany``.
    ///   - owner: The key cells of the relationship's owner.
    ///   - targets: The key cells of the targets, concatenated in order.
    func mergeLinks(
        entity: Int, relationship: Int, owner: [Cell], targets: UnsafeBufferPointer<Cell>
    ) throws -> Bool

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

    /// Deletes an object that the remote reports as deleted, if it exists, according to the entity's delete policy.
    ///
    /// If other objects still refer to it, it becomes a stub. Objects whose parent it is are deleted with it.
    ///
    /// - Returns: The number of deleted objects, per entity of the model.
    func delete(entity: Int, key: [StoredValue]) throws -> [Int: Int]

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
