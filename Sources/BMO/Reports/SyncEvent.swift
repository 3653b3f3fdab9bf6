public import Importer

/// A progress event of a sync.
public enum SyncEvent: Sendable {
    /// The scan of an entity begins, possibly after the pages of an interrupted one.
    case began(entity: String, bridge: String, resumedAfterPage: Int?)
    /// A page was imported.
    case page(PageEvent)
    /// The bridge reported a warning.
    case warning(entity: String, message: String)
    /// The bridge's finding, such as the style of paging; once per entity.
    case note(entity: String, message: String)
    /// What a verbose log shows of a scan besides.
    case detail(entity: String, message: String)
    /// The scan of an entity ended.
    case ended(SyncReport.Entity)

    /// The progress of a scan.
    public struct PageEvent: Sendable {
        /// The entity.
        public var entity: String
        /// The page's number, from 1.
        public var page: Int
        /// The number of records received in this scan.
        public var records: Int
        /// The remote's total number of records.
        public var total: Int64?
        /// The scan's changes to the entity's objects.
        public var counts: ImportCounts.Entity
        /// The time since the scan began.
        public var elapsed: Duration
    }
}
