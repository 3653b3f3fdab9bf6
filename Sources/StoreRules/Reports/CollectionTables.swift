package import Mapping
internal import RecordBatch
package import StoreContract

/// The pages of collections in a database; see ``DatabaseTables``.
package protocol CollectionTables: AnyObject {
    /// Returns the pages of a collection by number.
    func pages(of collection: CollectionName) throws -> [CollectionPage]

    /// Removes the pages with these numbers, and adds others.
    func replacePages(
        _ numbers: ClosedRange<Int>, of collection: CollectionName, with pages: [CollectionPage]) throws

    /// Returns the kept collections, by entity and name.
    func collections() throws -> [KeptCollection]
}

extension CollectionPage {
    /// The keys as stored: an array of arrays.
    package var keysJSON: String { JSONText.keys(keys).string }

    /// Returns keys that ``keysJSON`` wrote, without those that do not fit the entity any more.
    package static func keys(from json: String, of layout: EntityLayout) -> [[StoredValue]] {
        guard let batch = try? JSONParser.batch(json) else { return [] }
        return withExtendedLifetime(batch) {
            batch[0].elements.compactMap { key in
                let parts = key.elements.map(StoredValue.init(stored:))
                guard parts.count == max(1, layout.key.count) else { return nil }
                return layout.key.isEmpty ? parts : layout.key(parts)
            }
        }
    }
}
