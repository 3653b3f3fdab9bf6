internal import GRDB
internal import Importer
package import Mapping

extension SQLiteStore {
    /// Whether the database had a row of a key at an instant (ISO 8601), as far as its history tells.
    ///
    /// - Parameter root: The entity in whose table the row lies.
    /// - Throws: ``StoreError``.
    package func hasObject(_ root: EntityLayout, key: [StoredValue], before instant: String) throws -> Bool {
        guard try !rows(of: root.index, keys: [key]).isEmpty else { return false }
        return try read("looking whether an object was there before") { db in
            // A row that a later run brought may be the one that was created.
            let isNewer = try Bool.fetchOne(
                db,
                sql: """
                    SELECT EXISTS (SELECT 1 FROM bmo_changes AS c JOIN bmo_runs AS r ON r.id = c.run
                    WHERE c.entity = ? AND c.key = ? AND c.change = 'inserted' AND r.started >= ?)
                    """, arguments: [root.name, JSONText.key(key).string, instant])
            return isNewer != true
        }
    }
}
