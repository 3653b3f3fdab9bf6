internal import Mapping
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

    /// Returns when the positions of entities' own scans were saved, as ISO 8601.
    func savedTimes(ofScansOf entities: [String]) throws -> [String]
}

extension DatabaseTables {
    /// Returns the saved position of a scan without what it has listed; nil if there is none.
    package func savedProgress(of scope: ScanScope) throws -> SavedProgress? {
        try savedProgress(of: [scope]).first ?? nil
    }

    /// Forgets the edits that the remote accepted during earlier scans, because none of these is in progress.
    package func forgetAcknowledged() throws {
        try forgetAcknowledged { root in
            try savedTimes(ofScansOf: model.entities[root].kinds).contains { ScanProgress.isCurrent(saved: $0) }
        } noteListed: { root, keys in
            try prefetchState(root, keys)
            for key in keys {
                var records = try provenance(root, key)
                for index in records.indices { records[index].isListed = true }
                try setProvenance(root, key, records)
            }
        }
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
    package var current: ScanProgress? { ScanProgress.isCurrent(saved: saved) ? progress : nil }
}
