internal import GRDB
internal import StoreContract
internal import Mapping

/// A filter that finds the stubs among the rows of a query.
struct StubFilter {
    private let root: EntityLayout
    /// The positions of the key's columns among the entity's columns.
    private let places: [Int]
    private let select: RawStatement

    /// Returns nil if the entity has no stubs.
    init?(_ layout: EntityLayout, _ root: EntityLayout, in db: Database) throws {
        let hasAny = try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM bmo_stubs WHERE entity = ?)", arguments: [root.name])
        guard hasAny == true else { return nil }
        self.root = root
        places = root.key.compactMap { field in
            layout.columns.firstIndex { $0.name == root.fields[field].name }
        }
        select = try RawStatement(
            "SELECT 1 FROM bmo_stubs WHERE entity = ? AND key = ?", on: db.sqliteConnection)
    }

    /// Returns whether a row, with one value per column of the entity, is a stub.
    func holds(_ row: [StoredValue]) throws -> Bool {
        select.bind(root.name, at: 1)
        select.bind(utf8: JSONText.key(places.map { row[$0] }).bytes, at: 2)
        defer { select.reset() }
        return try select.step()
    }
}
