package import StoreContract

/// The bookkeeping of scans in an open transaction.
package protocol ScanTables: AnyObject {
    /// Returns the cursor of a scope; nil if there is none.
    func cursor(of scope: ScanScope) throws -> ScanCursor?

    /// Returns the cursors of several scopes, nil where there is none.
    func cursors(of scopes: [ScanScope]) throws -> [ScanCursor?]

    /// Removes the states of parents from the cursors of a scan, so that these parents are due.
    ///
    /// - Parameters:
    ///   - parents: The parents' keys as texts.
    ///   - scan: The scan of their children; its own parent does not count.
    func forgetStates(ofParents parents: [String], in scan: ScanScope) throws

    /// Saves the cursor of a scope.
    func setCursor(_ cursor: ScanCursor, of scope: ScanScope) throws

    /// Returns the saved position of a scan, with what it has listed; nil if there is none.
    func savedScan(of scope: ScanScope) throws -> SavedScan?

    /// Saves the position of a scan, or forgets it if nil.
    func setSavedScan(_ scan: SavedScan?, of scope: ScanScope) throws

    /// Forgets the positions and cursors of an entity's scans.
    ///
    /// - Parameter parent: The parent's key as text; nil for all of the entity's scans.
    func forgetScans(of entity: String, parent: String?) throws

    /// Forgets the cursors of an entity's scans, which then list again what they had brought for an object that returns.
    ///
    /// If the scan that brings the object back is one of the same entity, only the cursors of its further sources are
    /// forgotten, and of these not the scans by parent, which forget theirs when the parent is deleted.
    ///
    /// - Parameters:
    ///   - entity: The entity that is scanned.
    ///   - returning: The entity whose scan brings the object back; nil outside a scan.
    func forgetCursors(of entity: String, returning: String?) throws

    /// Returns the origins of an entity's rows; nil if they are unknown.
    func origin(of entity: String) throws -> String?

    /// Saves the origins of an entity's rows.
    func setOrigin(_ origin: String, of entity: String) throws

    /// Stores the members of a listing's records.
    func noteMembers(_ members: [(entity: String, path: String)], in listing: MemberListing) throws

    /// Returns the members of a listing, whichever request returned them, in no particular order.
    func members(of listing: MemberListing) throws -> [NotedMember]

    /// Marks members as missing.
    func markGone(_ members: [NotedMember], in listing: MemberListing) throws

    /// Notes an object that an entity's scan removed from a relationship with `orphans: delete`.
    func addOrphan(_ orphan: RowReference, scan: String) throws

    /// Returns and forgets the objects that an entity's scan removed.
    func takeOrphans(scan: String) throws -> [RowReference]

    /// Replaces the key of noted orphans.
    func renameOrphans(_ root: Int, from old: RowKey, to new: RowKey) throws
}

extension ScanTables {
    /// Looks the cursors up one by one.
    package func cursors(of scopes: [ScanScope]) throws -> [ScanCursor?] { try scopes.map { try cursor(of: $0) } }
}

/// The position of an interrupted scan, with what its pages have listed.
package struct SavedScan: Sendable {
    package var progress: ScanProgress
    /// When it was saved, as ISO 8601.
    package var saved: String
    package var log: ScanLog

    package init(progress: ScanProgress, saved: String, log: ScanLog) {
        self.progress = progress
        self.saved = saved
        self.log = log
    }
}

/// A member of a listing's records, as it is stored.
package struct NotedMember: Sendable {
    package var entity: String
    package var path: String
    /// The request that returned it.
    package var request: String
    /// Whether a complete listing had it no more.
    package var isGone: Bool

    package init(entity: String, path: String, request: String, isGone: Bool) {
        self.entity = entity
        self.path = path
        self.request = request
        self.isGone = isGone
    }
}
