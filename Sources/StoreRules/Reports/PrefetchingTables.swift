package import StoreContract

/// The announcement of what the next calls will read; see ``DatabaseTables``.
///
/// Tables behind a network read it in one round trip; the others do nothing.
package protocol PrefetchingTables: AnyObject {
    /// Announces rows.
    func prefetch(_ root: Int, _ keys: [RowKey]) throws

    /// Announces the stored rows, stubs and sources that a batch is merged into.
    ///
    /// - Parameter root: The entity that has the table of all these rows; it has a key.
    func prefetch(_ root: Int, mergedWith rows: [PageRow]) throws

    /// Announces the stubs and sources of rows.
    func prefetchState(_ root: Int, _ keys: [RowKey]) throws

    /// Announces the rows that refer to keys.
    func prefetchReferrers(_ root: Int, _ toOne: Int, to keys: [RowKey]) throws

    /// Announces the cursors of scopes.
    func prefetchCursors(of scopes: [ScanScope]) throws

    /// Announces the rows in the scopes of one scan, which have a parent each; see `unlistedRows`.
    func prefetchRows(of root: Int, in scopes: [SweepScope]) throws

    /// Announces the links of sources.
    func prefetchLinks(_ table: String, of sources: [RowKey]) throws

    /// Announces the links to targets.
    func prefetchReversedLinks(_ table: String, to targets: [RowKey]) throws
}
