/// The order of remote lists, page by page, so that it outlives the process.
///
/// ```swift
/// let feed = CollectionName(entity: "Message", name: "feed")
/// try store.replacePages(1...Int.max, of: feed, with: [first])
/// for page in try store.pages(of: feed) { print(page.number, page.keys) }
/// ```
///
/// Calls may come from any thread, in any order. ``replacePages(_:of:with:)`` needs the database's lock, and takes part
/// in the open page if there is one, outside of its ``PageTransaction/access(_:)``; else it is a transaction. Errors are ``StoreError``.
public protocol CollectionStore: AnyObject, Sendable {
    /// Returns the pages of a collection by number; none if it is not kept.
    func pages(of collection: CollectionName) throws -> [CollectionPage]

    /// Removes the pages with these numbers, and adds others.
    ///
    /// - Parameters:
    ///   - numbers: The numbers of the pages to remove.
    ///   - collection: The collection; without any page it is not kept.
    ///   - pages: The pages to add, with numbers among `numbers`.
    func replacePages(
        _ numbers: ClosedRange<Int>, of collection: CollectionName, with pages: [CollectionPage]) throws

    /// Returns the kept collections, by entity and name.
    func collections() throws -> [KeptCollection]
}
