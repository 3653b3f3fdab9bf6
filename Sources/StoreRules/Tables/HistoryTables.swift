/// The runs, the recorded changes, and the sources of the rows, in an open transaction.
package protocol HistoryTables: AnyObject {
    /// Adds a run that is under way; returns its ID.
    func addRun(_ run: RunDescription) throws -> Int64

    /// Sets the end, the outcome and the summary of a run.
    func finishRun(_ id: Int64, outcome: String, summary: String?) throws

    /// Sets the summary so far of a run that continues.
    func setSummary(_ id: Int64, _ summary: String?) throws

    /// Appends a change; the store gives it the next ID.
    func append(_ change: ChangeRecord) throws

    /// Moves the history of a row to another key.
    func renameHistory(of entity: String, from old: String, to new: String) throws

    /// Returns which sources wrote a row's columns; empty if all of it came from its entity's own listing.
    func provenance(_ root: Int, _ key: RowKey) throws -> [ProvenanceRecord]

    /// Replaces what is known about the sources of a row.
    func setProvenance(_ root: Int, _ key: RowKey, _ records: [ProvenanceRecord]) throws

    /// Forgets the sources of all rows of a table.
    func forgetProvenance(of root: Int) throws
}
