package import Mapping
package import StoreContract

/// The rows of a table in an open transaction, one after the other.
package protocol RowIteration: AnyObject {
    /// Calls `body` with each row, in the order of the numbers; `body` may write.
    func forEachRow(of root: Int, _ body: (_ number: Int64, _ key: RowKey, _ values: [StoredValue]) throws -> Void)
        throws
}

/// The recorded changes of an open transaction, as the undo of a run reads them.
package protocol UndoTables: RowIteration {
    /// Returns the runs after a run.
    func laterRuns(than run: Int64) throws -> LaterRuns

    /// Calls `body` with each of a run's changes; `body` may write.
    ///
    /// - Parameter newestFirst: Whether to begin with the newest; otherwise the changes that `body` appends follow.
    func forEachChange(ofRun run: Int64, newestFirst: Bool, _ body: (ChangeRecord) throws -> Void) throws

    /// Calls `body` for each row that a run changed and a later run changed again, by entity and key, with the first
    /// such change.
    ///
    /// - Parameter later: The runs after the run; those without effect are left out.
    func forEachLaterChange(
        than run: Int64, _ later: LaterRuns,
        _ body: (_ entity: String, _ key: String, _ run: Int64, _ change: RowChange.Kind) throws -> Void) throws

    /// Returns the first change of a row by a run after a run; nil if there is none with effect.
    func laterChange(of entity: String, key: String, than run: Int64, _ later: LaterRuns) throws -> LaterChange?

    /// Returns the keys to which a table's to-one relationship refers and which no row has.
    func missingTargets(of root: Int, _ toOne: Int) throws -> [RowKey]

    /// Returns the entities whose scans have ever brought columns of an entity's rows.
    func sourceScans(of entity: String) throws -> Set<String>

    /// Forgets the positions and cursors of all scans of entities.
    func forgetScans(ofEntities entities: [String]) throws
}

/// A change by a later run.
package struct LaterChange: Sendable {
    package var run: Int64
    package var change: RowChange.Kind
    /// Whether the row did not exist before the change.
    package var isNew: Bool

    package init(run: Int64, change: RowChange.Kind, isNew: Bool) {
        self.run = run
        self.change = change
        self.isNew = isNew
    }
}
