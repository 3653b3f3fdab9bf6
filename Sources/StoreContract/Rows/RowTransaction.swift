public import Mapping

/// The rows that a page writes.
///
/// The order for each batch: ``setSource(_:)``, ``merge(_:outcome:)``, ``ensure(_:created:)`` for the references of its
/// rows, ``mergeLinks(_:changed:)``, ``delete(_:deleted:)``; the other calls at any time. All calls are made inside
/// ``PageTransaction/access(_:)``, from one thread at a time, and throw ``StoreError``; see ``PageTransaction``.
///
/// ```swift
/// try page.merge(rows) { index, result in
///     if case .failure(let error) = result { try page.quarantine(record(of: rows[index], error)) }
/// }
/// try page.ensure(references) { counts[references[$0].entity].stubs += 1 }
/// ```
public protocol RowTransaction: AnyObject {
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
    ///     ``quarantine(_:)``, `markSkipped(entity:key:)` and `skipUnknown()`. An error that it throws ends the merge.
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

    /// Returns whether a record of an entity may be in quarantine whose key is known.
    ///
    /// Each page asks, so the answer should cost next to nothing.
    func mayHaveQuarantined(_ entity: Int) throws -> Bool

    /// Removes the quarantined records of objects that the remote has listed or deleted since: they are out of date.
    ///
    /// - Parameters:
    ///   - keys: The objects' keys, each as ``QuarantinedRecord/key``.
    ///   - entities: The entities of whose scans the records are.
    ///   - source: The further source that the records come from, empty for the entity's own bridge; nil for any.
    func releaseQuarantine(of keys: [String], in entities: [Int], from source: String?) throws

    /// Records that an entity has a field that nothing reads.
    ///
    /// A field is stored once.
    func noteUnknownField(_ field: UnknownField) throws

    /// Records that a listing has these members.
    func noteMembers(_ members: [ListedMember], of listing: MemberListing) throws

    /// Returns the members that the records of an entity's own listing have had, whichever request returned them; those
    /// noted in this transaction included.
    func members(ofListing entity: Int) throws -> Set<ListedMember>

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

    /// Removes an outbox entry that the remote has accepted.
    ///
    /// Replaces the object's key everywhere if the remote assigned another one. For an object with a temporary key, `key`
    /// is the remote's, also if it is the same.
    func acknowledge(_ entry: Int64, key: [StoredValue]?) throws
}

extension RowTransaction {
    /// Throws: the default store has no outbox.
    public func acknowledge(_ entry: Int64, key: [StoredValue]?) throws {
        throw StoreError(.internal, "this store keeps no outbox")
    }

    /// Returns whether a record of an entity may be in quarantine: the default store does not know.
    public func mayHaveQuarantined(_ entity: Int) -> Bool { false }

    /// Does nothing.
    public func releaseQuarantine(of keys: [String], in entities: [Int], from source: String?) {}

    /// Does nothing.
    public func noteUnknownField(_ field: UnknownField) {}

    /// Does nothing.
    public func noteMembers(_ members: [ListedMember], of listing: MemberListing) {}

    /// Returns none.
    public func members(ofListing entity: Int) -> Set<ListedMember> { [] }

    /// Does nothing.
    public func setSource(_ source: PageSource) {}
}
