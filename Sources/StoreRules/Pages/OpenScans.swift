package import StoreContract

/// The scans that a store has begun, with what their committed pages have listed.
///
/// A value: a page works on a copy, which takes the original's place with the commit.
package struct OpenScans: Sendable {
    /// What each scan has listed.
    package var logs: [ScanScope: ScanLog] = [:]
    /// The rows missing so far from the scans of parents, by the entity that is scanned.
    package var parents: [Int: ParentSweep<Int64>] = [:]
    /// The rows missing from the first of two listings of a scope.
    package var unconfirmed: [ScanScope: Set<Int64>] = [:]

    package init() {}
}
