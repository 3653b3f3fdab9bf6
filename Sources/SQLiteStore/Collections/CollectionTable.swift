internal import GRDB
internal import Mapping
internal import StoreContract
internal import StoreRules

/// The pages of remote lists whose order is kept: table `bmo_collections`, created with the first one.
enum CollectionTable {
    /// The statement that creates the table.
    static let creation = """
        CREATE TABLE IF NOT EXISTS bmo_collections (
            entity TEXT NOT NULL, name TEXT NOT NULL, page INTEGER NOT NULL, request TEXT NOT NULL, cursor TEXT,
            next TEXT, is_last INTEGER NOT NULL, keys TEXT NOT NULL, saved TEXT NOT NULL,
            PRIMARY KEY (entity, name, page)
        ) STRICT, WITHOUT ROWID
        """

    static func exists(in db: Database) throws -> Bool {
        // Not `tableExists`, which would cache that the table does not exist.
        try Int.fetchOne(db, sql: "SELECT 1 FROM sqlite_schema WHERE name = 'bmo_collections'") != nil
    }

    static func insert(_ page: CollectionPage, of collection: CollectionName, in db: Database) throws {
        try db.execute(
            sql: """
                INSERT INTO bmo_collections (entity, name, page, request, cursor, next, is_last, keys, saved)
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """,
            arguments: [
                collection.entity, collection.name, page.number, page.request, page.cursor, page.next, page.isLast,
                page.keysJSON, Clock.now(),
            ])
    }

    static func page(_ row: Row, of layout: EntityLayout) -> CollectionPage {
        CollectionPage(
            number: row["page"], cursor: row["cursor"], next: row["next"], isLast: row["is_last"],
            request: row["request"], keys: CollectionPage.keys(from: row["keys"], of: layout))
    }
}
