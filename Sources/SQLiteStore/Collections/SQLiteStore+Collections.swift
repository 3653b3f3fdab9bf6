internal import GRDB
internal import Mapping
public import StoreContract

extension SQLiteStore {
    /// Returns the pages of a collection by number; none if it is not kept.
    ///
    /// - Throws: `StoreError`.
    public func pages(of collection: CollectionName) throws -> [CollectionPage] {
        guard let index = model.index(of: collection.entity) else { return [] }
        return try read("reading a collection of \(collection.entity)") { db in
            guard try CollectionTable.exists(in: db) else { return [] }
            return try Row.fetchAll(
                db, sql: "SELECT * FROM bmo_collections WHERE entity = ? AND name = ? ORDER BY page",
                arguments: [collection.entity, collection.name]
            ).map { CollectionTable.page($0, of: model.entities[index]) }
        }
    }

    /// Removes the pages with these numbers, and adds others.
    ///
    /// - Throws: `StoreError`.
    public func replacePages(
        _ numbers: ClosedRange<Int>, of collection: CollectionName, with pages: [CollectionPage]
    ) throws {
        try SQLiteStore.translating("keeping a collection of \(collection.entity)") {
            try writer.writeWithoutTransaction { db in
                try db.inSavepoint {
                    try db.execute(sql: CollectionTable.creation)
                    try db.execute(
                        sql: "DELETE FROM bmo_collections WHERE entity = ? AND name = ? AND page BETWEEN ? AND ?",
                        arguments: [collection.entity, collection.name, numbers.lowerBound, numbers.upperBound])
                    for page in pages { try CollectionTable.insert(page, of: collection, in: db) }
                    return .commit
                }
                // A page that is open notifies at its end.
                guard !db.isInsideTransaction, let index = model.index(of: collection.entity) else { return }
                watcherInUse?.committed([index], at: totalChanges(db))
            }
        }
    }

    /// Returns the kept collections, by entity and name.
    ///
    /// - Throws: `StoreError`.
    public func collections() throws -> [KeptCollection] {
        try read("reading the collections") { db in
            guard try CollectionTable.exists(in: db) else { return [] }
            return try Row.fetchAll(
                db,
                sql: """
                    SELECT entity, name, count(*) AS pages, max(saved) AS saved FROM bmo_collections
                    GROUP BY entity, name ORDER BY entity, name
                    """
            ).map {
                KeptCollection(
                    collection: CollectionName(entity: $0["entity"], name: $0["name"]), pages: $0["pages"],
                    saved: $0["saved"])
            }
        }
    }
}
