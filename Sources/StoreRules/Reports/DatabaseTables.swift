package import StoreContract

/// The tables of a database that implements all of ``StoreTables``: what a transaction writes, and what reports read.
///
/// A transaction for reading uses the same type as one for writing. One thread uses it at a time. Errors are `StoreError`.
package protocol DatabaseTables:
    StoreTables, RunTables, EditListTables, BookTables, CollectionTables, StatusTables, QueryTables, PrefetchingTables
{
    /// Returns the saved position of a scan without what it has listed, and when it was saved; nil if there is none.
    func savedProgress(of scope: ScanScope) throws -> (progress: ScanProgress, saved: String)?
}
