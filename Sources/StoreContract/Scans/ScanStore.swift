public import Mapping
public import Model

/// The state of scans: positions, cursors, and what listings had.
///
/// The order of a scan: ``starts(of:_:)``, or the single reads that it combines, before the remote is asked;
/// ``beginScan(_:afterPage:)``; pages, which follow the scan (`ScanTransaction.follow(_:)`) and save its
/// position; `PageTransaction.finish(_:)` in the last page; ``endScan(_:)`` in any case.
///
/// ```swift
/// let scope = ScanScope(entity: "City")
/// let position = try store.progress(of: scope)
/// try store.beginScan(scope, afterPage: position?.page)
/// defer { store.endScan(scope) }
/// ```
///
/// Several scans may be open at a time, and calls may come from any thread, but those of one scan from one thread at a
/// time. Calls that write need the database's lock, and take part in the open page if there is one. Errors are
/// ``StoreError``.
public protocol ScanStore: AnyObject, Sendable {
    /// Returns the position of an interrupted scan if it is at most an hour old; nil otherwise.
    func progress(of scope: ScanScope) throws -> ScanProgress?

    /// Forgets the position of a scan, so that the next one starts from the beginning.
    func forgetProgress(of scope: ScanScope) throws

    /// Deletes the rows of an interrupted scan that will not resume, for an entity without a key.
    ///
    /// The next scan lists them again, as other rows.
    ///
    /// - Returns: The number of deleted rows.
    func removeAbandoned(_ scope: ScanScope, of entity: Int, as source: PageSource) throws -> Int

    /// Returns the cursor that an earlier scan left; nil if there is none.
    func cursor(of scope: ScanScope) throws -> ScanCursor?

    /// Returns the cursors of several scopes, nil where there is none, in one step.
    func cursors(of scopes: [ScanScope]) throws -> [ScanCursor?]

    /// Returns the ID of the newest edit that the remote accepted during a scan, for ``ScanTarget/acknowledged``.
    func newestAcknowledged() throws -> Int64

    /// Returns all that scans have to know before they ask the remote.
    ///
    /// A walk by parent has thousands of scans, and asks for those of many parents at a time: a store behind a network
    /// should take as many round trips for them as for one.
    ///
    /// - Parameters:
    ///   - scopes: The scopes of the scans.
    ///   - listing: The listing that they all belong to.
    /// - Returns: One start per scope, in the order of the scopes.
    func starts(of scopes: [ScanScope], _ listing: MemberListing) throws -> [ScanStart]

    /// Begins to note the rows that a scan lists, so that the missing ones are known at its end.
    ///
    /// - Parameters:
    ///   - scope: The scope of the scan.
    ///   - page: The page after which an earlier scan resumes; the rows that it listed count.
    func beginScan(_ scope: ScanScope, afterPage page: Int?) throws

    /// Returns the memory of a listing's batches, between ``beginScan(_:afterPage:)`` and the first page.
    ///
    /// - Parameters:
    ///   - scan: The scan of a listing.
    ///   - mapping: A text that changes when the same bytes would be mapped to other values.
    /// - Returns: Nil if the store remembers no batches, or not those of this listing.
    func batchMemory(of scan: ScanTarget, mapping: String) throws -> (any BatchMemory)?

    /// Ends what ``beginScan(_:afterPage:)`` began.
    func endScan(_ scope: ScanScope)

    /// Returns the members that the records of a listing have had, in this scan or an earlier one.
    func members(of listing: MemberListing) throws -> Set<ListedMember>

    /// Marks the members that no record of a complete listing had any more.
    ///
    /// - Parameters:
    ///   - listing: The listing.
    ///   - seen: The members received; the path "" stands for the records of an entity themselves.
    /// - Returns: Those seen before but not now; each is reported once for as long as it is missing.
    func noteMissing(in listing: MemberListing, seen: Set<ListedMember>) throws -> [MissingMember]

    /// Removes the quarantined records of an entity that a complete scan, begun at `instant`, did not list again.
    ///
    /// - Parameters:
    ///   - entity: The entity.
    ///   - instant: The time at which the scan began.
    ///   - isListed: Returns whether the scan covered a record that it did not list.
    func releaseQuarantine(
        of entity: String, notSeenSince instant: String,
        where isListed: (_ record: (representation: String, cutFrom: Int?)) -> Bool) throws

    /// Removes all stubs to which nothing refers, between two pages; returns their number.
    func removeAbandonedStubs() throws -> Int
}

/// The objects for which scans list children, and the deletion of children after the last of those scans.
///
/// The order: ``beginParents(of:)``; parents in portions, each from the last row of the one before; a scan per parent
/// whose ``ScanEnd/defersSweep`` is set; `PageTransaction.finishParents(of:_:)`.
///
/// ```swift
/// let end = try store.lastRow(of: country)
/// let parents = try store.parents(of: country, where: [], after: .min, limit: 100).filter { $0.row <= end }
/// ```
///
/// Calls may come from any thread; each reads one snapshot. Errors are ``StoreError``.
public protocol ParentStore: AnyObject, Sendable {
    /// Begins the scans of an entity's parents; missing rows are settled after the last of them.
    func beginParents(of entity: Int) throws

    /// Returns the greatest row number of an entity's objects; 0 without objects.
    func lastRow(of entity: Int) throws -> Int64

    /// Returns objects of an entity in the order of their row numbers.
    ///
    /// Stubs and objects that were created locally and not pushed yet are returned without values; objects marked as
    /// deleted are left out.
    ///
    /// - Parameters:
    ///   - entity: The entity's index in the model.
    ///   - conditions: Conditions on fields of the entity's layout, which must all hold.
    ///   - row: Returns only objects after this row.
    ///   - limit: The maximum number of objects.
    func parents(of entity: Int, where conditions: [LocalCondition], after row: Int64, limit: Int) throws -> [ParentRow]
}

extension ScanStore {
    /// Returns nil: the default store remembers no batches.
    public func batchMemory(of scan: ScanTarget, mapping: String) -> (any BatchMemory)? { nil }

    /// Looks the cursors up one by one; a store behind a network asks for all at once.
    public func cursors(of scopes: [ScanScope]) throws -> [ScanCursor?] { try scopes.map { try cursor(of: $0) } }
}
