package import StoreContract

/// The tables of a database that implements all of ``StoreTables``: what a transaction writes, and what reports read.
///
/// A transaction for reading uses the same type as one for writing. One thread uses it at a time. Errors are `StoreError`.
package protocol DatabaseTables:
    StoreTables, RunTables, EditListTables, BookTables, CollectionTables, StatusTables, QueryTables, PrefetchingTables
{
    /// Returns the saved positions of scans without what they have listed, nil where there is none.
    ///
    /// The scopes differ in the parent only.
    func savedProgress(of scopes: [ScanScope]) throws -> [SavedProgress?]
}

extension DatabaseTables {
    /// Returns the saved position of a scan without what it has listed; nil if there is none.
    package func savedProgress(of scope: ScanScope) throws -> SavedProgress? {
        try savedProgress(of: [scope]).first ?? nil
    }
}

/// The position of an interrupted scan.
package struct SavedProgress: Sendable {
    package let progress: ScanProgress
    /// When it was saved, as ISO 8601.
    package let saved: String

    package init(progress: ScanProgress, saved: String) {
        self.progress = progress
        self.saved = saved
    }

    /// The position, unless it has expired.
    package var current: ScanProgress? { saved > ScanProgress.expiry ? progress : nil }
}
