package import StoreContract

/// The order of remote lists.
extension TableStore {
    /// Returns the pages of a collection by number.
    package func pages(of collection: CollectionName) throws -> [CollectionPage] {
        try read { try $0.pages(of: collection) }
    }

    /// Removes the pages with these numbers, and adds others.
    package func replacePages(
        _ numbers: ClosedRange<Int>, of collection: CollectionName, with pages: [CollectionPage]
    ) throws {
        try keepBooks { try $0.replacePages(numbers, of: collection, with: pages) }
    }

    /// Returns the kept collections, by entity and name.
    package func collections() throws -> [KeptCollection] { try read { try $0.collections() } }
}
