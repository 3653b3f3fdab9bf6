internal import GRDB
internal import StoreContract
public import Mapping

extension SQLiteStore {
    /// Returns whether the database had a row with a key at a time (ISO 8601), as far as the history shows.
    ///
    /// - Parameters:
    ///   - root: The entity that has the table.
    ///   - key: The row's key.
    ///   - instant: The time.
    /// - Throws: `StoreError`.
    public func hasObject(_ root: EntityLayout, key: [StoredValue], before instant: String) throws -> Bool {
        guard try !rows(of: root.index, keys: [key]).isEmpty else { return false }
        return try read("looking whether an object was there before") { db in
            // A row inserted by a later run may be the one that was created.
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
