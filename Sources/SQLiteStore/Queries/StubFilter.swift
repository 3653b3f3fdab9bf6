internal import GRDB
internal import StoreContract
internal import Mapping

/// A filter that finds the stubs among the rows of a query.
struct StubFilter {
    private let name: String
    private let select: RawStatement

    /// Returns nil if the table has no stubs.
    init?(_ root: EntityLayout, in db: Database) throws {
        let hasAny = try Bool.fetchOne(
            db, sql: "SELECT EXISTS (SELECT 1 FROM bmo_stubs WHERE entity = ?)", arguments: [root.name])
        guard hasAny == true else { return nil }
        name = root.name
        select = RawStatement(
            "SELECT 1 FROM bmo_stubs WHERE entity = ? AND key = ?", on: db.sqliteConnection)
    }

    /// Returns whether a key is that of a stub.
    func holds(_ key: [StoredValue]) throws -> Bool {
        select.bind(name, at: 1)
        select.bind(utf8: JSONText.key(key).bytes, at: 2)
        defer { select.reset() }
        return try select.step()
    }
}
