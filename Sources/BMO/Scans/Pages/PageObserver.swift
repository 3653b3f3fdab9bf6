internal import BridgeHost
internal import Importer

/// Follows the pages that a scan imports, on behalf of a request.
///
/// It is called on the import thread, while its page has exclusive use of the store.
protocol PageObserver: Sendable {
    /// How many new objects of the next page to list individually.
    var roomForInsertions: Int { get }

    /// How much of what the records of the next page say about their lists is kept.
    var roomForMetadata: NestedMetadata.Room { get }

    /// Called before the first record of a page is merged.
    func pageBegins()

    /// Called when a batch of records was received, before they are imported.
    ///
    /// - Parameter page: The page's number, from 1.
    func received(page: Int, records: Int)

    /// Called after a page was committed.
    func committed(_ page: PageImport, number: Int, _ info: PageInfo)
}
