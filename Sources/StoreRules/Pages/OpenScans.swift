package import StoreContract

/// The scans that a store has begun, with what their committed pages have listed.
///
/// A page works on a copy. Its commit keeps what the page changed of the scans that it followed, because other scans may
/// have begun or ended meanwhile.
package struct OpenScans: Sendable {
    /// What each scan has listed.
    package var logs: [ScanScope: ScanLog] = [:]
    /// The rows missing so far from the scans of parents, by the entity that is scanned.
    package var parents: [Int: ParentSweep<Int64>] = [:]
    /// The rows missing from the first of two listings of a scope.
    package var unconfirmed: [ScanScope: Set<Int64>] = [:]

    package init() {}

    /// Takes the state of some scans from a page's copy; a scan that has ended meanwhile stays ended.
    package mutating func take(_ followed: FollowedScans, from page: OpenScans) {
        for scope in followed.scopes {
            if logs[scope] != nil { logs[scope] = page.logs[scope] }
            unconfirmed[scope] = page.unconfirmed[scope]
        }
        for entity in followed.entities { parents[entity] = page.parents[entity] }
    }
}

/// The scans whose state a page may have changed.
package struct FollowedScans: Sendable {
    package var scopes: Set<ScanScope> = []
    /// The entities whose scans by parents the page continues or ends.
    package var entities: Set<Int> = []
}
